"""A baseline that was saved knows the findings of every kind of rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyses import MB, make_analysis
from lint_contexts import (
    LITTLE,
    MUCH,
    PERHAPS,
    make_context,
    make_project,
)
from lint_reports import rendered
from packings import ODD, make_packing, packed_context
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.baseline import Baseline, judge
from snapcraft_compression_advisor.lint.components import ComponentSizes
from snapcraft_compression_advisor.lint.finding import LintedPayload, LintReport
from snapcraft_compression_advisor.lint.rule import Context
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.lint.run import Selection, run_rules
from snapcraft_compression_advisor.payload.caches import CacheFault
from snapcraft_compression_advisor.payload.copies import Copy, Supplied
from snapcraft_compression_advisor.payload.needless import (
    Needless,
    NeedlessFile,
)
from snapcraft_compression_advisor.preflight.differences import Difference
from snapcraft_compression_advisor.preflight.packing import (
    Recompressed,
)
from snapcraft_compression_advisor.preflight.resquash import Resquash
from snapcraft_compression_advisor.report.lint_formats.saved import parse_baseline
from surveyed import launching, storing

GIO = "usr/lib/x86_64-linux-gnu/libgio-2.0.so.0"
COMPONENTS = "name: x\ncompression: lzo\ncomponents:\n  data:\n    type: standard\n"


def linted() -> LintReport:
    """Return what all rules find now in what was linted then."""
    payloads = tuple(
        LintedPayload(
            path=f"{name}.snap",
            snap_name=name,
            findings=run_rules(context, ALL_RULES, Selection(severities={})),
        )
        for name, context in _contexts()
    )
    return LintReport(version="0.1.0", payloads=payloads)


def _contexts() -> Iterator[tuple[str, Context]]:
    budgets = {
        "max-cold-start": {"nvme-laptop": {"app0": "300ms"}, "hdd-laptop": "2min"},
        "max-image-size": "1MB",
    }
    context = make_context(
        saves=MUCH,
        policy={
            **budgets,
            "compression": "lzo",
            "targets": [{"name": "kiosk", "codecs": ["lzo"]}],
        },
        project=make_project("name: x\n"),
    )
    yield "slow", context
    yield "perhaps", make_context(saves=PERHAPS)
    sizes = ComponentSizes(
        xz_bytes=Interval.exactly(10.0 * MB),
        lzo_less_xz_bytes=Interval.exactly(3.0 * MB),
    )
    project = make_project(COMPONENTS)
    yield (
        "large",
        make_context(
            declared="lzo", saves=LITTLE, project=project, sizes={"data": sizes}
        ),
    )
    yield "foreign", make_context(declared="zstd")
    yield "surveyed", _surveyed()
    context = packed_context(ODD)
    difference = Difference(part="first difference", text="byte 24, in the superblock")
    resquash = Resquash(
        tool="mksquashfs 4.5.1",
        options=("-noappend",),
        equal=False,
        differences=(difference,),
    )
    yield "packed", replace(context, resquash=resquash)
    again = Recompressed(tried=4, differing="bin/tool", library="liblzma")
    small = make_packing(used_bytes=9000, padded_bytes=12288, image_bytes=12288)
    yield "small", packed_context(replace(small, recompressed=again))


def _surveyed() -> Context:
    site = "lib/python3.12/site-packages"
    gio = CacheFault(
        kind="gio-modules",
        state="stale",
        path="usr/lib/gio/modules/giomodule.cache",
        sources=("usr/lib/gio/modules/liba.so",),
        source_count=1,
        reason="it lacks modules",
        readers=("libgio-2.0",),
    )
    bytecode = CacheFault(
        kind="python-bytecode",
        state="missing",
        path=site,
        sources=(f"{site}/a.py", f"{site}/b.py"),
        source_count=2,
        reason="there is no bytecode",
    )
    static = NeedlessFile(path="usr/lib/liba.a", size_bytes=3 * MB)
    manual = NeedlessFile(path="usr/share/man/a.1", size_bytes=2 * MB, doubt="man")
    copy = Copy(
        path="usr/lib/libx.so.1.2",
        like="usr/lib/libx.so.1.3",
        size_bytes=4 * MB,
        doubt=None,
    )
    base = Supplied(
        path="usr/lib/libz.so.1", size_bytes=4 * MB, supplier="core24", same=True
    )
    files = {each.path: each.size_bytes for each in (static, manual, copy, base)}
    stored = storing(files).trial.stored
    analysis = launching(f"{site}/a.py", GIO)
    trial = replace(make_analysis().trial, stored=stored)
    context = make_context(analysis=replace(analysis, trial=trial))
    survey = replace(
        context.survey,
        caches=(gio, bytecode),
        needless=(
            Needless(kind="static-libraries", files=(static,)),
            Needless(kind="documentation", files=(manual,)),
        ),
        copies=(copy,),
        supplied=(base,),
    )
    return replace(context, survey=survey)


def test_what_is_saved_now_is_known_by_its_subject() -> None:
    now = linted()
    saved = parse_baseline(rendered("json", now).encode(), where="now")
    judged = judge(now, Baseline(where="now", report=saved))
    for payload, known in zip(judged.payloads, saved.payloads, strict=True):
        assert not payload.gone
        for finding, was in zip(payload.findings, known.findings, strict=True):
            assert (finding.state, finding.was) == ("known", was)
            assert finding.subject == was.subject
