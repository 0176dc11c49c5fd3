"""Quantities as people write them, in settings and as options: ``1.5s``, ``300MB``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import pydantic
from pydantic_core import core_schema

from ..core.units import KIB, MIB

_Value = TypeVar("_Value")

_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)"
_SHARE = rf"^{_NUMBER} ?%$"
_DEVICE_SHARE = re.compile(r"(.+)=([^=/]*)", re.DOTALL)
"""What is after the last equals sign is a share, unless it has a slash."""
_LONGEST_TEXT = 4096


@dataclass(frozen=True, slots=True)
class Written(Generic[_Value]):
    """How a value is written: its parser, and the JSON Schema of what that takes.

    :param words: what may be written, for the page on settings.
    """

    parse: Callable[[object], _Value]
    words: str
    patterns: tuple[str, ...]
    takes_number: bool = True

    def __get_pydantic_core_schema__(self, *_: object) -> core_schema.CoreSchema:
        """Have pydantic call the parser."""
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        """Return the schema by which editors check a value."""
        ways: list[dict[str, Any]] = [{"type": "number", "exclusiveMinimum": 0}]
        ways = ways * self.takes_number
        ways += [{"type": "string", "pattern": pattern} for pattern in self.patterns]
        return {"anyOf": ways, "$comment": self.words}


def _quantity(
    values: Mapping[str, float], *, plain: str | None, example: str
) -> Written[float]:
    """Return the pattern of a number with a unit.

    :param values: what each unit is worth.
    :param plain: unit of a number that has none; ``None`` if it needs one.
    """
    units, optional = ", ".join(values), "" if plain is None else "?"
    pattern = rf"{_NUMBER} ?({'|'.join(values)}){optional}"
    words = f"number with a unit ({units})"
    if plain is not None:
        words = f"number in {plain}, or with a unit ({units})"

    def parse(value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and plain is not None:
            return parse_count(value) * values[plain]
        # fullmatch: ``$`` would let a line's end pass.
        found = re.fullmatch(pattern, value) if isinstance(value, str) else None
        if found is None:
            message = f"{value!r} isn't a {words}, such as {example}"
            raise ValueError(message)
        return _positive(value, float(found[1]) * values[str(found[2] or plain)])

    return Written(parse, words, (f"^{pattern}$",), takes_number=plain is not None)


class Share(pydantic.RootModel[float]):
    """A share of one, written in percent."""

    model_config = pydantic.ConfigDict(frozen=True)


def _or_share(written: Written[float]) -> Written[float | Share]:
    """Return the pattern of that, or of a percentage."""

    def parse(value: object) -> float | Share:
        share = _share(value)
        return written.parse(value) if share is None else share

    words, patterns = f"{written.words}, or percent", (*written.patterns, _SHARE)
    return Written(parse, words, patterns, takes_number=written.takes_number)


def _share(value: object) -> Share | None:
    """Return a share, from a text such as ``20%``; ``None`` of another text."""
    if isinstance(value, Share):
        return value
    found = re.match(_SHARE, value) if isinstance(value, str) else None
    return None if found is None else Share(_positive(value, float(found[1])) / 100)


def _percent(value: object) -> float:
    share = _share(value)
    if share is None or share.root > 1:
        message = f"{value!r} isn't a percentage up to 100%, such as 20%"
        raise ValueError(message)
    return share.root


def _positive(text: object, number: float) -> float:
    if not 0 < number <= sys.float_info.max:  # an integer may have 400 digits
        message = f"{text!r} isn't a positive number"
        raise ValueError(message)
    return number


SECONDS = _quantity({"ms": 0.001, "s": 1, "min": 60}, plain="s", example="1.5s")
_DECIMAL = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_BINARY = {"KiB": KIB, "MiB": MIB, "GiB": KIB * MIB}
# No plain one: 300 would be anything from bytes to megabytes.
BYTES = _quantity({**_DECIMAL, **_BINARY}, plain=None, example="300MB")
_LINKS = {"kbit/s": 0.001, "Mbit/s": 1, "Gbit/s": 1_000}
LINK = _quantity(_LINKS, plain="Mbit/s", example="50Mbit/s")


def parse_count(value: object) -> float:
    """Return a positive number without a unit."""
    number = value
    if isinstance(value, str) and re.fullmatch(_NUMBER, value):
        number = float(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        message = f"{value!r} isn't a number"
        raise ValueError(message)  # noqa: TRY004 # pydantic takes only ValueError
    return float(_positive(value, number))


def parse_event(text: str) -> tuple[str, str | float | None]:
    """Return the kind of event that ends a launch, and its text or seconds.

    :raises ValueError: if it is none of ``window``, ``exit``, ``output:TEXT`` and
        ``seconds:TIME``.
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
    """Return the pattern of what :func:`parse_event` takes."""
    parse_event(str(value))
    return str(value)


def parse_devices(value: object) -> tuple[str, ...] | dict[str, float]:
    """Return devices, or the share of the users that has each.

    :param value: a name or several, each may have its share after it:
        ``nvme-laptop=0.7``. Or the shares by name.
    """
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple | Mapping):
        message = f"{value!r} isn't a list of devices, nor shares of users by device"
        raise ValueError(message)  # noqa: TRY004 # pydantic takes only ValueError
    for name in names:
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_TEXT:
            message = f"{name!r} isn't the name of a device profile or of its file"
            raise ValueError(message)
    if isinstance(names, Mapping):
        return {name: parse_count(share) for name, share in names.items()}
    found = [each for each in map(_DEVICE_SHARE.fullmatch, names) if each]
    if not found:
        return tuple(names)
    shares = {each[1]: parse_count(each[2]) for each in found}
    if len(shares) < len(names):
        message = "either each device has one share of the users, or none has"
        raise ValueError(message)
    return shares


def _beside(name: str, info: pydantic.ValidationInfo) -> str:
    """Return a file's path; relative to the folder that validation has as context."""
    return name if info.context is None else str(info.context / name)


def _devices_beside(
    devices: tuple[str, ...] | dict[str, float], info: pydantic.ValidationInfo
) -> tuple[str, ...] | dict[str, float]:
    def placed(name: str) -> str:
        is_file = "/" in name or name.endswith((".yaml", ".yml"))  # as for ``--device``
        return _beside(name, info) if is_file else name

    if isinstance(devices, tuple):
        return tuple(map(placed, devices))
    return {placed(name): share for name, share in devices.items()}


Text = Annotated[
    str, pydantic.StringConstraints(min_length=1, max_length=_LONGEST_TEXT)
]
File = Annotated[Text, pydantic.AfterValidator(_beside)]
"""A path, which in a file with settings is relative to it."""
Event = Annotated[Text, pydantic.AfterValidator(event_text)]
"""What ends a launch: ``window``, ``output:ready``."""
Seconds = Annotated[float, SECONDS]
Bytes = Annotated[float, BYTES]
MbitPerS = Annotated[float, LINK]
Count = Annotated[float, Written(parse_count, "number", (f"^{_NUMBER}$",))]
Percent = Annotated[float, Written(_percent, "percent", (_SHARE,), takes_number=False)]
SecondsOrShare = Annotated[float | Share, _or_share(SECONDS)]
BytesOrShare = Annotated[float | Share, _or_share(BYTES)]
Devices = Annotated[
    tuple[Text, ...] | dict[Text, float],
    pydantic.PlainValidator(
        parse_devices,
        json_schema_input_type=Text | tuple[Text, ...] | dict[Text, Count],
    ),
    pydantic.AfterValidator(_devices_beside),
]
"""Devices, or the share of the users that has each: ``{nvme-laptop: 0.7, …}``."""
