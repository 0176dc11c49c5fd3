"""Contexts for tests of rules that look at a payload's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from analyses import make_analysis
from lint_contexts import make_context
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.lint.rule import Context
from snapcraft_compression_advisor.payload.caches import CacheFault
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.payload.needless import Needless
from snapcraft_compression_advisor.payload.survey import Survey
from snapcraft_compression_advisor.trial.stored import BlockSizes, StoredSizes


def make_surveyed(
    *,
    caches: Sequence[CacheFault] = (),
    needless: Sequence[Needless] = (),
    analysis: Analysis | None = None,
) -> Context:
    """Return what rules look at, with these found in the payload's files."""
    survey = Survey(caches=tuple(caches), needless=tuple(needless))
    return replace(make_context(analysis=analysis), survey=survey)


def launching(
    *paths: str,
    elsewhere: Sequence[str] = (),
    source: Literal["static", "recorded"] = "static",
) -> Analysis:
    """Return an analysis whose one launch reads these files.

    :param elsewhere: libraries that it has from the base or a content snap.
    """
    analysis = make_analysis()
    launch = analysis.launches[0]
    launch_set = replace(
        launch.launch_set,
        source=source,
        files=tuple(
            LaunchFile(path=path, size_bytes=1000, blocks=((0, 0),)) for path in paths
        ),
        unresolved=tuple(
            Unresolved(name=name, needed_by="bin/x", supplier="content snap")
            for name in elsewhere
        ),
    )
    return replace(analysis, launches=(replace(launch, launch_set=launch_set),))


def storing(
    sizes: Mapping[str, int], *, error: float = 0.0, same_as: Mapping[str, str] = {}
) -> Analysis:
    """Return an analysis of files that xz makes half as large.

    :param sizes: raw bytes by path.
    :param error: of every block, one standard deviation as a share of its size.
    :param same_as: other names of these contents.
    """
    layout = make_layout(list(sizes.items()), same_as=same_as)
    stored = np.ceil(layout.raw_bytes() / 2)
    analysis = make_analysis()
    trial = replace(
        analysis.trial,
        stored=StoredSizes(
            layout=layout,
            codecs={"xz": BlockSizes(stored_bytes=stored, errors=stored * error)},
        ),
    )
    return replace(analysis, trial=trial)
