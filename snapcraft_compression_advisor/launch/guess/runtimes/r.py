"""Programs in R: the library and the packages that each session opens."""

from __future__ import annotations

import re

from ..families import opened_by
from .runtime import Runtime

_PACKAGES = "base|methods|datasets|utils|grDevices|graphics|stats"

RUNTIME = Runtime(
    kind="R",
    mapped=re.compile(r"R|Rscript|libR\.so"),
    families=opened_by(
        r"R|Rscript",
        ("r-library", r"lib/R/lib", r"libR\.so"),
        (
            "r-packages",
            rf"R/library/({_PACKAGES})/(R|Meta|libs)",
            rf"(?!cairo)\S+\.(rdb|rdx|rds|so)|({_PACKAGES})",
        ),
    ),
    starts={"Rscript": (r"usr/(?:local/)?lib(?:64)?/R/bin/(?:exec/)?R",)},
)
