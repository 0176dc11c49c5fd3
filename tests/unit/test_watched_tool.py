"""Runs of a tool that is watched, and ended with us."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING, NoReturn

import pytest

from snapcraft_compression_advisor.core import child
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.squashfs.mksquashfs import run_watched

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def nothing(_written_bytes: int) -> None:
    """Take no notice."""


def test_status_that_is_accepted_is_no_failure() -> None:
    run_watched(python("raise SystemExit(2)"), watch=nothing, accepted=(0, 2))


def test_failure_shows_the_last_lines_and_the_command() -> None:
    code = "print(*range(20), sep=chr(10)); raise SystemExit(3)"
    with pytest.raises(ToolError, match="failed with exit status 3") as caught:
        run_watched(python(code), watch=nothing)
    assert caught.value.details == "\n".join(map(str, range(12, 20)))
    assert sys.executable in str(caught.value.resolution)


def test_death_by_a_signal_is_told() -> None:
    with pytest.raises(ToolError, match="ended by signal 9"):
        run_watched(python("import os; os.kill(os.getpid(), 9)"), watch=nothing)


def test_full_disk_is_an_error_of_storage() -> None:
    code = "print('write failed: No space left on device'); raise SystemExit(1)"
    with pytest.raises(StorageError, match="The disk is full"):
        run_watched(python(code), watch=nothing)


def test_tool_that_does_not_end_is_ended(mocker: MockerFixture) -> None:
    mocker.patch.object(mksquashfs, "TIME_LIMIT_S", 0)
    with pytest.raises(ToolError, match="was ended after 0 minutes"):
        run_watched(python("import signal; signal.pause()"), watch=nothing)


def test_missing_program_is_named() -> None:
    with pytest.raises(ToolError, match="no-such-tool is not installed"):
        run_watched(("no-such-tool",), watch=nothing)


def test_time_of_the_build_does_not_reach_the_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    code = "import os; raise SystemExit('SOURCE_DATE_EPOCH' in os.environ)"
    run_watched(python(code), watch=nothing)


def test_tool_is_watched_while_it_runs(mocker: MockerFixture, tmp_path: Path) -> None:
    mocker.patch.object(child, "_POLL_S", 0.01)
    go = tmp_path / "go"
    os.mkfifo(go)
    seen: list[int] = []

    def watch(written_bytes: int) -> None:
        seen.append(written_bytes)
        if written_bytes >= 5000 and len(seen) < 1000:
            go.write_bytes(b"x")  # waits for the reader
            seen.extend([0] * 1000)

    code = f"print('x' * 5000, flush=True); open({str(go)!r}, 'rb').read()"
    run_watched(python(code), watch=watch)
    assert max(seen) >= 5000


def test_interrupted_tool_is_ended_with_all_that_it_started(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch.object(child, "_POLL_S", 0.01)
    started = tmp_path / "started"
    code = (
        "import pathlib, signal, subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; "
        "signal.pause()']); "
        f"pathlib.Path({str(started)!r}).write_text(str(child.pid)); signal.pause()"
    )

    children: list[int] = []

    def interrupt(_written_bytes: int) -> None:
        if started.exists() and started.read_text():
            children.append(os.pidfd_open(int(started.read_text())))
            _interrupt()

    with pytest.raises(KeyboardInterrupt):
        run_watched(python(code), watch=interrupt)
    ended, _, _ = select.select(children, [], [], 10)
    assert ended == children
    os.close(children[0])


def _interrupt() -> NoReturn:
    raise KeyboardInterrupt
