"""What a project asks of its snaps: the model of ``compression-advisor.yaml``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import pydantic

from ..advice.evidence import Policy
from ..codecs import CompressorName  # pydantic reads it at run time
from ..core.units import KIB
from ..devices.builtin_kernels import is_variant
from ..squashfs.mksquashfs import MINIMUM_IMAGE_BYTES
from .quantities import (
    SECONDS,
    Bytes,
    BytesOrShare,
    Count,
    Devices,
    Event,
    MbitPerS,
    PolicyModel,
    Seconds,
    SecondsOrShare,
    Share,
    Text,
)
from .refreshes import RefreshSettings

SCHEMA = 1
ALL_RULES_PREFIX = "SCA"
LEAST_GROWTH_S = 0.1
"""Up to this, people take a response for immediate (R. B. Miller, Response time in
man-computer conversational transactions, AFIPS 1968)."""

_DEFAULTS = Policy()
_SELECTOR = re.compile(r"SCA(?:[0-9](?:[0-9]{2})?)?(?::.+)?", re.DOTALL)
_KERNEL = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}(?:\.[0-9]{1,5})?")


def _selector(text: str) -> str:
    if not _SELECTOR.fullmatch(text):
        message = (
            f"{text!r} is neither a rule (SCA101) nor a family (SCA1, SCA for all), "
            "alone or with a path pattern (SCA303:usr/lib/*)"
        )
        raise ValueError(message)
    return text


def _rules_only(text: str) -> str:
    if ":" in text:
        message = f"{text!r} has a path pattern; severities apply to whole rules"
        raise ValueError(message)
    return _selector(text)


def _kernel(text: str) -> str:
    if not _KERNEL.fullmatch(text):
        message = f"{text!r} isn't a kernel version such as '4.4'"
        raise ValueError(message)
    return text


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str | dict) else value


def _as_recordings(value: object) -> object:
    """Take ``true`` for a recording of the usual app, ``false`` for none."""
    return [{}] * value if isinstance(value, bool) else _as_list(value)


Selector = Annotated[Text, pydantic.AfterValidator(_selector)]
RulePrefix = Annotated[Text, pydantic.AfterValidator(_rules_only)]
Texts = Annotated[
    tuple[Text, ...],
    pydantic.BeforeValidator(_as_list, json_schema_input_type=Text | tuple[Text, ...]),
]
Selectors = Annotated[
    tuple[Selector, ...],
    pydantic.BeforeValidator(
        _as_list, json_schema_input_type=Selector | tuple[Selector, ...]
    ),
]
SeverityName = Literal["error", "warning", "info"]
PackMode = Literal["advise", "apply", "write", "enforce"]


class ComponentSettings(PolicyModel):
    """What is known of one of the snap's components."""

    read: Literal["all", "none"] | None = pydantic.Field(
        default=None,
        description="whether a start waits until all of its files are read, such as "
        "a server's for a model's weights, or for none of them",
    )


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


class Target(PolicyModel):
    """A kind of system that the snap has to run on."""

    name: Text | None = pydantic.Field(default=None, description="for messages")
    kernel: Annotated[str, pydantic.AfterValidator(_kernel)] | None = pydantic.Field(
        default=None, description="the target's oldest kernel, in quotes: '4.4'"
    )
    codecs: tuple[CompressorName, ...] | None = pydantic.Field(
        default=None,
        description="squashfs decompressors of the target's kernel, if it has fewer "
        "than its version suggests",
    )

    @pydantic.model_validator(mode="after")
    def _says_something(self) -> Target:
        if self.kernel is None and self.codecs is None:
            message = "a target needs 'kernel' or 'codecs'"
            raise ValueError(message)
        return self

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.name or (f"kernel {self.kernel}" if self.kernel else "the target")


LAUNCH_TIMEOUT_S = 60.0
"""Several times what a browser needs from an image packed with xz."""


class Recording(PolicyModel):
    """A launch to record instead of guessing it, which runs the payload's program."""

    app: Text | None = pydantic.Field(
        default=None,
        description="the app to start (default: the first target app)",
    )
    until: Event | None = pydantic.Field(
        default=None,
        description="the event that ends the launch: `window`, `exit`, `output:TEXT` "
        "or `seconds:TIME` (default: window for an app with a desktop file, else "
        "window or exit)",
    )
    timeout: Seconds = pydantic.Field(
        default=LAUNCH_TIMEOUT_S, description="after which the launch has failed"
    )
    required: bool = pydantic.Field(
        default=False,
        strict=True,
        description="whether it is an error if the launch can't be recorded; else a "
        "warning says so, and the launch is guessed",
    )


