"""What the parts of the policy file have in common."""

from __future__ import annotations

from typing import Annotated, Any

import pydantic

from snapcraft_compression_advisor.settings.quantities import (
    BYTES,
    LINK,
    SECONDS,
    Quantity,
    count_pattern,
    parse_count,
    parse_share,
    share_pattern,
)


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


def _bytes_or_share(value: object) -> float | Share:
    share = _share(value)
    return BYTES.parse(value) if share is None else share


def _share(value: object) -> Share | None:
    if isinstance(value, Share):
        return value
    share = parse_share(value)
    return None if share is None else Share(share)


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
        *([share_pattern()] * or_share),
        words=quantity.words + ", or percent" * or_share,
        takes_number=quantity.plain is not None,
    )


Text = Annotated[str, pydantic.StringConstraints(min_length=1, max_length=4096)]
Seconds = Annotated[float, pydantic.BeforeValidator(SECONDS.parse), _schema_of(SECONDS)]
"""A duration: ``0.5``, ``0.5s``, ``500ms``."""
Bytes = Annotated[float, pydantic.BeforeValidator(BYTES.parse), _schema_of(BYTES)]
"""A size: ``20MB``."""
MbitPerS = Annotated[float, pydantic.BeforeValidator(LINK.parse), _schema_of(LINK)]
"""A speed: ``50``, ``50Mbit/s``."""
Count = Annotated[
    float,
    pydantic.BeforeValidator(parse_count),
    _schema(count_pattern(), words="number", takes_number=True),
]
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
