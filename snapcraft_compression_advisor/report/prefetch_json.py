"""What is read ahead of a launch, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import ConfigDict, Field

from .. import __version__
from .contract import (
    Count,
    Document,
    IntervalReport,
    Part,
    Rounded,
    Share,
    Text,
    filled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..capture.paired import Difference
    from ..prefetch.plan import PrefetchPlan
    from ..prefetch.prove import PrefetchProof


class PrefetchRangeReport(Part):
    """Adjacent data blocks of a file."""

    path: Text
    first: Count = Field(description="number of the first block of 128 KiB")
    last: Count


class PrefetchRunsReport(Part):
    """Launches of one kind, seconds in the order of the rounds; measured."""

    cold_s: list[Rounded]
    warm_s: list[Rounded]


class PrefetchProofReport(Part):
    """Launches without reading ahead, with it, and with a wrong list."""

    advice: Literal["yes", "no"] = Field(
        description="yes if cold launches are clearly faster than without and than "
        "with a wrong list, both with 95 % confidence"
    )
    is_loss: bool = Field(description="whether cold launches are clearly slower")
    codec: str
    storage: Literal["memory", "disk"] = Field(description="where the image was")
    kernel: Text
    decompressors: str | None = Field(
        description="of a mount of this kernel; null if that isn't known"
    )
    processors: Count
    runs: dict[Literal["without", "with", "wrong"], PrefetchRunsReport]
    saved_s: IntervalReport = Field(
        description="what reading ahead saves of a cold launch; measured, 95 %"
    )
    saved_by_wrong_s: IntervalReport = Field(
        description="what reading as many wrong blocks saves, likewise"
    )
    added_warm_s: IntervalReport = Field(
        description="what the program adds to a warm launch, likewise"
    )


class PrefetchReport(Document):
    """The report of ``compression-advisor prefetch --format json``."""

    model_config = ConfigDict(title="compression-advisor prefetch")

    snap: Text
    app: Text
    ranges: list[PrefetchRangeReport] = Field(description="in the order of the image")
    blocks: Count
    raw_bytes: Count = Field(description="of these blocks, uncompressed")
    budget_bytes: float
    left_out_bytes: Count = Field(
        description="that the launch reads, and that exceed the budget"
    )
    fitting_share: Share = Field(
        description="of the profile's blocks that the payload has"
    )
    proof: PrefetchProofReport | None = Field(description="null without --prove")


def render_prefetch_json(
    plan: PrefetchPlan,
    proof: PrefetchProof | None,
    *,
    snap: str,
    chain: Sequence[str] = (),  # noqa: ARG001 # the texts' renderer wants it
    written_to: Path | None = None,  # noqa: ARG001 # likewise
) -> str:
    """Return what is read ahead as JSON."""
    return filled(
        PrefetchReport,
        plan,
        advisor_version=__version__,
        snap=snap,
        ranges=[filled(PrefetchRangeReport, each) for each in plan.ranges],
        proof=_proof_report(proof) if proof else None,
    ).text()


def _proof_report(proof: PrefetchProof) -> PrefetchProofReport:
    return filled(
        PrefetchProofReport,
        proof,
        advice="yes" if proof.is_clear else "no",
        decompressors=proof.modes.decompressors if proof.modes else None,
        runs={
            name: PrefetchRunsReport(
                cold_s=list(cold.runs_s), warm_s=list(proof.warm_s[name].runs_s)
            )
            for name, cold in proof.cold_s.items()
        },
        saved_s=_saved_s(proof.saved),
        saved_by_wrong_s=_saved_s(proof.saved_by_wrong),
        added_warm_s=_saved_s(proof.added_warm),
    )


def _saved_s(found: Difference | None) -> object:
    return found.saved_s if found else None
