"""What the parts of the policy file have in common."""

from __future__ import annotations

from typing import Annotated

import pydantic

from snapcraft_compression_advisor.advice.quantities import (
    BYTES_BY_UNIT,
    SECONDS_BY_UNIT,
    parse_bytes,
    parse_seconds,
    parse_share,
    quantity_pattern,
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


def _seconds_or_share(value: object) -> float | Share:
    share = _share(value)
    return parse_seconds(value) if share is None else share


def _bytes_or_share(value: object) -> float | Share:
    share = _share(value)
    return parse_bytes(value) if share is None else share


def _share(value: object) -> Share | None:
    if isinstance(value, Share):
        return value
    share = parse_share(value)
    return None if share is None else Share(share)


def _or_share(pattern: str) -> pydantic.WithJsonSchema:
    return pydantic.WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": pattern},
                {"type": "string", "pattern": share_pattern()},
            ]
        }
    )


Text = Annotated[str, pydantic.StringConstraints(min_length=1, max_length=4096)]
SecondsOrShare = Annotated[
    float | Share,
    pydantic.PlainValidator(_seconds_or_share),
    _or_share(quantity_pattern(SECONDS_BY_UNIT)),
]
"""A duration with a unit, or a share in percent: ``0.5s``, ``20%``."""
BytesOrShare = Annotated[
    float | Share,
    pydantic.PlainValidator(_bytes_or_share),
    _or_share(quantity_pattern(BYTES_BY_UNIT)),
]
"""A size with a unit, or a share in percent: ``20MB``, ``30%``."""
