"""What rules look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.advice.lint_policy import LintPolicy
    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.payload.inventory import Inventory
    from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
    from snapcraft_compression_advisor.payload.survey import Survey


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What snapcraft.yaml says of compression.

    :param path: of the file, as it was given.
    :param compression: of its root key; ``None`` where it isn't there.
    :param compression_line: of that key, from 1; ``None`` likewise.
    :param components: compression by component; ``None`` where a component has no key.
    :param component_lines: where each component's key, or else its name, stands.
    :param ignored: ids that ``lint: ignore:`` names.
    """

    path: Path
    compression: str | None
    compression_line: int | None
    components: dict[str, str | None]
    component_lines: dict[str, int]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that rules may look at; they open nothing themselves.

    :param analysis: sizes, launches, the recommendation.
    :param inventory: all entries of the payload.
    :param snap: its snap.yaml.
    :param survey: what was found in its files: caches, linkage, needless files.
    :param policy: budgets and options.
    :param project: snapcraft.yaml, where there is one.
    """

    analysis: Analysis
    inventory: Inventory
    snap: SnapMetadata
    survey: Survey
    policy: LintPolicy
    project: Project | None = None
