"""The file of the priors: what the guess's counts and spreads are kept in.

``study/static_fit.py`` writes ``priors.json``.
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from ...core.documents import DocumentKind
from ...core.units import MIB

Share = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
Ratio = Annotated[float, pydantic.Field(gt=0.0, allow_inf_nan=False)]
Number = Annotated[int, pydantic.Field(ge=0)]


def _ascending(ends: tuple[float, float, float]) -> tuple[float, float, float]:
    low, mid, high = ends
    if not low <= mid <= high:
        message = "low end, middle and high end must be in ascending order"
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


class ReferenceRow(_Model):
    """What a reference class read; fields as those of :class:`Reference`."""

    read_share: Ends
    seek_share: Ends
    least_share: Share
    recorded: dict[str, Ratio]


class PriorsDocument(_Model):
    """All of the file; fields as those of :class:`Priors`.

    :param fit: where it comes from, and how well it does; for readers of the file.
    """

    # Now, since threads are going to use it.
    model_config = pydantic.ConfigDict(defer_build=False)

    fit: dict[str, object]
    read_share: Ends
    seek_share: Ends
    unseen_share: Ends
    kind_shares: dict[str, Ends] = {}
    parallel_kinds: tuple[str, ...] = ()
    kinds: dict[str, dict[str, Ratio]]
    files: dict[str, Row]
    blocks: dict[str, Row]
    references: dict[str, ReferenceRow] = {}

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
    broken="the launch priors of this installation are invalid",
    resolution="Reinstall snapcraft-compression-advisor.",
)
