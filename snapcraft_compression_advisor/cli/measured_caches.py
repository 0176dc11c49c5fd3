"""What first runs were measured to spend on caches, from the JSON of ``measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ..capture.first_run import MadeCache, MeasuredCaches
from ..core.documents import DocumentKind
from ..core.errors import BadDataError
from ..core.units import MIB


class _FirstRun(BaseModel):
    caches_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Codec(BaseModel):
    first_run: _FirstRun | None = None


class _Made(BaseModel):
    kind: str
    files: Annotated[int, Field(ge=0)]
    size_bytes: Annotated[int, Field(ge=0)]
    program_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


class _Measurement(BaseModel):
    """What is read of a measurement."""

    schema_version: Literal[1] = Field(alias="schema")
    codecs: dict[str, _Codec]
    made_caches: list[_Made] = []


_MEASUREMENT = DocumentKind(
    model=_Measurement,
    name="measurement",
    max_bytes=16 * MIB,
    broken="{where!r} is not a report of 'measure --format json'",
    resolution="Measure again with this version of the advisor.",
)


def read_measured_caches(path: Path) -> MeasuredCaches:
    """Return what first runs spend on caches.

    Making them doesn't depend on the codec, so what differs between codecs is noise,
    and the least counts.

    :raises NoInputError: where the file can't be read.
    :raises BadDataError: where it is no measurement of first runs.
    """
    report = _MEASUREMENT.parse_json(_MEASUREMENT.read(path), where=str(path))
    spent = [
        each.first_run.caches_s for each in report.codecs.values() if each.first_run
    ]
    if not spent:
        message = f"{str(path)!r} holds no first runs"
        raise BadDataError(
            message, resolution="Measure them: measure --first-run --format json."
        )
    made = (each.model_dump() for each in report.made_caches)
    return MeasuredCaches(
        making_s=min(spent), made=tuple(MadeCache(**each) for each in made)
    )
