"""Events that end a launch, and the windows of an X server."""

from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from pytest_mock import MockerFixture
from Xlib import X
from Xlib.error import BadWindow, ConnectionClosedError

from snapcraft_compression_advisor.capture import x11
from snapcraft_compression_advisor.capture.launch_event import (
    LOOK_S,
    PAUSE_S,
    LaunchState,
    usual_event,
    window_doubt,
    window_mapped,
)
from snapcraft_compression_advisor.capture.x11 import Sight, WindowSight, open_display
from snapcraft_compression_advisor.core.errors import ToolError

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


OURS, THEIRS = 100, 200
SPLASH, KIND = 1, 2
ATOMS = {"_NET_WM_WINDOW_TYPE_SPLASH": SPLASH, "_NET_WM_WINDOW_TYPE": KIND}


class FakeDisplay:
    """A display whose windows belong to clients as a test says."""

    def __init__(self, mocker: MockerFixture) -> None:
        self.mocker = mocker
        self.clients: dict[int, int | None] = {}
        self.events: list[SimpleNamespace] = []
        formats = [SimpleNamespace(depth=24, bits_per_pixel=32)]
        info = SimpleNamespace(pixmap_formats=formats)
        self.display = SimpleNamespace(info=info)

    def __getattr__(self, name: str) -> MagicMock:
        """Take all other calls."""
        found: MagicMock = self.mocker.MagicMock()
        setattr(self, name, found)
        return found

    def screen_count(self) -> int:
        return 1

    def intern_atom(self, name: str) -> int:
        return ATOMS[name]

    def has_extension(self, _name: str) -> bool:
        return True

    def res_query_client_ids(self, specs: list[dict[str, int]]) -> SimpleNamespace:
        client = self.clients[specs[0]["client"]]
        value = [] if client is None else [client]
        return SimpleNamespace(ids=[SimpleNamespace(value=value)])

    def pending_events(self) -> int:
        return len(self.events)

    def next_event(self) -> SimpleNamespace:
        return self.events.pop(0)

    def show(self, *, client: int | None = OURS, **properties: Any) -> SimpleNamespace:  # noqa: ANN401 # of all types
        """Have a client create a window, and map it."""
        number = len(self.clients) + 10
        self.clients[number] = client
        kinds = properties.get("kinds")
        values = {KIND: kinds}
        window = self.mocker.MagicMock(id=number)
        window.get_attributes.return_value = SimpleNamespace(
            map_state=properties.get("state", X.IsViewable),
            win_class=X.InputOutput,
            override_redirect=False,
        )
        size = properties.get("size", 100)
        root = self.mocker.MagicMock()
        root.get_geometry.return_value = SimpleNamespace(width=1280, height=1024)
        place = properties.get("place", (0, 0))
        root.translate_coords.return_value = SimpleNamespace(x=place[0], y=place[1])
        window.get_geometry.return_value = SimpleNamespace(
            width=size, height=100, root=root
        )
        drawn = properties.get("drawn", (0, 0))

        def image(x: int, y: int, width: int, height: int, *_: int) -> SimpleNamespace:
            pixels = bytearray(b"   \0" * width * height)
            column, row = drawn[0] - x, drawn[1] - y
            if 0 <= column < width and 0 <= row < height:
                pixels[4 * (row * width + column)] = 0
            pixels[3] = 0xFF  # belongs to no color
            return SimpleNamespace(depth=24, data=bytes(pixels))

        window.get_image.side_effect = image
        window.get_full_property.side_effect = lambda key, _: (
            SimpleNamespace(value=values[key]) if values[key] else None
        )
        override = properties.get("override", False)
        event = SimpleNamespace(type=X.CreateNotify, window=window, override=override)
        self.events += [event, SimpleNamespace(type=X.MapNotify, window=window)]
        return SimpleNamespace(window=window)


@pytest.fixture
def display(mocker: MockerFixture) -> FakeDisplay:
    return FakeDisplay(mocker)


