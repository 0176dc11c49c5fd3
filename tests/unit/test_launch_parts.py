"""The parts of an installed snap's launch, from programs that were started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.capture.exec_trace import (
    Exec,
    ExecTrace,
    exec_trace,
    names_our_processes,
)
from snapcraft_compression_advisor.capture.kernel_trace import KernelTrace
from snapcraft_compression_advisor.capture.launch_parts import launch_parts
from snapcraft_compression_advisor.payload.snap_yaml import App

if TYPE_CHECKING:
    from pathlib import Path

APP = App(command="bin/hello --now", command_chain=("bin/launch", "$SNAP/bin/more"))
TRACE = """\
# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            snap-71      [000] .....   100.250000: sched_process_exec: \
filename=/usr/bin/snap pid=71 old_pid=71
     snap update-72      [001] d..2.   100.500000: sched_process_exec: \
filename=/usr/lib/snapd/snap confine pid=72 old_pid=72
"""


def parts(*execs: tuple[int, str]) -> list[tuple[str, float]]:
    """Return parts of processes that become a program every second from 100 s on."""
    events = [Exec(pid, program, 100 + at) for at, (pid, program) in enumerate(execs)]
    found = launch_parts(events, pid=7, started_s=100, app=APP)
    return [(each.part, each.start_s) for each in found]


def test_one_process_becomes_snapds_programs_and_then_the_app() -> None:
    assert parts(
        (7, "/usr/bin/setpriv"),
        (7, "/usr/bin/snap"),
        (7, "/snap/snapd/current/usr/bin/snap"),
        (7, "/usr/lib/snapd/snap-confine"),
        (8, "/usr/lib/snapd/snap-update-ns"),
        (7, "/usr/lib/snapd/snap-exec"),
        (7, "/snap/hello/x1/bin/launch"),
        (7, "/snap/hello/x1/bin/more"),
        (7, "/snap/hello/x1/bin/hello"),
        (7, "/snap/hello/x1/lib/hello-bin"),
    ) == [
        ("snap-run", 0),
        ("snap-confine", 3),
        ("snap-exec", 5),
        ("command-chain", 6),
        ("app", 8),
    ]


def test_app_that_its_command_chain_starts_as_a_child_is_found() -> None:
    assert parts(
        (7, "/usr/bin/snap"),
        (7, "/usr/lib/snapd/snap-confine"),
        (7, "/usr/lib/snapd/snap-exec"),
        (9, "/snap/hello/x1/bin/hello"),
    )[-1] == ("app", 3)


def test_programs_of_others_are_no_parts() -> None:
    assert parts((8, "/usr/bin/snap"), (8, "/snap/hello/x1/bin/hello")) == []


def test_programs_from_before_the_start_are_no_parts() -> None:
    events = [Exec(7, "/usr/bin/snap", 99.0)]
    assert launch_parts(events, pid=7, started_s=100, app=APP) == ()


def test_command_that_no_shell_parses_leaves_the_app_out() -> None:
    events = [Exec(7, "/usr/lib/snapd/snap-exec", 101), Exec(7, "/x", 102)]
    found = launch_parts(events, pid=7, started_s=100, app=App(command="'x"))
    assert [each.part for each in found] == ["snap-exec"]


def test_events_are_read_from_the_kernels_text(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(TRACE)
    assert ExecTrace(KernelTrace(tmp_path)).events() == (
        Exec(71, "/usr/bin/snap", 100.25),
        Exec(72, "/usr/lib/snapd/snap confine", 100.5),
    )


def test_kernel_that_does_not_trace_for_us_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()  # a directory, and no tracefs
    with exec_trace((tmp_path,)) as trace:
        assert trace.events() == ()


def test_process_ids_of_a_container_are_not_the_kernels(tmp_path: Path) -> None:
    ours = tmp_path / "pid"
    ours.touch()
    assert not names_our_processes(ours)
