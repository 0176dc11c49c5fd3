"""What could be left out of a snap, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from .. import __version__
from ..trim.find import Reason  # pydantic reads it at run time
from .contract import (
    Count,
    Document,
    IntervalReport,
    Part,
    Rounded,
    Text,
    filled,
)

if TYPE_CHECKING:
    from ..trim.plan import TrimPlan
    from ..trim.prove import AppProof, Proof


class TrimGroupReport(Part):
    """Files that could be left out for one reason."""

    reason: Reason
    risk: Text | None = Field(
        description="why they may be needed; null if nothing is known to need them"
    )
    files: list[Text] = Field(description="the largest first, links after them")
    raw_bytes: Count = Field(description="uncompressed")
    image_bytes: IntervalReport | None = Field(
        description="by which the image shrinks, estimated; null if it isn't known"
    )
    saved_s: dict[Text, dict[Text, IntervalReport]] = Field(
        description="by app and device: estimated seconds that these files add to a "
        "cold launch; apps that don't read any of them are left out"
    )
    filters: dict[Text, list[Text]] = Field(
        description="by part, each with its leading hyphen; the part is empty if it "
        "isn't known"
    )


class AppProofReport(Part):
    """How an app starts without the files."""

    app: Text
    problem: Text | None = Field(
        description="why it can't be started even with all files, so that nothing is "
        "proven; null if it starts"
    )
    common_share: float | None = Field(
        description="of the blocks outside the files left out that launches before "
        "and after read (measured), those that both read"
    )
    traced: bool = Field(
        description="whether its launch was also traced for files that it looks for "
        "and that were left out"
    )
    cold_before_s: Rounded | None = Field(
        description="mean of cold launches with all files; measured; null without "
        "--runs"
    )
    cold_after_s: Rounded | None = Field(description="without them, likewise")
    saved_s: IntervalReport | None = Field(
        description="by how much cold launches are faster; measured, with the interval "
        "of 95 %"
    )


class TakenBackReport(Part):
    """A group that an app needs after all."""

    reason: Reason
    app: Text
    problem: Text


class ProofReport(Part):
    """What became of the snap without the files of the groups without a risk."""

    apps: list[AppProofReport]
    taken_back: list[TakenBackReport]
    before_bytes: Count = Field(description="of the image with all files; measured")
    after_bytes: Count = Field(description="of the image without them; measured")


class TrimReport(Document):
    """The report of ``compression-advisor trim --format json``."""

    model_config = ConfigDict(title="compression-advisor trim")

    path: Text
    snap: Text
    codec: str = Field(description="that sizes are estimated for")
    image_bytes: IntervalReport | None
    sure_bytes: IntervalReport | None = Field(
        description="by which the image shrinks without the groups that have no risk"
    )
    delta_share: float | None = Field(
        description="size of a typical delta as a share of the image, as the policy "
        "has it"
    )
    apps: list[Text] = Field(description="whose launches were looked at")
    groups: list[TrimGroupReport]
    proof: ProofReport | None = Field(description="null without --prove")


def render_trim_json(plan: TrimPlan, proof: Proof | None) -> str:
    """Return a plan as JSON."""
    return filled(
        TrimReport,
        plan,
        advisor_version=__version__,
        groups=[
            filled(
                TrimGroupReport,
                group,
                filters={
                    part: [f"-{each}" for each in patterns]
                    for part, patterns in group.filters.items()
                },
            )
            for group in plan.groups
        ],
        proof=_proof_report(proof) if proof else None,
    ).text()


def _proof_report(proof: Proof) -> ProofReport:
    return filled(
        ProofReport,
        proof,
        apps=[_app_report(each) for each in proof.apps],
        taken_back=[
            TakenBackReport(
                reason=each.group.reason, app=each.app, problem=each.problem
            )
            for each in proof.taken_back
        ],
    )


def _app_report(app: AppProof) -> AppProofReport:
    cold_s = app.turns.cold_s if app.turns else None
    return filled(
        AppProofReport,
        app,
        cold_before_s=cold_s["before"].mean if cold_s else None,
        cold_after_s=cold_s["after"].mean if cold_s else None,
        saved_s=app.saved.saved_s if app.saved else None,
    )
