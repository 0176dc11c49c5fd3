"""Launches if there is no display, as a user starts them."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from real_launches import bring_xlib, fill_launchable, needs_x
from real_payloads import advisor
from snapcraft_compression_advisor.capture.servers import virtual_display
from snapcraft_compression_advisor.core.scratch import remove_leftovers
from snapcraft_compression_advisor.launch.profile import LaunchProfile, read_profile

pytestmark = [needs_x, pytest.mark.bubblewrap]
SHOWS_WINDOW = """
import sys, time
from Xlib.display import Display
display = Display()
screen = display.screen()
window = screen.root.create_window(0, 0, 300, 200, 0, screen.root_depth)
window.map()
window.fill_rectangle(window.create_gc(foreground=screen.white_pixel), 9, 9, 9, 9)
display.sync()
print("shown", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have no display, and see that no server and no file is left."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setenv("DISPLAY", "")
    yield directory
    assert list(directory.iterdir()) == []
    assert servers(directory) == set()


def servers(scratch: Path) -> set[int]:
    """Return X servers whose key is below a directory."""
    found = set()
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"Xvfb\0" in line and os.fsencode(scratch) in line:
                found.add(pid)
    return found


def windowed_prime(tmp_path: Path) -> Path:
    """Make a snap whose app has a window and no desktop file.

    It brings its modules: a Python of a home isn't seen by an isolated launch.
    """
    prime = fill_launchable(tmp_path / "prime")
    (prime / "client.py").write_text(SHOWS_WINDOW)
    (prime / "bin/launchy").write_text(
        '#!/bin/sh\nPYTHONPATH=$SNAP exec /usr/bin/python3 "$SNAP/client.py"\n'
    )
    bring_xlib(prime)
    return prime


def recorded(prime: Path, *arguments: str) -> LaunchProfile:
    output = prime.parent / "launch.json"
    result = advisor("record", prime, "--method", "directory", "-o", output, *arguments)
    assert result.returncode == 0, result.stderr
    assert "Xvfb" in result.stderr
    return read_profile(output)


def test_record_brings_a_display_and_sees_the_window_of_an_app_without_desktop_file(
    tmp_path: Path,
) -> None:
    profile = recorded(windowed_prime(tmp_path))
    assert profile.recorded is not None
    assert profile.recorded.event == "window"
    assert "client.py" in {file.path for file in profile.files}


def test_app_that_exits_without_a_window_is_launched_then(tmp_path: Path) -> None:
    profile = recorded(fill_launchable(tmp_path / "prime"))
    assert profile.recorded is not None
    assert profile.recorded.event == "exit"


def test_app_that_fails_before_a_window_is_an_error(tmp_path: Path) -> None:
    prime = fill_launchable(tmp_path / "prime")
    result = advisor("record", prime, "--app", "crash", status=os.EX_UNAVAILABLE)
    assert "'bin/crash' ended with status 7\n" in result.stderr


def test_where_no_display_can_be_brought_one_line_names_the_package(
    tmp_path: Path,
) -> None:
    prime = fill_launchable(tmp_path / "prime")
    result = advisor("record", prime, "--until", "window", PATH="/nowhere")
    assert result.returncode == os.EX_UNAVAILABLE
    assert "There is no display on which" in result.stderr
    assert "sudo apt-get install xvfb" in result.stderr


@pytest.mark.mounts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_server_ends_with_the_command_however_that_ends(
    tmp_path: Path, scratch: Path, number: signal.Signals
) -> None:
    prime = fill_launchable(tmp_path / "prime")
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "measure"]
    with subprocess.Popen(
        [*command, str(prime), "--app", "slow", "--until", "output:sleeping",
         "--codec", "xz", "--runs", "1000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Packing"):
                break
        found = servers(scratch)
        descriptors = [os.pidfd_open(server) for server in found]
        process.send_signal(number)
        process.stderr.read()
    assert len(found) == 1
    ended, _, _ = select.select(descriptors, [], [], 20)
    os.close(descriptors[0])
    assert ended
    if number is signal.SIGKILL:  # as the next run does, of root's with a mounted home
        assert list(scratch.iterdir())
        remove_leftovers(scratch)
        assert str(scratch) not in Path("/proc/self/mounts").read_text()


def test_display_is_for_those_who_have_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    look = [sys.executable, "-c", "from Xlib.display import Display; Display()"]
    with virtual_display():
        assert os.environ["DISPLAY"].startswith(":")
        subprocess.run(look, check=True, capture_output=True)
        with monkeypatch.context() as context:
            context.setenv("XAUTHORITY", os.devnull)
            refused = subprocess.run(look, check=False, capture_output=True)
            assert refused.returncode != 0
    assert os.environ["DISPLAY"] == ""
