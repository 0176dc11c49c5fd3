"""What JSON reports are made of: contracts, each versioned by its ``schema`` key.

A contract's models say what a report holds, for its JSON Schema and for reading it
back. They are filled from the core's dataclasses, attribute by attribute, by the same
names; :func:`filled` takes what is named otherwise or stands elsewhere.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ..core import units
from ..core.documents import json_schema_text
from ..core.printable import printable

_Part = TypeVar("_Part", bound="Part")
DIGITS = 6
"""Of seconds: microseconds; further ones are noise of the arithmetic."""


def _shown(value: object) -> object:
    return printable(str(value)) if isinstance(value, (str, PurePath)) else value


Text = Annotated[str, BeforeValidator(_shown)]
"""A path, or what else a payload chose; what isn't UTF-8 or printable is escaped."""

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Rounded = Annotated[float, AfterValidator(lambda figure: round(figure, DIGITS))]


class Part(BaseModel):
    """A part of a report; unknown keys, infinities and NaN are refused.

    JSON as RFC 8259 has it knows neither NaN nor infinity; Python reads both.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        from_attributes=True,
        defer_build=True,  # most runs need few of them
    )


class Document(Part):
    """A whole report."""

    schema_version: Literal[1] = Field(alias="schema", default=1)
    advisor_version: str

    def text(self) -> str:
        """Return it as JSON text."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"


class Interval(Part):
    """A figure with its uncertainty; all three are equal where it is exact."""

    low: float
    mid: float
    high: float

    def interval(self) -> units.Interval:
        """Return it as the core's type; a saved report may have its ends swapped."""
        return units.Interval.around(self.low, self.mid, self.high)


class IntervalReport(Interval):
    """A figure with its uncertainty; the ends are equal where it is known."""

    low: Rounded
    mid: Rounded
    high: Rounded


Figure = Interval | units.Interval
"""What prints alike, saved or fresh."""


def filled(model: type[_Part], source: object, **others: object) -> _Part:
    """Return a part of a report, filled from an object's attributes of the same names.

    :param others: what goes before these, by field.
    """
    known = {
        name: getattr(source, name)
        for name in model.model_fields
        if name not in others and hasattr(source, name)
    }
    return model.model_validate({**known, **others})


def schema_text(document: type[Document]) -> str:
    """Return the JSON Schema of a report, as ``docs`` keeps it."""
    return json_schema_text(document, mode="serialization")
