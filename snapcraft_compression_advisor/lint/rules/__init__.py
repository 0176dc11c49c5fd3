"""Every rule, in the order of their ids."""

from __future__ import annotations

from . import (
    budgets,
    compatibility,
    compression,
    declared,
    deltas,
    launch_caches,
    launch_files,
    preflight_contents,
    preflight_image,
    regressions,
    shipped,
)

ALL_RULES = tuple(
    sorted(
        (
            *budgets.RULES,
            *compatibility.RULES,
            *compression.RULES,
            *declared.RULES,
            *deltas.RULES,
            *launch_caches.RULES,
            *launch_files.RULES,
            *preflight_contents.RULES,
            *preflight_image.RULES,
            *regressions.RULES,
            *shipped.RULES,
        ),
        key=lambda rule: rule.id,
    )
)
