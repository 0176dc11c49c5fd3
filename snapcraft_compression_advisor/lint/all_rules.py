"""Every rule, in the order of their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.lint.rules import (
    budgets,
    compatibility,
    components,
    compression,
    declared,
    incompressible,
    launch_caches,
    launch_files,
    preflight_entries,
    preflight_image,
    preflight_limits,
    preflight_writer,
    regressions,
    shipped,
    shipped_twice,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.rule import Rule

_ALL: tuple[Rule, ...] = (
    *budgets.RULES,
    *compatibility.RULES,
    *components.RULES,
    *compression.RULES,
    *declared.RULES,
    *incompressible.RULES,
    *launch_caches.RULES,
    *launch_files.RULES,
    *preflight_entries.RULES,
    *preflight_image.RULES,
    *preflight_limits.RULES,
    *preflight_writer.RULES,
    *regressions.RULES,
    *shipped.RULES,
    *shipped_twice.RULES,
)
ALL_RULES = tuple(sorted(_ALL, key=lambda rule: rule.id))
