"""System calls of real processes, told before they are made."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from snapcraft_compression_advisor.capture import call_notices
from snapcraft_compression_advisor.capture.call_notices import HeldCall, call_filter
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.start import (
    Command,
    LaunchRequest,
    time_launch,
)
from snapcraft_compression_advisor.core.errors import ToolError

READS = """
import os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
os.pread(descriptor, 100, 8192)
os.lseek(descriptor, 4096, os.SEEK_SET)
os.read(descriptor, 50)
"""
SEES = (
    "from test_call_notices import calls; import sys;"
    "print(sorted({call.name for call in calls(('true',))}))"
)

pytestmark = pytest.mark.skipif(
    call_filter() is None, reason="this kernel doesn't report system calls"
)


def calls(words: tuple[str, ...]) -> list[HeldCall]:
    found: list[HeldCall] = []
    launch(words, found.append)
    return found


def launch(words: tuple[str, ...], noticed: Callable[[HeldCall], object]) -> None:
    command = Command(words=words)
    request = LaunchRequest(command=command, event=EXITED, timeout_s=60)
    time_launch(request, Path("/"), noticed=noticed)


def test_reads_are_told_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * 20_000)
    found = calls((sys.executable, "-c", READS, str(tmp_path / "data")))
    lengths = {(call.name, call.arguments[2]) for call in found}
    assert {("pread64", 100), ("read", 50)} <= lengths
    assert 8192 in {call.arguments[3] for call in found if call.name == "pread64"}


def test_every_process_tells_of_its_start_and_end() -> None:
    found = calls(("/bin/sh", "-c", "/bin/true; exec /bin/true"))
    names = [call.name for call in found]
    assert names.count("execve") >= 3
    assert names.count("exit_group") == 2
    assert len({call.thread for call in found}) == 2


def test_process_waits_until_its_end_was_taken_note_of() -> None:
    seen = []

    def look(call: HeldCall) -> None:
        if call.name == "exit_group":
            time.sleep(0.1)
            seen.append(Path(f"/proc/{call.thread}/maps").read_text())

    launch(("/bin/true",), look)
    assert "true" in seen[0]


def test_process_goes_on_where_taking_note_fails() -> None:
    def fail(_: HeldCall) -> None:
        raise ProcessLookupError

    launch(("/bin/true",), fail)


def test_program_that_is_missing_is_told_as_ever() -> None:
    with pytest.raises(ToolError, match="Cannot start '/missing'"):
        calls(("/missing",))


@pytest.mark.parametrize(
    "privileges",
    [
        ("setpriv", "--bounding-set=-all", "--inh-caps=-all"),
        ("unshare", "--user", "--map-root-user"),
    ],
)
def test_no_privilege_is_needed(privileges: tuple[str, ...]) -> None:
    if subprocess.run([*privileges, "true"], check=False).returncode:
        pytest.skip("this user (root?) can't change its privileges")
    result = subprocess.run(
        [*privileges, sys.executable, "-c", SEES],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert "'exit_group'" in result.stdout, result.stderr


def test_launch_goes_on_where_the_kernel_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = call_notices.CallFilter(seccomp=100_000, program=((6, 0, 0, 0),))
    monkeypatch.setattr(call_notices, "call_filter", lambda: wrong)
    assert calls(("/bin/true",)) == []


def test_descriptors_are_closed() -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 # names suffice
    calls(("/bin/true",))
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 # as above


@pytest.mark.parametrize(
    ("machine", "release"),
    [("x86_64", "5.4.0-100-generic"), ("m68k", "6.8"), ("x86_64", "unknown")],
)
def test_other_kernels_have_no_filter(machine: str, release: str) -> None:
    assert call_filter(machine, release) is None
