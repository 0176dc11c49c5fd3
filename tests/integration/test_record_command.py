"""Recording real launches, as a user does."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from real_launches import BLOCK, fill_launchable, needs_x
from real_payloads import advisor, interrupt, snap_pack
from snapcraft_compression_advisor.launch.profile import LaunchProfile, read_profile

pytestmark = pytest.mark.bubblewrap

ALL = ((0, 8),)


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    return fill_launchable(tmp_path / "prime")


def record(
    prime: Path, scratch: Path, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    settings = {"TMPDIR": str(scratch), **environment}
    return advisor("record", prime, *arguments, cwd=None, status=None, **settings)


def recorded(
    prime: Path, scratch: Path, *arguments: str | Path, **environment: str
) -> LaunchProfile:
    result = record(
        prime, scratch, "-o", scratch / "launch.json", *arguments, **environment
    )
    assert result.returncode == 0, result.stderr
    profile = read_profile(scratch / "launch.json")
    (scratch / "launch.json").unlink()
    return profile


def blocks(profile: LaunchProfile) -> dict[str, tuple[tuple[int, int], ...]]:
    return {
        file.path.removeprefix("data/"): file.blocks
        for file in profile.files
        if file.path.startswith("data/")
    }


def sleepers(seconds: str) -> set[int]:
    """Return processes that sleep for so long."""
    found = set()
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2] == [
                b"sleep",
                seconds.encode(),
            ]:
                found.add(pid)
    return found


def loop_devices(directory: Path) -> list[str]:
    """Return the files of a directory that are loop devices, deleted or not."""
    found = []
    for place in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            found.append(place.read_text())
    return [path for path in found if path.startswith(str(directory))]


@pytest.mark.mounts
def test_blocks_are_exactly_those_that_a_cold_launch_reads(
    prime: Path, scratch: Path
) -> None:
    profile = recorded(prime, scratch)
    assert profile.source == "residency"
    assert profile.app == "launchy"
    assert blocks(profile) == {"first": ((0, 0),), "middle": ((3, 3),), "whole": ALL}
    assert "bin/launchy" in {file.path for file in profile.files}
    measured = profile.recorded
    assert measured is not None
    assert profile.warm_s == measured.warm_s
    assert measured.cold_s is not None
    assert measured.cold_s > 0
    assert (measured.event, measured.read_ahead_kb) == ("exit", 128)


@pytest.mark.mounts
def test_built_snap_gives_the_same_blocks_as_its_prime_directory(
    prime: Path, scratch: Path, tmp_path: Path
) -> None:
    snap = snap_pack(prime, tmp_path / "packed", compression="xz")
    first = recorded(prime, scratch)
    assert recorded(snap, scratch).files == first.files


@pytest.mark.mounts
def test_what_is_done_once_in_a_new_home_is_left_out(
    prime: Path, scratch: Path
) -> None:
    first_run = ("--app", "first-run")
    assert set(blocks(recorded(prime, scratch, *first_run))) == {"first"}
    without = recorded(prime, scratch, *first_run, "--no-warm-up")
    assert set(blocks(without)) == {"first", "whole"}


@pytest.mark.mounts
def test_home_that_is_named_is_kept(prime: Path, scratch: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    recorded(prime, scratch, "--app", "first-run", "--home", home)
    assert (home / "user/profile").stat().st_size == 8 * BLOCK + 1000


@pytest.mark.mounts
def test_caches_dropped_by_somebody_else_are_noticed(
    prime: Path, scratch: Path
) -> None:
    script = "cat $SNAP/data/whole && sync && echo 3 > /proc/sys/vm/drop_caches"
    result = record(prime, scratch, "--unconfined", "--", "sh", "-c", script)
    assert result.returncode == 69
    assert "dropped the system's caches" in result.stderr


@pytest.mark.mounts
def test_daemon_does_not_survive(prime: Path, scratch: Path) -> None:
    recorded(prime, scratch, "--app", "daemon", "--until", "output:started")
    assert sleepers("4711") == set()


@pytest.mark.mounts
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--app", "crash"), 69, "'bin/crash' ended with status 7"),
        (
            ("--app", "slow", "--timeout", "0.5"),
            69,
            "neither ended nor showed a window within 0.5 s",
        ),
        (("--until", "window", "--display", ":4711"), 69, "display ':4711'"),
        (("--", "no-such-program"), 69, "Cannot start 'no-such-program'"),
        (("--", "--version"), 64, "name the program first: PROGRAM --version"),
        (("--chroot",), 64, "no directory 'run'"),
    ],
)
def test_launch_that_fails_is_one_clear_error(
    prime: Path, scratch: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    result = record(prime, scratch, *arguments, DISPLAY="")
    assert result.returncode == status, result.stderr
    assert said in result.stderr
    assert result.stdout == ""
    assert sleepers("4712") == set()


@pytest.mark.mounts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["Packing", "Launching once", "with cold caches"])
def test_interruption_leaves_nothing(
    prime: Path, scratch: Path, moment: str, number: signal.Signals
) -> None:
    until = "exit" if moment == "Launching once" else "seconds:1"
    words = ("record", prime, "--app", "slow", "--until", until)
    interrupt(*words, at=moment, by=number, TMPDIR=str(scratch))
    assert sleepers("4712") == set()
    assert loop_devices(scratch) == []


@pytest.mark.mounts
def test_advice_takes_the_recorded_launch(
    prime: Path, scratch: Path, tmp_path: Path
) -> None:
    profile = tmp_path / "launch.json"
    assert record(prime, scratch, "-o", profile).returncode == 0
    result = advisor("advise", prime, "--launch-profile", profile, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert '"source": "recorded"' in result.stdout
    assert re.search(r'"cold_s": \d', result.stdout)


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    """Start an X server without a window manager, and return its display."""
    reader, writer = os.pipe()
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24", "-nolisten",
         "tcp"],
        pass_fds=(writer,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    ) as server:  # fmt: skip
        os.close(writer)
        with os.fdopen(reader) as numbers:
            number = numbers.readline().strip()
        yield f":{number}"
        server.terminate()


X_CLIENT = """
import sys, time
from Xlib import X
from Xlib.display import Display
display = Display()
screen = display.screen()
def show(width, height, override):
    window = screen.root.create_window(
        0, 0, width, height, 0, screen.root_depth, X.InputOutput,
        override_redirect=override)
    window.map()
    window.fill_rectangle(window.create_gc(foreground=screen.white_pixel), 9, 9, 9, 9)
    display.sync()
