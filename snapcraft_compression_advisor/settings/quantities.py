"""Quantities as people write them, in a policy and as options: ``1.5s``, ``300MB``.

And the types of the policy's keys that hold them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic

from ..core.units import KIB, MIB

_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """What a number stands for.

    :param units: what each is worth.
    :param plain: the unit of a number that has none; ``None`` where it needs one.
    :param example: how people write it.
    """

    units: Mapping[str, float]
    plain: str | None
    example: str

    @property
    def pattern(self) -> str:
        """The regular expression of a text."""
        optional = "" if self.plain is None else "?"
        return rf"^{_NUMBER} ?({'|'.join(self.units)}){optional}$"

    @property
    def words(self) -> str:
        """How it may be written, for people."""
        units = ", ".join(self.units)
        if self.plain is None:
            return f"number with a unit ({units})"
        return f"number in {self.plain}, or with a unit ({units})"

    def parse(self, value: object) -> float:
        """Return a number of the unit that is worth 1.

        :raises ValueError: where it isn't one, or is zero.
        """
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._plain(value)
        # fullmatch: ``$`` would let a line's end pass.
        pattern = self.pattern.strip("^$")
        found = re.fullmatch(pattern, value) if isinstance(value, str) else None
        if found is None:
            message = f"{value!r} isn't a {self.words}, such as {self.example}"
            raise ValueError(message)
        unit = str(found[2] or self.plain)
        return _positive(value, float(found[1]) * self.units[unit])

    def _plain(self, number: float) -> float:
        if self.plain is None:
            units = ", ".join(self.units)
            message = f"{number} has no unit: write it as in {self.example} ({units})"
            raise ValueError(message)
        if not math.isfinite(number) or number < 0:
            message = f"{number} isn't a positive number"
            raise ValueError(message)
        return _positive(number, number * self.units[self.plain])


SECONDS = Quantity(units={"ms": 0.001, "s": 1, "min": 60}, plain="s", example="1.5s")
BYTES = Quantity(
    units={
        "B": 1,
        "kB": 1_000,
        "MB": 1_000_000,
        "GB": 1_000_000_000,
        "KiB": KIB,
        "MiB": MIB,
        "GiB": KIB * MIB,
    },
    plain=None,  # 300 would be anything from bytes to megabytes
    example="300MB",
)
LINK = Quantity(
    units={"kbit/s": 0.001, "Mbit/s": 1, "Gbit/s": 1_000},
    plain="Mbit/s",
    example="50Mbit/s",
)


_SHARE = rf"^{_NUMBER} ?%$"
_COUNT = f"^{_NUMBER}$"
_DEVICE_SHARE = re.compile(r"(.+)=([^=/]*)", re.DOTALL)
"""What is after the last equals sign is a share, unless it has a slash."""
_LONGEST_TEXT = 4096


def parse_event(text: str) -> tuple[str, str | float | None]:
    """Return what ends a launch, and its text or seconds.

    :param text: ``window``, ``exit``, ``output:TEXT`` or ``seconds:TIME``.
    :raises ValueError: where it is none of these.
    """
    kind, colon, value = text.partition(":")
    if text in ("window", "exit"):
        return text, None
    if kind == "output" and value:
        return kind, value
    if kind == "seconds" and colon:
        return kind, SECONDS.parse(value)
    message = f"{text!r} is not one of window, exit, output:TEXT, seconds:TIME"
    raise ValueError(message)


def event_text(value: object) -> str:
    """Return what :func:`parse_event` takes.

    :raises ValueError: where it doesn't.
    """
    parse_event(str(value))
    return str(value)


def parse_count(value: object) -> float:
    """Return a positive number without a unit.

    :raises ValueError: where it isn't one, or is zero.
    """
    number = value
    if isinstance(value, str) and re.fullmatch(_NUMBER, value):
        number = float(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        message = f"{value!r} isn't a number"
        raise ValueError(message)  # noqa: TRY004 # pydantic takes only ValueError
    if not math.isfinite(number) or number < 0:
        message = f"{value} isn't a positive number"
        raise ValueError(message)
    return _positive(value, float(number))


def parse_devices(value: object) -> tuple[str, ...] | dict[str, float]:
    """Return devices, or the share of the users that has each.

    :param value: a name or several, each may have its share after it:
        ``nvme-laptop=0.7``. Or the shares by name.
    :raises ValueError: where names aren't texts, a share isn't a positive number, is
        given twice, or some have none.
    """
    if isinstance(value, Mapping):
        names = _device_names(tuple(value))
        return {name: _share_of_users(name, value[name]) for name in names}
    names = _device_names((value,) if isinstance(value, str) else value)
    found = [each for each in map(_DEVICE_SHARE.fullmatch, names) if each]
    if not found:
        return names
    shares = {each[1]: _share_of_users(each[1], each[2]) for each in found}
    if len(shares) < len(names):
        message = "either each device has one share of the users, or none has"
        raise ValueError(message)
    return shares


def _device_names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        message = f"{value!r} isn't a list of devices, nor shares of users by device"
        raise ValueError(message)  # noqa: TRY004 # pydantic takes only ValueError
    for name in value:
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_TEXT:
            message = f"{name!r} isn't the name of a device profile or of its file"
            raise ValueError(message)
    return tuple(value)


def _share_of_users(device: str, value: object) -> float:
    """Return a share that isn't normalised."""
    try:
        return parse_count(value)
    except ValueError:
        message = (
            f"{value!r} isn't a share of the users who have {device!r}: it must be a "
            "positive number, such as 0.7"
        )
        raise ValueError(message) from None


