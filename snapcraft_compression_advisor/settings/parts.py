"""The parts of a project's settings: kinds of keys, and models of nested ones."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

import pydantic

from ..advice.evidence import Deltas, Habits
from ..codecs import CompressorName  # pydantic reads it at run time
from .quantities import SECONDS, Count, Event, File, Percent, Seconds, Text

LAUNCH_TIMEOUT_S = 60.0
"""Several times what a browser needs from an image packed with xz."""
DAYS = 365.25 / 12
"""Of an average month."""


def _matching(pattern: str, problem: str) -> pydantic.AfterValidator:
    """Return the check of a text, with the message on one that doesn't match."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text, re.DOTALL):
            return text
        message = f"{text!r} {problem}"
        raise ValueError(message)

    return pydantic.AfterValidator(check)


_SELECTOR = _matching(
    "SCA(?:[0-9](?:[0-9]{2})?)?(?::.+)?",
    "is neither a rule (SCA101) nor a family (SCA1, SCA for all), alone or with a path "
    "pattern (SCA303:usr/lib/*)",
)
_RULES_ONLY = _matching("[^:]*", "has a path pattern; severities apply to whole rules")
_KERNEL = _matching(
    r"[0-9]{1,3}\.[0-9]{1,3}(?:\.[0-9]{1,5})?", "isn't a kernel version such as '4.4'"
)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str | dict) else value


def _as_recordings(value: object) -> object:
    """Take ``true`` for a recording of the usual app, ``false`` for none."""
    return [{}] * value if isinstance(value, bool) else _as_list(value)


Selector = Annotated[Text, _SELECTOR]
RulePrefix = Annotated[Text, _RULES_ONLY, _SELECTOR]


def _one_or_more(kind: Any) -> pydantic.BeforeValidator:  # noqa: ANN401 # any form of type
    return pydantic.BeforeValidator(
        _as_list, json_schema_input_type=kind | tuple[kind, ...]
    )


Texts = Annotated[tuple[Text, ...], _one_or_more(Text)]
Files = Annotated[tuple[File, ...], _one_or_more(File)]
Selectors = Annotated[tuple[Selector, ...], _one_or_more(Selector)]
SeverityName = Literal["error", "warning", "info"]
PackMode = Literal["advise", "apply", "write", "enforce"]


def _plain_budgets(value: object) -> object:
    """Parse a plain budget here: a union's errors would speak of both forms."""
    for each in value.values() if isinstance(value, dict) else ():
        for budget in each.values() if isinstance(each, dict) else [each]:
            SECONDS.parse(budget)
    return value


ColdStarts = Annotated[
    dict[Text, Seconds | dict[Text, Seconds]], pydantic.BeforeValidator(_plain_budgets)
]
"""By device what a cold start may take, for all apps or by app."""


class Option(NamedTuple):
    """The option of a command line that sets a key.

    :ivar unset: value if neither it nor the key is set.
    """

    usage: str
    unset: str


def key(text: str, default: object = None, **more: Any) -> Any:  # noqa: ANN401 # as pydantic's Field
    """Return a key of the settings."""
    return pydantic.Field(default=default, description=text, **more)


class SettingsModel(pydantic.BaseModel):
    """A part of the settings: keys with hyphens, none unknown."""

    model_config = pydantic.ConfigDict(
        defer_build=True,  # most runs need few of them
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        validate_default=False,
    )


class ComponentSettings(SettingsModel):
    """What is known of one of the snap's components."""

    read: Literal["all", "none"] | None = key(
        "whether a start waits until all of its files are read, such as a server's for "
        "a model's weights, or for none of them"
    )


class Target(SettingsModel):
    """A kind of system that the snap has to run on."""

    name: Text | None = key("for messages")
    kernel: Annotated[str, _KERNEL] | None = key(
        "the target's oldest kernel, in quotes: '4.4'"
    )
    codecs: tuple[CompressorName, ...] | None = key(
        "squashfs decompressors of the target's kernel, if it has fewer than its "
        "version suggests"
    )

    @pydantic.model_validator(mode="after")
    def _says_something(self) -> Target:
        if self.kernel is None and self.codecs is None:
            message = "a target needs 'kernel' or 'codecs'"
            raise ValueError(message)
        return self

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.name or (f"kernel {self.kernel}" if self.kernel else "the target")


class Recording(SettingsModel):
    """A launch to record instead of guessing it, which runs the payload's program."""

    app: Text | None = key("the app to start (default: the first target app)")
    until: Event | None = key(
        "the event that ends the launch: `window`, `exit`, `output:TEXT` or "
        "`seconds:TIME` (default: window for an app with a desktop file, else window "
        "or exit)"
    )
    timeout: Seconds = key("after which the launch has failed", LAUNCH_TIMEOUT_S)
    required: bool = key(
        "whether it is an error if the launch can't be recorded; else a warning says "
        "so, and the launch is guessed",
        default=False,
        strict=True,
    )


Recordings = Annotated[
    tuple[Recording, ...],
    pydantic.BeforeValidator(
        _as_recordings, json_schema_input_type=bool | Recording | tuple[Recording, ...]
    ),
]


class RefreshSettings(SettingsModel):
    """What refreshes bring to a user's device."""

    per_month: Count = key("how many refreshes a user gets in a month", ...)
    cold_launches_per_day: Count = key(
        "how many cold launches a user makes in a day", ...
    )
    deltas: Deltas = key(
        "what a refresh downloads: 'none' for the whole image; 'xdelta3' for a plain "
        "delta between images; 'snap-1-1-xdelta3' for a snap-aware delta",
        "none",
    )
    delta_share: Percent | None = key(
        "size of a typical delta, in percent of the image with xz"
    )
    previous: File | None = key(
        "in place of that, the previous build, relative to this file: a .snap or a "
        "prime directory, which xdelta3 makes the delta from"
    )

    @pydantic.model_validator(mode="after")
    def _size_of_deltas_is_known(self) -> RefreshSettings:
        ways = [each for each in (self.delta_share, self.previous) if each is not None]
        if self.deltas == "none" and ways:
            message = "'delta-share' and 'previous' have no effect with 'deltas: none'"
            raise ValueError(message)
        if self.deltas != "none" and len(ways) != 1:
            message = (
                f"'deltas: {self.deltas}' needs 'delta-share', the size of a typical "
                "delta, or 'previous', but not both"
            )
            raise ValueError(message)
        return self

    def to_habits(self) -> Habits:
        """Return a user's habits in a month."""
        return Habits(
            refreshes=self.per_month,
            launches=self.cold_launches_per_day * DAYS,
            deltas=self.deltas,
            delta_share=self.delta_share,
        )
