"""What is about to be packed, and what the advisor makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..analysis import Analysis
from ..lint.rule import Context
from ..lint.rules.budgets import cold_start_budget, image_size_budget
from ..lint.run import Selection, run_rules
from ..settings.policy_parts import PackMode
from ..squashfs.image import Image
from ..wording import sentences
from .guard import PolicyBrokenError

DEFAULT_COMPRESSION = "xz"
"""What ``snap pack`` packs with where snapcraft names no compression."""


BUDGET_RULES = (cold_start_budget, image_size_budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A snap or a component about to be packed.

    :param prime_dir: its files.
    :param component: its name; ``None`` for the snap itself.
    :param compression: that it is packed with unless the advisor changes it.
    :param declared: what snapcraft.yaml says of this artifact itself; ``None`` if it
        says nothing, and a component inherits or the default applies.
    """

    prime_dir: Path
    component: str | None = None
    compression: str
    declared: str | None = None

    @property
    def label(self) -> str:
        """What messages call it."""
        return "the snap" if self.component is None else f"component {self.component}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What an artifact is packed with, and why.

    :param analysis: all that is known of it.
    :param mode: of the settings.
    :param compression: to pack with.
    :param follows: whether that is the advice's doing.
    """

    artifact: Artifact
    analysis: Analysis
    mode: PackMode
    compression: str
    follows: bool

    @property
    def as_packed(self) -> Analysis:
        """The analysis as it is once the advice is followed: nothing left to change."""
        if not self.follows:
            return self.analysis
        analysis = self.analysis
        return replace(
            analysis,
            payload=replace(analysis.payload, declared_compression=self.compression),
            recommendation=replace(analysis.recommendation, verdict="keep"),
        )


def decide(
    artifact: Artifact, analysis: Analysis, mode: PackMode, *, override_declared: bool
) -> Decision:
    """Return what to pack an artifact with.

    Only ``apply`` and ``write`` change anything, only a verdict ``change`` does, and
    what snapcraft.yaml declares stands unless the settings say otherwise.
    """
    advice = analysis.recommendation
    # On core22 snapcraft packs components with the snap's key, whatever their own.
    free = override_declared or artifact.declared != artifact.compression
    follows = mode in ("apply", "write") and advice.verdict == "change" and free
    return Decision(
        artifact=artifact,
        analysis=analysis,
        mode=mode,
        compression=advice.compression if follows else artifact.compression,
        follows=follows,
    )


def codec_of(image: Path) -> str:
    """Return what a built snap or component is packed with.

    :raises AdvisorError: if it isn't one.
    """
    with Image.open(image) as opened:
        return opened.superblock.codec


def check_advice(decision: Decision) -> None:
    """Stop where the advice is to change what snapcraft.yaml says.

    An undecided verdict breaks nothing.

    :raises PolicyBrokenError: in that case.
    """
    advice = decision.analysis.recommendation
    if advice.verdict != "change":
        return
    artifact = decision.artifact
    whose = "declared" if artifact.declared else "implied"
    component = f" --component {artifact.component}" if artifact.component else ""
    first, *others = sentences(advice.reasons)
    message = (
        f"The {whose} compression {artifact.compression!r} of {artifact.label} "
        f"violates the policy: {first}"
    )
    raise PolicyBrokenError(
        message,
        details="\n".join(others) or None,
        resolution=f"Set 'compression: {advice.compression}' ('snapcraft "
        f"set-compression {advice.compression}{component}'), or change the policy.",
    )


def check_budgets(context: Context) -> None:
    """Stop where a budget is broken, not where the estimate leaves that open.

    :raises PolicyBrokenError: in that case.
    """
    for finding in run_rules(context, BUDGET_RULES, Selection(severities={})):
        if not finding.undecided:
            raise PolicyBrokenError(
                finding.message,
                resolution="See what 'snapcraft compression-advice' reports for the "
                "other codec, ship less, or raise the budget.",
            )
