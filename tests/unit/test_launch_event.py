"""When a launch ends, and of which programs it consists."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.launch_event import (
    LOOK_S,
    PAUSE_S,
    LaunchState,
    usual_event,
    window_doubt,
    window_mapped,
)
from snapcraft_compression_advisor.capture.record_installed import (
    exec_trace,
    launch_parts,
    names_our_processes,
)
from snapcraft_compression_advisor.capture.start import Launched
from snapcraft_compression_advisor.payload.snap_yaml import App

if TYPE_CHECKING:
    from pathlib import Path
    from unittest.mock import MagicMock

    from pytest_mock import MockerFixture


BLOCK = 128 * 1024


@pytest.fixture
def sight(mocker: MockerFixture) -> MagicMock:
    """Return what a watch sees of windows: nothing yet."""
    found = mocker.patch("snapcraft_compression_advisor.capture.x11.WindowSight")
    mocker.patch("snapcraft_compression_advisor.capture.x11.open_display")
    found.return_value.look.return_value = "none"
    look: MagicMock = found.return_value.look
    return look


@pytest.fixture
def state(mocker: MockerFixture) -> LaunchState:
    """Return a launch whose processes have read nothing."""
    return LaunchState(
        elapsed_s=0, lines=(), exit_status=None, tree=tree_of(mocker, {1})
    )


def tree_of(mocker: MockerFixture, pids: set[int]) -> MagicMock:
    """Return processes that have read nothing."""
    tree: MagicMock = mocker.MagicMock()
    tree.process_ids.return_value, tree.read_bytes.return_value = pids, 0
    tree.waits_for_storage.return_value = False
    return tree


def test_of_window_and_exit_that_which_is_first_counts(
    sight: MagicMock, state: LaunchState
) -> None:
    event = usual_event(has_desktop_file=False, has_display=True)
    with event.watching() as watch:
        assert watch.happened_s(state) is None
        assert watch.happened_s(replace(state, exit_status=3)) is None
        assert watch.happened_s(replace(state, exit_status=0, elapsed_s=2)) == 2
        assert watch.name == "exit"
        sight.return_value = "drawn"
        assert watch.happened_s(replace(state, elapsed_s=3)) is None
        assert watch.happened_s(replace(state, elapsed_s=3 + PAUSE_S)) == 3
        assert (watch.name, watch.window) == ("window", "drawn")


def test_launch_ends_when_reading_has_paused_after_the_first_content(
    sight: MagicMock, state: LaunchState, mocker: MockerFixture
) -> None:
    tree = tree_of(mocker, {1})
    state = replace(state, tree=tree)
    with window_mapped().watching() as watch:
        sight.return_value = "blank"
        assert watch.happened_s(replace(state, elapsed_s=1)) is None
        assert watch.happened_s(replace(state, elapsed_s=9)) is None
        sight.return_value = "drawn"
        tree.cpu_s.return_value = (1.0, 0.0)
        assert watch.happened_s(replace(state, elapsed_s=10)) is None
        tree.read_bytes.return_value, tree.cpu_s.return_value = BLOCK, (2.0, 0.0)
        assert watch.happened_s(replace(state, elapsed_s=10.25)) is None
        tree.read_bytes.return_value += BLOCK - 1
        tree.cpu_s.return_value = (3.0, 0.0)
        assert watch.happened_s(replace(state, elapsed_s=10.5)) is None
        assert watch.next_look_s(10.5) == 10.5 + LOOK_S
        tree.waits_for_storage.return_value = True
        assert watch.happened_s(replace(state, elapsed_s=10.25 + PAUSE_S)) is None
        tree.waits_for_storage.return_value = False
        assert watch.happened_s(replace(state, elapsed_s=10.25 + PAUSE_S)) == 10.25
        assert (watch.window, watch.cpu_s) == ("drawn", (2.0, 0.0))


def test_content_that_is_gone_at_once_does_not_count(
    sight: MagicMock, state: LaunchState
) -> None:
    looks = {1.0: "drawn", 1.1: "blank", 2.0: "blank", 3.0: "drawn", 3.3: "drawn"}
    with window_mapped().watching() as watch:
        for elapsed_s, sight.return_value in looks.items():
            assert watch.happened_s(replace(state, elapsed_s=elapsed_s)) is None
        sight.return_value = "blank"  # the cursor blinks
        assert watch.happened_s(replace(state, elapsed_s=3.5)) == 3


def test_app_that_reads_on_after_its_first_content_is_launched_after_a_while(
    sight: MagicMock, state: LaunchState, mocker: MockerFixture
) -> None:
    tree = tree_of(mocker, {1})
    tree.read_bytes.side_effect = count(0, BLOCK)
    sight.return_value = "drawn"
    with window_mapped().watching() as watch:
        for elapsed_s in range(1, 11):
            assert watch.happened_s(replace(state, tree=tree, elapsed_s=elapsed_s)) is (
                None
            )
        assert watch.happened_s(replace(state, tree=tree, elapsed_s=11)) == 11
    assert watch.window == "reading"
    assert "went on reading for 10 s" in (window_doubt(watch.window) or "")


def test_window_that_stays_blank_ends_the_launch_at_the_time_limit(
    sight: MagicMock, state: LaunchState
) -> None:
    sight.return_value = "blank"
    with window_mapped().watching() as watch:
        assert watch.missed == "showed no window"
        assert watch.happened_s(replace(state, elapsed_s=2)) is None
        assert watch.missed == "showed a window that stayed blank"
        assert watch.happened_s(replace(state, elapsed_s=60, is_last=True)) == 2
    assert (watch.name, watch.window) == ("window", "blank")


def test_app_that_ends_after_its_first_content_is_launched(
    sight: MagicMock, state: LaunchState, mocker: MockerFixture
) -> None:
    sight.return_value = "drawn"
    gone = replace(state, exit_status=0, tree=tree_of(mocker, set()))
    for ended in (replace(state, exit_status=1), gone):
        with window_mapped().watching() as watch:
            assert watch.happened_s(ended) == 0
            assert watch.window == "drawn"


APP = App.model_validate(
    {
        "command": "bin/hello --now",
        "command-chain": ["bin/launch", "$SNAP/bin/more"],
    }
)
LINE = (
    " snap update-{pid}  [001] d..2. {at}: sched_process_exec: "
    "filename={program} pid={pid} old_pid={pid}\n"
)


def parts(
    *execs: tuple[int, str], app: App = APP, first_s: float = 100
) -> list[tuple[str, float]]:
    """Return parts of processes that become a program every second, from 100 s on."""
    trace = "# tracer: nop\n" + "".join(
        LINE.format(pid=pid, program=program, at=f"{first_s + number:.6f}")
        for number, (pid, program) in enumerate(execs)
    )
    launched = Launched(
        event="exit", wall_s=9, user_s=0, system_s=0, pid=7, started_s=100
    )
    return [(each.part, each.start_s) for each in launch_parts(trace, launched, app)]


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
    assert parts((7, "/usr/bin/snap"), first_s=99) == []


def test_command_that_no_shell_parses_leaves_the_app_out() -> None:
    execs = (7, "/usr/lib/snapd/snap-exec"), (7, "/x")
    assert parts(*execs, app=App(command="'x")) == [("snap-exec", 0)]


def test_kernel_that_does_not_trace_for_us_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()  # a directory, and no tracefs
    with exec_trace((tmp_path,)) as traced:
        assert traced() == ""


def test_process_ids_of_a_container_are_not_the_kernels(tmp_path: Path) -> None:
    ours = tmp_path / "pid"
    ours.touch()
    assert not names_our_processes(ours)
