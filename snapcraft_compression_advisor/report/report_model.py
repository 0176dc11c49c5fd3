"""What all parts of the JSON report are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from snapcraft_compression_advisor.core import units

Count = Annotated[int, Field(ge=0)]


class ReportPart(BaseModel):
    """A part of the report; unknown keys, infinities and NaN are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Interval(ReportPart):
    """A figure with its uncertainty; all three are equal where it is exact."""

    low: float
    mid: float
    high: float


def interval(figure: units.Interval) -> Interval:
    """Return a figure in the shape of the report."""
    return Interval(low=figure.low, mid=figure.mid, high=figure.high)


def optional_interval(figure: units.Interval | None) -> Interval | None:
    """Return a figure in the shape of the report, where there is one."""
    return None if figure is None else interval(figure)
