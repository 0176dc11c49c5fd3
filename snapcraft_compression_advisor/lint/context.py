"""What rules look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.diff.figures import BaselineBuild
    from snapcraft_compression_advisor.lint.project import ProjectFile
    from snapcraft_compression_advisor.payload.inventory import Inventory
    from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
    from snapcraft_compression_advisor.payload.survey import Survey
    from snapcraft_compression_advisor.preflight.packing import Packing
    from snapcraft_compression_advisor.preflight.previous import PreviousSnap
    from snapcraft_compression_advisor.preflight.resquash import Resquash
    from snapcraft_compression_advisor.settings.lint_policy import LintPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that rules may look at; they open nothing themselves.

    :param analysis: sizes, launches, the recommendation.
    :param inventory: all entries of the payload.
    :param snap: its snap.yaml.
    :param survey: what was found in its files: caches, linkage, needless files.
    :param policy: budgets and options.
    :param project: snapcraft.yaml, where there is one.
    :param packing: how a built snap was packed; ``None`` for a prime directory.
    :param resquash: what became of it packed again, where that was asked for.
    :param previous: the snap that was published before, where it was given.
    :param baseline: the build that a baseline is of, where there is one.
    """

    analysis: Analysis
    inventory: Inventory
    snap: SnapMetadata
    survey: Survey
    policy: LintPolicy
    project: ProjectFile | None = None
    packing: Packing | None = None
    resquash: Resquash | None = None
    previous: PreviousSnap | None = None
    baseline: BaselineBuild | None = None
