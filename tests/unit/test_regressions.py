"""SCA601 to SCA608: what has grown since the baseline."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from analyses import MB, make_analysis
from builds import make_difference
from elf_files import make_elf
from lint_contexts import found_by, make_context, with_launch
from payloads import make_payload
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import default_devices
from snapcraft_compression_advisor.diff.difference import (
    DifferenceRequest,
    compare_payloads,
)
from snapcraft_compression_advisor.diff.figures import (
    BaselineBuild,
    BaselineDelta,
    figures_of,
)
from snapcraft_compression_advisor.lint.rule import Context, Rule
from snapcraft_compression_advisor.lint.rules.regressions import (
    DELTA_RULES,
    image_grown,
    launch_slower,
    library_gone,
    refresh_large,
)
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.refresh.changes import ChangeKind, FileChange
from snapcraft_compression_advisor.report.diff import diff_page


def ignore(_: str) -> None:
    """Tell nobody."""


def context_with(
    baseline: BaselineBuild | None, policy: Mapping[str, object] | None = None
) -> Context:
    return replace(make_context(policy=policy), baseline=baseline)


def before(*, faster: float = 0.0, image_mb: Interval | None = None) -> BaselineBuild:
    """Return figures that are those of the analysis, but for these."""
    now = figures_of(make_analysis())
    size = image_mb or Interval.exactly(44.1)
    return BaselineBuild(
        figures=replace(
            now,
            image_bytes=size.map(lambda each: each * MB),
            launches=tuple(
                replace(each, added_s=each.added_s.map(lambda end: end - faster))
                for each in now.launches
            ),
        )
    )


def budget(growth: str) -> dict[str, object]:
    return {"max-image-growth": growth}


def test_neither_rule_speaks_without_a_baseline() -> None:
    assert not found_by(launch_slower, context_with(None))
    assert not found_by(image_grown, context_with(None, budget("1MB")))


def test_launch_that_is_slower_by_more_than_both_intervals_is_found() -> None:
    (finding, _) = found_by(launch_slower, context_with(before(faster=30.0)))
    assert not finding.undecided
    assert finding.severity == "warning"
    assert "30.0 s" in finding.message


def test_launch_whose_intervals_overlap_is_undecided() -> None:
    (finding, _) = found_by(launch_slower, context_with(before(faster=0.5)))
    assert (finding.undecided, finding.severity) == (True, "info")


def test_launch_that_is_about_as_fast_is_no_finding() -> None:
    assert not found_by(launch_slower, context_with(before(faster=0.05)))
    allowed = {"max-launch-growth": "1s"}
    assert not found_by(launch_slower, context_with(before(faster=0.9), allowed))


def test_previous_build_decides_where_figures_alone_do_not() -> None:
    build = replace(before(), difference=make_difference())
    (finding,) = found_by(launch_slower, context_with(build))
    assert not finding.undecided
    assert "because of usr/lib/libfoo.so; 0.10 s is allowed." in finding.message
    assert finding.files == ("usr/lib/libfoo.so", "usr/share/new.svg")


@pytest.mark.parametrize(
    ("size", "growth", "undecided"),
    [
        (Interval.exactly(40), "4MB", False),
        (Interval.exactly(40), "10%", False),
        (Interval.exactly(40), "4.2MB", None),
        (Interval.exactly(40), "11%", None),
        (Interval.exactly(50), "0.1MB", None),
        (Interval(low=39, mid=40, high=41), "4MB", True),
        (Interval(low=39, mid=40, high=41), "3MB", False),
    ],
)
def test_growth_is_held_against_its_budget(
    size: Interval, growth: str, *, undecided: bool | None
) -> None:
    findings = found_by(
        image_grown, context_with(before(image_mb=size), budget(growth))
    )
    assert [each.undecided for each in findings] == (
        [] if undecided is None else [undecided]
    )
    assert all(each.severity == "error" for each in findings if not each.undecided)


def test_growth_without_a_budget_is_no_finding() -> None:
    assert not found_by(image_grown, context_with(before(image_mb=Interval.exactly(1))))


def test_report_without_figures_leaves_growth_open() -> None:
    baseline = BaselineBuild(figures=None)
    (finding,) = found_by(image_grown, context_with(baseline, budget("3%")))
    assert finding.undecided
    assert "isn't known; 3.0% is allowed" in finding.message
    assert not found_by(launch_slower, context_with(baseline))


def test_library_that_a_cleanup_took_is_named() -> None:
    loader = "/lib64/ld-linux-x86-64.so.2"
    program = make_elf(needed=("libgui.so.1", "libc.so.6"), interpreter=loader)
    library = {"usr/lib/libgui.so.1": make_elf(soname="libgui.so.1")}
    old, new = (
        make_payload(
            {"bin/hello": program, **more},
            apps={"hello": {"command": "bin/hello"}},
            environment={"LD_LIBRARY_PATH": "$SNAP/usr/lib"},
        )
        for more in (library, {})
    )
    request = DifferenceRequest(devices=default_devices(), codecs={}, trials={})
    difference = compare_payloads(old, new, request, progress=ignore)
    assert difference.lost == {"hello": ("libgui.so.1",)}
    assert difference.notes[0].startswith("hello needs libgui.so.1, which only the old")
    assert "hello: libgui.so.1 is missing; " in str(diff_page(difference).headline)
    for pair in ((new, old), (new, new)):
        assert not compare_payloads(*pair, request, progress=ignore).lost


@pytest.mark.parametrize("supplier", ["nobody", "base"])
def test_library_that_is_gone_is_a_finding_unless_another_snap_has_it(
    supplier: str,
) -> None:
    analysis = make_analysis()
    launch = analysis.launches[0]
    app = launch.launch_set.app
    unresolved = Unresolved(name="libgui.so.1", needed_by="bin/x", supplier="base")
    found = (unresolved,) if supplier == "nobody" else ()
    launch = replace(launch, launch_set=replace(launch.launch_set, unresolved=found))
    lost = replace(make_difference(), lost={app: ("libgui.so.1",)})
    build = replace(before(), difference=lost)
    known = make_context(analysis=with_launch(analysis, launch))
    findings = found_by(library_gone, replace(known, baseline=build))
    assert [each.subject for each in findings] == [{"app": app}] * len(found)


_, FILE_MOVED, ARCHIVE_RECOMPRESSED, FILE_STAMPED, CACHE_UNSTABLE = DELTA_RULES
TEN_MB = Interval.around(9 * MB, 10 * MB, 12 * MB)


def change(kind: ChangeKind, delta_bytes: float, path: str = "usr/x") -> FileChange:
    return FileChange(path=path, old_path=None, change=kind, delta_bytes=delta_bytes)


def context_of_delta(*changes: FileChange, budget: str | None = None) -> Context:
    """Return a payload whose delta from the baseline has an estimated 10 MB."""
    policy = {"max-refresh-size": budget} if budget else {}
    delta = BaselineDelta(
        codec="xz", delta_format="xdelta3", size_bytes=TEN_MB, changes=changes
    )
    baseline = BaselineBuild(figures=None, delta=delta)
    return replace(make_context(policy=policy), baseline=baseline)


@pytest.mark.parametrize(
    ("budget", "undecided"),
    [
        ("8MB", [False]),
        ("10MB", [True]),
        ("13MB", []),
        ("10%", [False]),  # of an image of 44 MB
        ("90%", []),
    ],
)
def test_refresh_is_compared_with_its_budget(
    budget: str, undecided: list[bool]
) -> None:
    findings = found_by(refresh_large, context_of_delta(budget=budget))
    assert [each.undecided for each in findings] == undecided
    for finding in findings:
        assert "downloads an estimated 10.0 MB" in finding.message
        assert finding.severity == ("info" if finding.undecided else "error")


def test_refresh_without_baseline_or_budget_is_no_finding() -> None:
    assert not found_by(refresh_large, context_of_delta())
    budget = {"max-refresh-size": "1MB"}
    assert not found_by(refresh_large, make_context(policy=budget))


def test_delta_is_not_known_from_a_report() -> None:
    seen = replace(context_of_delta(budget="5%"), baseline=BaselineBuild(figures=None))
    (finding,) = found_by(refresh_large, seen)
    assert finding.undecided
    assert "isn't known; 5% of the image is allowed" in finding.message


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (FILE_MOVED, "moved"),
        (ARCHIVE_RECOMPRESSED, "recompressed"),
        (FILE_STAMPED, "timestamp"),
        (CACHE_UNSTABLE, "cache"),
    ],
)
def test_files_of_a_kind_are_found_with_their_bytes(
    rule: Rule, kind: ChangeKind
) -> None:
    others = (change("added", 3 * MB, "new"), change("changed", 4 * MB, "other"))
    seen = context_of_delta(
        *others, change(kind, 2 * MB), change(kind, 0.5 * MB, "opt/y")
    )
    (finding,) = found_by(rule, seen)
    assert finding.files == ("usr/x", "opt/y")
    assert finding.message.startswith("2 files ")
    assert "2.5 MB (25%) to the plain delta with xz" in finding.message
    assert finding.fix is not None


@pytest.mark.parametrize("delta_bytes", [50_000, 99_000])
def test_little_is_no_finding(delta_bytes: float) -> None:
    assert not found_by(FILE_MOVED, context_of_delta(change("moved", delta_bytes)))


def test_one_file_is_the_place_of_its_finding() -> None:
    (finding,) = found_by(FILE_STAMPED, context_of_delta(change("timestamp", MB)))
    assert (finding.location.kind, finding.location.path) == ("payload", "usr/x")
    assert finding.message.startswith("1 file differs in a few bytes only, and adds")