open(sys.argv[1] + "/data/first", "rb", buffering=0).read(1)
show(1, 1, False)
show(50, 50, True)
if sys.argv[2] == "window":
    show(300, 200, False)
time.sleep(600)
"""


@pytest.mark.mounts
@needs_x
def test_launch_ends_with_the_applications_window(
    prime: Path, scratch: Path, display: str
) -> None:
    (prime / "client.py").write_text(X_CLIENT)
    client = (sys.executable, "$SNAP/client.py", "$SNAP/")
    until = ("--unconfined", "--display", display, "--until", "window")
    profile = recorded(prime, scratch, *until, "--", *client, "window")
    assert blocks(profile) == {"first": ((0, 0),)}
    result = record(prime, scratch, *until, "--timeout", "1", "--", *client, "none")
    assert result.returncode == 69
    assert "showed no window within 1 s" in result.stderr


@pytest.mark.mounts
@pytest.mark.namespaces
def test_system_tree_becomes_the_root_directory(prime: Path, scratch: Path) -> None:
    shell = Path("/bin/sh").resolve()
    libraries = re.findall(
        r"(/\S+) \(0x", subprocess.check_output(["ldd", shell], text=True)
    )
    for library in libraries:
        target = prime / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    shutil.copy(shell, prime / "bin/sh")
    for name in ("proc", "dev", "run", "root", "tmp"):
        (prime / name).mkdir()
    script = (
        "read line < /data/first; echo x > $HOME/new && echo x > /root/new && "
        "test -e /proc/self && test -c /dev/null && echo $SNAP $HOME"
    )
    profile = recorded(
        prime, scratch, "--chroot",
        "--until", "output:/ /run/compression-advisor/user",
        "--", "/bin/sh", "-c", script,
    )  # fmt: skip
    paths = {file.path for file in profile.files}
    assert {"bin/sh", "data/first"} <= paths
    assert {library.lstrip("/") for library in libraries} <= paths
