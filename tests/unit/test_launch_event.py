"""When a launch ends."""

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

if TYPE_CHECKING:
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