def seen(display: FakeDisplay) -> bool:
    return look(WindowSight(display)) == "drawn"  # type: ignore[arg-type] # a fake


def look(sight: WindowSight) -> Sight:
    return sight.look(lambda: {OURS})


def test_window_of_the_application_counts(display: FakeDisplay) -> None:
    assert not seen(display)
    display.show()
    assert seen(display)


@pytest.mark.parametrize(
    "properties",
    [
        {"client": THEIRS},
        {"size": 1},
        {"state": X.IsUnviewable},
        {"override": True},
        {"kinds": [SPLASH]},
    ],
)
def test_other_windows_do_not_count(
    display: FakeDisplay, properties: dict[str, Any]
) -> None:
    display.show(**properties)
    assert not seen(display)
    display.show(**properties)
    display.show(kinds=[SPLASH + 100])
    assert seen(display)


def test_client_that_cannot_be_identified_is_taken_for_ours(
    display: FakeDisplay,
) -> None:
    display.show(client=None)
    assert seen(display)


def test_window_that_is_gone_again_does_not_count(display: FakeDisplay) -> None:
    window = display.show().window
    window.get_attributes.side_effect = _bad_window()
    assert not seen(display)
    destroyed = display.show().window
    display.events.append(SimpleNamespace(type=X.DestroyNotify, window=destroyed))
    assert not seen(display)


def test_window_framed_later_by_a_window_manager_counts(display: FakeDisplay) -> None:
    sight = WindowSight(display)  # type: ignore[arg-type] # a fake
    window = display.show(state=X.IsUnviewable).window
    assert look(sight) == "none"
    window.change_attributes.assert_called_once_with(event_mask=X.StructureNotifyMask)
    window.get_attributes.return_value.map_state = X.IsViewable
    display.events.append(SimpleNamespace(type=X.MapNotify, window=window))
    assert look(sight) == "drawn"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"drawn": (99, 99)}, "drawn"),
        ({"drawn": (99, 99), "place": (-99, -99)}, "blank"),  # its only pixel there
        ({"drawn": (99, 99), "place": (-98, -98)}, "drawn"),
        ({"drawn": (20, 20), "place": (1270, 0)}, "blank"),
        ({"place": (1280, 0)}, "blank"),
        ({"drawn": (None, None)}, "blank"),
    ],
)
def test_window_has_content_if_the_screen_shows_it_in_two_colors(
    display: FakeDisplay, properties: dict[str, Any], expected: Sight
) -> None:
    drawn = properties.pop("drawn", (0, 0))
    display.show(drawn=(-1, -1) if drawn[0] is None else drawn, **properties)
    assert look(WindowSight(display)) == expected  # type: ignore[arg-type] # a fake


def test_server_that_goes_away_is_an_error(
    display: FakeDisplay, mocker: MockerFixture
) -> None:
    sight = WindowSight(display)  # type: ignore[arg-type] # a fake
    error = ConnectionClosedError("server")
    mocker.patch.object(display, "pending_events", side_effect=error)
    with pytest.raises(ToolError, match="was lost"):
        sight.look(set)


def test_server_that_begins_anew_is_asked_again(mocker: MockerFixture) -> None:
    mocker.patch.object(x11, "_RETRY_S", 0)
    connection = mocker.MagicMock()
    close: MagicMock = connection.close
    connect = mocker.patch.object(
        x11,
        "Display",
        side_effect=[ConnectionClosedError("server"), ConnectionResetError, connection],
    )
    with open_display(":7") as opened:
        assert opened is connection
        assert not close.called
    assert close.called
    mocker.patch.object(x11, "RESET_TIMEOUT_S", 0)
    connect.side_effect = ConnectionClosedError("server")
    with pytest.raises(ToolError, match="display ':7'"), open_display(":7"):
        pass


def _bad_window() -> BadWindow:
    error = BadWindow.__new__(BadWindow)
    error._data = {}
    return error
