"""Launches that end with a window, on a real display."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from real_launches import needs_x
from snapcraft_compression_advisor.capture import launch_event
from snapcraft_compression_advisor.capture.launch_event import window_mapped
from snapcraft_compression_advisor.capture.servers import virtual_display
from snapcraft_compression_advisor.capture.start import (
    Command,
    LaunchRequest,
    time_launch,
)
from snapcraft_compression_advisor.launch.launch_set import WindowEnd

pytestmark = needs_x

CLIENT = """
import os, sys, threading, time
from Xlib.display import Display
display = Display()
screen = display.screen()
window = screen.root.create_window(
    0, 0, 600, 400, 0, screen.root_depth, background_pixel=0xEEEEEE)
window.map()
display.sync()
def draw():
    open(sys.argv[1] + "/drawing", "w").close()
    gc = window.create_gc(foreground=0x2020FF)
    window.fill_rectangle(gc, 300, 350, 8, 8)
    display.sync()
def paint():
    window.clear_area()
    display.sync()
def wait():
    time.sleep(600)
def load():
    data = os.open(sys.executable, os.O_RDONLY)
    while True:
        os.posix_fadvise(data, 0, 0, os.POSIX_FADV_DONTNEED)
        os.pread(data, 1 << 20, 0)
"""
"""Maps a window of one color, then does what is added."""


@pytest.fixture(autouse=True)
def _display() -> Iterator[None]:
    with virtual_display():
        yield


def ended(place: Path, steps: str, *, timeout_s: float = 60) -> WindowEnd | None:
    """Launch the client, and return what its window showed in the end."""
    source = place / "client.py"
    source.write_text(CLIENT + steps)
    command = Command(
        words=(sys.executable, str(source), str(place)),
        environment={"PYTHONPATH": ":".join(sys.path)},
    )
    event = window_mapped()
    request = LaunchRequest(command=command, event=event, timeout_s=timeout_s)
    return time_launch(request, place).window


def test_launch_ends_with_what_is_drawn_in_a_window_not_with_the_empty_window(
    tmp_path: Path,
) -> None:
    steps = "for _ in range(20): paint(); time.sleep(0.02)\ndraw(); wait()"
    assert ended(tmp_path, steps) == "drawn"
    assert (tmp_path / "drawing").exists()


def test_window_that_never_draws_ends_the_launch_at_the_time_limit(
    tmp_path: Path,
) -> None:
    assert ended(tmp_path, "wait()", timeout_s=1.5) == "blank"


def test_app_that_draws_at_once_and_loads_on_is_launched_though_it_reads(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(launch_event, "READING_MAX_S", 1.0)
    assert ended(tmp_path, "draw(); load()") == "reading"
