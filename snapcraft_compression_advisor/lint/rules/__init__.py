"""Every rule, in the order of their ids."""

from __future__ import annotations

from ..rule import Rule
from . import (
    budgets,
    compatibility,
    compression,
    declared,
    launch_caches,
    launch_files,
    regressions,
    shipped,
    store,
)

_MODULES = (
    budgets,
    compatibility,
    compression,
    declared,
    launch_caches,
    launch_files,
    regressions,
    shipped,
    store,
)
ALL_RULES: tuple[Rule, ...] = tuple(
    sorted(
        (rule for module in _MODULES for rule in module.RULES),
        key=lambda rule: rule.id,
    )
)