def _positive(text: object, value: float) -> float:
    if value == 0:
        message = f"{text!r} is zero, which nothing can meet"
        raise ValueError(message)
    return value


class PolicyModel(pydantic.BaseModel):
    """A part of the policy: keys with hyphens, none unknown."""

    model_config = pydantic.ConfigDict(
        defer_build=True,  # most runs need few of them
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        validate_default=False,
    )


class Share(pydantic.RootModel[float]):
    """A share of one, written in percent."""

    model_config = pydantic.ConfigDict(frozen=True)


def seconds_or_share(value: object) -> float | Share:
    """Return a duration in seconds, or a share.

    :param value: such as ``0.5``, ``500ms``, ``20%``.
    :raises ValueError: where it is neither.
    """
    share = _share(value)
    return SECONDS.parse(value) if share is None else share


def _percent(value: object) -> float:
    """Return a share of one.

    :raises ValueError: where it isn't a percentage, or is above 100 %.
    """
    share = _share(value)
    if share is None or share.root > 1:
        message = f"{value!r} isn't a percentage up to 100%, such as 20%"
        raise ValueError(message)
    return share.root


def _bytes_or_share(value: object) -> float | Share:
    share = _share(value)
    return BYTES.parse(value) if share is None else share


def _share(value: object) -> Share | None:
    """Return a share, from a text such as ``20%``; ``None`` of another text."""
    if isinstance(value, Share):
        return value
    found = re.match(_SHARE, value) if isinstance(value, str) else None
    return None if found is None else Share(_positive(value, float(found[1])) / 100)


def _schema(*patterns: str, words: str, takes_number: bool) -> pydantic.WithJsonSchema:
    """Return the JSON Schema of what is written in one of several ways.

    :param words: what may be written, for the page on settings.
    """
    ways: list[dict[str, Any]] = [{"type": "number", "exclusiveMinimum": 0}]
    ways = ways * takes_number
    ways += [{"type": "string", "pattern": pattern} for pattern in patterns]
    return pydantic.WithJsonSchema({"anyOf": ways, "$comment": words})


def _schema_of(
    quantity: Quantity, *, or_share: bool = False
) -> pydantic.WithJsonSchema:
    return _schema(
        quantity.pattern,
        *([_SHARE] * or_share),
        words=quantity.words + ", or percent" * or_share,
        takes_number=quantity.plain is not None,
    )


Text = Annotated[
    str, pydantic.StringConstraints(min_length=1, max_length=_LONGEST_TEXT)
]
Event = Annotated[Text, pydantic.AfterValidator(event_text)]
"""What ends a launch: ``window``, ``output:ready``."""
Seconds = Annotated[float, pydantic.BeforeValidator(SECONDS.parse), _schema_of(SECONDS)]
"""A duration: ``0.5``, ``0.5s``, ``500ms``."""
Bytes = Annotated[float, pydantic.BeforeValidator(BYTES.parse), _schema_of(BYTES)]
"""A size: ``20MB``."""
MbitPerS = Annotated[float, pydantic.BeforeValidator(LINK.parse), _schema_of(LINK)]
"""A speed: ``50``, ``50Mbit/s``."""
Count = Annotated[
    float,
    pydantic.BeforeValidator(parse_count),
    _schema(_COUNT, words="number", takes_number=True),
]
Percent = Annotated[
    float,
    pydantic.PlainValidator(_percent),
    _schema(_SHARE, words="percent", takes_number=False),
]
"""A share of one, written in percent: ``20%``."""
Devices = Annotated[
    tuple[Text, ...] | dict[Text, float],
    pydantic.PlainValidator(
        parse_devices,
        json_schema_input_type=Text | tuple[Text, ...] | dict[Text, Count],
    ),
]
"""Devices, or the share of the users that has each: ``{nvme-laptop: 0.7, …}``."""
SecondsOrShare = Annotated[
    float | Share,
    pydantic.PlainValidator(seconds_or_share),
    _schema_of(SECONDS, or_share=True),
]
"""A duration, or a share in percent: ``0.5s``, ``20%``."""
BytesOrShare = Annotated[
    float | Share,
    pydantic.PlainValidator(_bytes_or_share),
    _schema_of(BYTES, or_share=True),
]
"""A size, or a share in percent: ``20MB``, ``30%``."""
