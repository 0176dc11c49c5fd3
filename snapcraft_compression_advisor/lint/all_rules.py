"""Every rule, in the order of their ids."""

from __future__ import annotations

from .rules import (
    budgets,
    compatibility,
    compression,
    declared,
    deltas,
    incompressible,
    kernels,
    launch_caches,
    launch_files,
    preflight_contents,
    preflight_image,
    regressions,
    shipped,
)

_MODULES = (
    budgets,
    compatibility,
    compression,
    declared,
    deltas,
    incompressible,
    kernels,
    launch_caches,
    launch_files,
    preflight_contents,
    preflight_image,
    regressions,
    shipped,
)
ALL_RULES = tuple(
    sorted((rule for each in _MODULES for rule in each.RULES), key=lambda rule: rule.id)
)
