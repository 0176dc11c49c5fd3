"""Timings of snapd: the text that its commands printed, and what reports show of it.

The tables were printed by snapd 2.57 of Debian 12, under ``script/try-snapd``.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from analyses import make_analysis
from reports import full_page, full_text
from snapcraft_compression_advisor.capture.snapd_timings import (
    SnapdTimings,
    read_snapd_timings,
)
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.report.advise_json import advise_json
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.report.text_printer import print_text

TASKS = """\
ID   Status        Doing      Undoing  Summary
42   Done           92ms            -  Ensure prerequisites for "calc" are available
43   Done           91ms            -  Prepare snap "/var/lib/snapd/snaps/.local-install-73336495" (unset)
44   Done        21157ms            -  Mount snap "calc" (unset)
 ^                1692ms            -    check snap "calc"
 ^               19069ms            -    setup snap "calc"
45   Done          156ms            -  Copy snap "calc" data
55   Done        11864ms            -  Setup snap "calc" (x1) security profiles for auto-connections
 ^                  20ms            -    setup security backend "dbus" for snap "snapd"
56   Done          254ms            -  Connect calc:x11 to snapd:x11
49   Done          358ms            -  Set automatic aliases for snap "calc"
57   Doing             -            -  Run configure hook of "calc" snap if present

"""  # noqa: E501 # as printed

LABELLED = """\
ID   Status        Doing      Undoing  Label                         Summary
44   Done        21157ms            -  mount-snap                    Mount snap "calc" (unset)
 ^                1692ms            -  check-snap                      check snap "calc"
"""  # noqa: E501 # as printed

CHANGES = """\
ID   Status  Spawn                 Ready                 Summary
3    Doing   2026-11-23T02:00:23Z  -                     Initialize device
5    Done    2026-11-23T02:03:28Z  2026-11-23T02:04:13Z  Install "gtk3" snap from file "gtk3.snap"
6    Done    2026-11-23T02:04:14Z  2026-11-23T03:05:08+01:00  Install "calc" snap from file "calc.snap"

"""  # noqa: E501 # as printed

RUN = """\
Slowest 4 exec calls during snap run:
  0.181s snap-update-ns
  1.530s /usr/lib/snapd/snap-confine
  0.086s /usr/lib/snapd/snap-exec
  4.250s /snap/calc/x1/usr/bin/calc
Total time: 6.270s
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "timings.txt"


def read(file: Path, text: str, snap: str = "calc") -> SnapdTimings:
    file.write_text(text)
    return read_snapd_timings([file], snap=snap)


def test_the_tasks_of_a_change_are_read_with_their_seconds(file: Path) -> None:
    timings = read(file, TASKS)
    assert [(task.id, task.seconds) for task in timings.tasks] == [
        ("42", 0.092),
        ("43", 0.091),
        ("44", 21.157),
        ("45", 0.156),
        ("55", 11.864),
        ("56", 0.254),
        ("49", 0.358),
    ]
    assert timings.tasks[2].summary == 'Mount snap "calc" (unset)'


def test_labels_of_verbose_output_are_the_kinds_of_tasks(file: Path) -> None:
    (task,) = read(file, LABELLED).tasks
    assert (task.kind, task.summary) == ("mount-snap", 'Mount snap "calc" (unset)')


def test_a_change_takes_from_its_spawning_to_its_readiness(file: Path) -> None:
    (change,) = read(file, CHANGES).changes
    assert (change.id, change.seconds) == ("6", 54.0)


def test_tables_of_several_commands_may_follow_each_other(file: Path) -> None:
    timings = read(file, f"$ snap changes --abs-time\n{CHANGES}\n{TASKS}{RUN}")
    assert len(timings.changes) == 1
    assert len(timings.tasks) == 7
    assert timings.run_s == 6.27
    assert [each.program for each in timings.programs][:2] == [
        "snap-update-ns",
        "/usr/lib/snapd/snap-confine",
    ]


def test_a_parallel_instance_is_a_snap_of_its_name(file: Path) -> None:
    timings = read(file, TASKS.replace('"calc"', '"calc_old"'))
    assert len(timings.tasks) == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no timings of snapd"),
        ("ID   Status        Doing      Undoing  Summary\n\n", "no timings of snapd"),
        ("\0\1\xff" * 999, "has no timings of snapd"),
        (TASKS.replace("calc", "other"), "has no timings of snap 'calc'"),
        (CHANGES.replace("calc", "other"), "has no timings of snap 'calc'"),
        (
            CHANGES.replace("2026-11-23T02:03:28Z", "today at 02:03 UTC"),
            "no times to the second",
        ),
        ("x" * 1024 * 1025, "more than 1 MiB"),
    ],
)
def test_what_has_no_timings_of_the_snap_is_refused(
    file: Path, text: str, said: str
) -> None:
    with pytest.raises(BadDataError, match=said) as caught:
        read(file, text)
    assert caught.value.resolution


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(NoInputError, match=r"timings\.txt"):
        read_snapd_timings([file], snap="calc")


def test_the_report_shows_them_beside_the_estimates(file: Path) -> None:
    timings = read(file, CHANGES + TASKS + RUN)
    report = json.loads(advise_json(make_analysis(), timings=timings))
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert report["installation"]["tasks"][2]["seconds"] == 21.157
    page = full_page(make_analysis(), timings=timings)
    text = print_text(page, FILE_STYLE.with_all())
    shown = text[text.index("Installation, as") :]
    assert 'Install "calc" snap from file "calc.snap" 54 s' in " ".join(shown.split())
    assert "34.0 s" in shown
    assert "Estimated for" in text


def test_a_report_without_timings_has_no_such_section() -> None:
    assert "snapd measured" not in full_text(make_analysis())
    assert json.loads(advise_json(make_analysis()))["installation"] is None
