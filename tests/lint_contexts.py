"""Contexts for tests of rules: of an analysis, files or a packing that don't exist."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Literal

import numpy as np

from analyses import MB, evidence_of, make_analysis
from payloads import make_payload
from snapcraft_compression_advisor.advice.evidence import Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launches import LaunchAnalysis
from snapcraft_compression_advisor.lint.finding import Finding, Fix
from snapcraft_compression_advisor.lint.rule import ComponentSizes, Context, Rule
from snapcraft_compression_advisor.payload.caches import CacheFault
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.payload.needless import Needless
from snapcraft_compression_advisor.payload.survey import Survey, take_survey
from snapcraft_compression_advisor.preflight.differences import SNAP_FLAGS
from snapcraft_compression_advisor.preflight.packing import EntryFault, Packing
from snapcraft_compression_advisor.project.project_file import ProjectFile, read_project
from snapcraft_compression_advisor.settings.settings import Settings
from snapcraft_compression_advisor.squashfs.superblock import ABSENT_TABLE, Superblock
from snapcraft_compression_advisor.trial.stored import BlockSizes, StoredSizes

MUCH = Interval(low=0.45, mid=1.0, high=3.12)
LITTLE = Interval(low=0.01, mid=0.02, high=0.05)
PERHAPS = Interval(low=0.1, mid=0.3, high=0.9)
"""Seconds that lzo saves, against the 0.25 s that it has to."""


def make_context(  # noqa: PLR0913 # keywords, each with a default
    *,
    declared: str | None = "xz",
    saves: Interval = MUCH,
    policy: Mapping[str, object] | None = None,
    project: ProjectFile | None = None,
    sizes: Mapping[str, ComponentSizes] | None = None,
    base: str = "core24",
    analysis: Analysis | None = None,
) -> Context:
    """Return what rules look at; sizes and launches are those of ``make_analysis``.

    :param declared: compression of the payload.
    :param saves: what lzo saves per cold launch.
    :param policy: as it stands in the policy's file.
    :param analysis: instead of one made from these.
    """
    payload = make_payload({"bin/x": b""}, base=base)
    return Context(
        analysis=analysis or judged(make_analysis(), declared, saves),
        inventory=payload.inventory,
        snap=payload.snap,
        survey=take_survey(payload),
        settings=Settings.model_validate(policy or {}),
        project=project,
        component_sizes=sizes or {},
    )


def judged(analysis: Analysis, declared: str | None, saves: Interval) -> Analysis:
    """Return an analysis with the recommendation that follows from a saving."""
    saving = Saving(app="app0", device="nvme-laptop", seconds=saves)
    evidence = evidence_of(analysis.trial, [saving], declared=declared)
    return replace(
        analysis,
        payload=replace(analysis.payload, declared_compression=declared),
        recommendation=recommend(evidence, Policy()),
    )


def sized(analysis: Analysis, codec: str, size_mb: Interval) -> Analysis:
    """Return an analysis with another image size for one codec."""
    codecs = dict(analysis.trial.codecs)
    codecs[codec] = replace(
        codecs[codec], image_bytes=size_mb.map(lambda size: size * MB)
    )
    return replace(analysis, trial=replace(analysis.trial, codecs=codecs))


def with_launch(analysis: Analysis, launch: LaunchAnalysis) -> Analysis:
    """Return an analysis of that launch only."""
    return replace(analysis, launches=(launch,))


def make_project(text: str) -> ProjectFile:
    """Return a project file of a text."""
    return read_project(Path("snap/snapcraft.yaml"), text.encode())


def found_by(rule: Rule, context: Context) -> list[Finding]:
    """Return what one rule finds."""
    return list(rule.check(context))


def fix_of(finding: Finding) -> Fix:
    """Return a finding's fix, which there is."""
    assert finding.fix is not None
    return finding.fix


def edited(finding: Finding) -> str:
    """Return the text that a finding's fix makes of the project file."""
    edit = fix_of(finding).edit
    assert edit is not None
    return edit.after.decode()


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


_FIELDS = frozenset(each.name for each in fields(Superblock))


def make_packing(**changes: object) -> Packing:
    """Return the packing of a snap as ``snap pack`` makes it, but for the changes.

    :param changes: of the packing's fields or the superblock's.
    """
    superblock = Superblock(
        inode_count=3,
        modified_s=1_700_000_000,
        block_bytes=131_072,
        fragment_count=0,
        codec="xz",
        flags=SNAP_FLAGS,
        id_count=1,
        root_inode_reference=0,
        used_bytes=40_000,
        id_table_start=39_900,
        xattr_table_start=ABSENT_TABLE,
        inode_table_start=39_000,
        directory_table_start=39_500,
        fragment_table_start=39_800,
        export_table_start=39_850,
    )
    packing = Packing(
        superblock=superblock,
        image_bytes=40_960,
        padded_bytes=40_960,
        trailing_zeros=True,
        compressor_options=None,
    )
    fields = {name: changes.pop(name) for name in _FIELDS & changes.keys()}
    changed = replace(superblock, **fields)  # type: ignore[arg-type] # a test's own
    return replace(packing, superblock=changed, **changes)  # type: ignore[arg-type] # as above


def packed_context(packing: Packing | None, *, snap_type: str = "app") -> Context:
    """Return what rules look at for a built snap."""
    context = make_context()
    snap = context.snap.model_copy(update={"type": snap_type})
    return replace(context, packing=packing, snap=snap)


FAULT = EntryFault(path="bin/tool", text="is odd")
ODD = make_packing(
    block_bytes=65_536,
    flags=0x1,
    fragment_count=2,
    compressor_options=b"\1",
    xattr_table_start=39_950,
    image_bytes=6 * 1024**3,
    owners=(FAULT,),
    modes=(FAULT,),
    order=FAULT,
    numbers=FAULT,
    zeros="bin/tool",
)
"""Wrong in all that can be told from how it was packed."""