class LintPolicy(PolicyModel):
    """The settings of a project, version 1.

    Each has one name: that of the key in ``compression-advisor.yaml``, of the part's
    property behind ``compression-advisor-`` and, in capitals, of the variable behind
    ``SNAPCRAFT_COMPRESSION_ADVISOR_``. All of these are made from this list.
    """

    model_config = pydantic.ConfigDict(title="compression-advisor policy")

    schema_version: Literal[1] = pydantic.Field(
        alias="schema", default=1, description="version of this format"
    )
    mode: PackMode = pydantic.Field(
        default="advise",
        description="what happens while snapcraft packs: 'advise' prints the advice; "
        "'apply' packs with the recommended compression; 'write' also sets the key in "
        "snapcraft.yaml; 'enforce' stops the pack if the declared compression violates "
        "the policy",
    )
    override_declared: bool = pydantic.Field(
        default=False,
        strict=True,
        description="whether 'apply' and 'write' may override a compression that "
        "snapcraft.yaml declares",
    )
    report: Text | None = pydantic.Field(
        default=None,
        description="path of a report to write while packing, relative to this file: "
        "JSON if the name ends in .json, else text; for a component, its name is added "
        "before the suffix",
    )
    apps: Texts = pydantic.Field(
        default=(), description="target apps, the deciding one first"
    )
    devices: Devices = pydantic.Field(
        default=(),
        description="device profiles to estimate for: names or files, which are "
        "relative to this file; by name, the share of the users who have it: then lzo "
        "must be worth its size on average, not on each",
    )
    kernels: Texts = pydantic.Field(
        default=(),
        description="systems whose kernels the devices may have, such as ubuntu-22.04: "
        "estimates and verdicts for each kernel that costs differ with",
    )
    launch_profile: Texts = pydantic.Field(
        default=(), description="recorded launches: files, relative to this one"
    )
    record: Annotated[
        tuple[Recording, ...],
        pydantic.BeforeValidator(
            _as_recordings,
            json_schema_input_type=bool | Recording | tuple[Recording, ...],
        ),
    ] = pydantic.Field(
        default=(),
        description="launches to record while advising, isolated; this runs the "
        "payload's programs; --no-record prevents it",
    )
    bases: Texts = pydantic.Field(
        default=(),
        description="base snaps or their directories, relative to this file: the "
        "guess of a launch is followed into the snap's own one",
    )
    contents: Texts = pydantic.Field(
        default=(),
        description="content snaps or their directories, relative to this file, that "
        "the snap's plugs ask for",
    )
    min_saving: SecondsOrShare = pydantic.Field(
        default=_DEFAULTS.min_saving_s,
        description="time that lzo must save per cold launch, about what people "
        "notice: seconds, or percent of the time that reading and decompressing add "
        "with xz",
    )
    max_launches: Count = pydantic.Field(
        default=_DEFAULTS.max_launches,
        description="number of cold launches within which the larger download must "
        "pay for itself; about as many as between two refreshes",
    )
    link: MbitPerS = pydantic.Field(
        default=_DEFAULTS.link_mbit_per_s, description="speed of that download"
    )
    deciding_apps: Literal["first", "every"] = pydantic.Field(
        default=_DEFAULTS.deciding_apps,
        description="whether the first target app decides or every one must gain",
    )
    refresh: RefreshSettings | None = pydantic.Field(
        default=None,
        description="what users' refreshes are like: then a month of launches and "
        "downloads decides, in place of 'max-launches'",
    )
    components: dict[Text, ComponentSettings] = pydantic.Field(
        default={},
        description="by component, what reads it: files don't show that, so without "
        "it the advice on a component's compression is mostly undecided",
    )
    max_size_growth: BytesOrShare | None = pydantic.Field(
        default=None,
        description="how much lzo may add to the image: bytes, or percent of its size "
        "with xz",
    )
    max_cold_start: ColdStarts = pydantic.Field(
        default={},
        description="by device profile: how long a cold start may take, for every "
        "target app or by app",
    )
    max_image_size: Bytes | None = pydantic.Field(
        default=None, description="size of the .snap file"
    )
    max_launch_growth: Seconds = pydantic.Field(
        default=LEAST_GROWTH_S,
        description="how much longer a cold launch may take than in the baseline",
    )
    max_image_growth: BytesOrShare | None = pydantic.Field(
        default=None,
        description="how much larger the .snap file may be than in the baseline: "
        "bytes, or percent",
    )
    max_refresh_size: BytesOrShare | None = pydantic.Field(
        default=None,
        description="how much a refresh from the baseline may download: bytes, or "
        "percent of the image",
    )
    compression: Literal["xz", "lzo"] | None = pydantic.Field(
        default=None,
        description="the compression to pack the snap with; SCA106 checks it",
    )
    targets: tuple[Target, ...] = pydantic.Field(
        default=(), description="systems that the snap must run on"
    )
    select: Selectors = pydantic.Field(
        default=(),
        description="rules to check, none for all: an id (SCA101), a family (SCA1), "
        "either with a pattern of payload paths (SCA303:usr/lib/*)",
    )
    ignore: Selectors = pydantic.Field(
        default=(),
        description="rules not to check, written as for 'select'; takes "
        "precedence over it",
    )
    severity: dict[RulePrefix, SeverityName] = pydantic.Field(
        default={}, description="by rule or family; the longest match applies"
    )
    fail_on: SeverityName = pydantic.Field(
        default="error",
        description="exit status 1 for findings of at least this severity",
    )

    def read_of(self, component: str | None) -> Literal["all", "none"] | None:
        """Return what is read of a component; None if that isn't known."""
        found = self.components.get(component or "")
        return found.read if found else None

    def to_policy(self, device_names: Sequence[str] = ()) -> Policy:
        """Return the policy of the recommendation, budgets included.

        :param device_names: of the profiles that ``devices`` leads to, in its order.
        """
        return replace(
            self.to_component_policy(),
            device_shares=self._device_shares(device_names),
            cold_start_limits_s=self.max_cold_start,
            habits=self.refresh.to_habits() if self.refresh else None,
        )

    def to_component_policy(self) -> Policy:
        """Return the policy of what no launch is known to read."""
        saving, growth = self.min_saving, self.max_size_growth
        return Policy(
            min_saving_s=_DEFAULTS.min_saving_s
            if isinstance(saving, Share)
            else saving,
            min_saving_share=saving.root if isinstance(saving, Share) else None,
            max_launches=self.max_launches,
            link_mbit_per_s=self.link,
            deciding_apps=self.deciding_apps,
            max_growth_bytes=None if isinstance(growth, Share) else growth,
            max_growth_share=growth.root if isinstance(growth, Share) else None,
        )

    def _device_shares(self, device_names: Sequence[str]) -> Mapping[str, float]:
        if not isinstance(self.devices, dict) or len(self.devices) <= 1:
            return {}
        largest = max(self.devices.values())  # sums of larger shares aren't finite
        parts = [share / largest for share in self.devices.values()]
        shares = (part / sum(parts) for part in parts)
        named = (
            name
            for name in device_names
            if name in self.devices or not is_variant(name)
        )
        return dict(zip(named, shares, strict=True))

    @pydantic.model_validator(mode="after")
    def _no_contradictions(self) -> LintPolicy:
        for problem in contradictions(self):
            raise ValueError(problem)
        return self


def contradictions(policy: LintPolicy) -> list[str]:
    """Return what can't hold at once, in sentences."""
    found = [
        f"{each!r} is both selected and ignored"
        for each in policy.select
        if each in policy.ignore
    ]
    for rule, budget, name in (
        ("SCA201", policy.max_cold_start, "max-cold-start"),
        ("SCA301", policy.max_image_size, "max-image-size"),
        ("SCA602", policy.max_image_growth, "max-image-growth"),
        ("SCA603", policy.max_refresh_size, "max-refresh-size"),
    ):
        ignored = [each for each in policy.ignore if rule.startswith(each)]
        if budget and ignored:
            found.append(f"{name!r} is set, but {ignored[0]!r} is ignored")
    size = policy.max_image_size
    if size is not None and size < MINIMUM_IMAGE_BYTES:
        least = f"{MINIMUM_IMAGE_BYTES // KIB} KiB"
        found.append(
            f"'max-image-size' is below the size of the smallest image ({least})"
        )
    for device, by_app in policy.max_cold_start.items():
        found += [
            f"app {app!r} has a budget on {device!r}, but isn't one of 'apps'"
            for app in (by_app if isinstance(by_app, dict) and policy.apps else ())
            if app not in policy.apps
        ]
    return found
