"""The file of the priors, ``priors.json``, as it must look."""

from __future__ import annotations

from datetime import date  # noqa: TC003 # pydantic reads it at run time
from typing import Annotated

import pydantic

from snapcraft_compression_advisor.core.documents import DocumentKind
from snapcraft_compression_advisor.core.units import MIB

Share = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
Ratio = Annotated[float, pydantic.Field(gt=0.0, allow_inf_nan=False)]
Number = Annotated[int, pydantic.Field(ge=0)]


def _ascending(ends: tuple[float, float, float]) -> tuple[float, float, float]:
    low, mid, high = ends
    if not low <= mid <= high:
        message = "the ends and the middle aren't in order"
        raise ValueError(message)
    return ends


Ends = Annotated[tuple[Ratio, Ratio, Ratio], pydantic.AfterValidator(_ascending)]
"""Low end, middle, high end of read ÷ expected."""

Row = tuple[Number, Number]
"""Read, counted."""


class _Model(pydantic.BaseModel):
    # The parts of a document are read with the whole, never alone.
    model_config = pydantic.ConfigDict(
        defer_build=True, extra="forbid", frozen=True, strict=True
    )


class MedianAndWorst(_Model):
    """A figure over the applications, each left out of the counts when it was guessed.

    :param median: the middle application's.
    :param worst: the lowest.
    """

    median: Share
    worst: Share


class Fit(_Model):
    """Where the priors come from, and how well they do.

    :param fitted_on: the applications whose recorded launches were counted.
    :param fitted_at: the day.
    :param recall: of the bytes read, those named: applications left out.
    :param precision: of the bytes named, those read: applications left out.
    """

    fitted_on: Annotated[tuple[str, ...], pydantic.Field(min_length=2)]
    fitted_at: date
    recall: MedianAndWorst
    precision: MedianAndWorst


class PriorsDocument(_Model):
    """All of the file.

    :param fit: where it comes from.
    :param read_share: bytes read ÷ expected, over applications left out.
    :param seek_share: likewise, of runs of blocks.
    :param unseen_share: bytes, where all applications of a kind were left out.
    :param kinds: by kind, the applications recorded with read ÷ expected.
    :param files: counts of files by way.
    :param blocks: counts of blocks by class.
    """

    # Now, since threads are going to use it.
    model_config = pydantic.ConfigDict(defer_build=False)

    fit: Fit
    read_share: Ends
    seek_share: Ends
    unseen_share: Ends
    kinds: dict[str, dict[str, Ratio]]
    files: dict[str, Row]
    blocks: dict[str, Row]

    @pydantic.field_validator("files", "blocks")
    @classmethod
    def _read_of_counted(cls, rows: dict[str, Row]) -> dict[str, Row]:
        wrong = next((key for key, (read, of) in rows.items() if read > of), None)
        if wrong is not None:
            message = f"more of {wrong!r} were read than counted"
            raise ValueError(message)
        return rows


def read_document(text: bytes) -> PriorsDocument:
    """Read the file's text.

    :raises BadDataError: if it isn't such a document.
    """
    return _PRIORS.parse_json(text, where="priors.json")


_PRIORS = DocumentKind(
    model=PriorsDocument,
    name="launch priors",
    max_bytes=MIB,  # some ten times what they have
    broken="the launch priors of this installation are broken",
    resolution="Install snapcraft-compression-advisor again.",
)
