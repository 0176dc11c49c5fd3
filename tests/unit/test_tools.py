"""Programs that are started, watched and ended."""

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.core import child
from snapcraft_compression_advisor.core.child import (
    HELD_BACK,
    deferred_signals,
    ending_with_us,
    run_child,
)
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    StorageError,
    ToolError,
)
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.squashfs.mksquashfs import run_tool, unpack

_WAITS = "import signal; signal.pause()"


def test_what_a_program_says_and_its_status_are_returned(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd()); sys.stderr.write('e'); sys.exit(3)"
    result = run_child((sys.executable, "-c", code), directory=tmp_path)
    assert result.returncode == 3
    assert (result.stdout, result.stderr) == (f"{tmp_path}\n", "e")


def test_signal_while_a_program_is_started_ends_it(mocker: MockerFixture) -> None:
    started: list[subprocess.Popen[str]] = []

    class Interrupted(subprocess.Popen[str]):
        """What Popen is where Ctrl-C comes before its object is there."""

        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[call-overload] # as they are
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    mocker.patch("subprocess.Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_child((sys.executable, "-c", _WAITS))
    assert started[0].returncode == -signal.SIGTERM


def test_program_ends_with_us_where_we_are_killed() -> None:
    code = (
        "import subprocess; "
        "from snapcraft_compression_advisor.core.child import ending_with_us; "
        f"started = subprocess.Popen(ending_with_us(({sys.executable!r}, '-c', "
        f"{_WAITS!r}))); print(started.pid, flush=True); started.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        descriptor = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended, _, _ = select.select([descriptor], [], [], 30)
    if not ended:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    os.close(descriptor)
    assert ended


def test_missing_program_is_not_hidden_by_what_would_start_it() -> None:
    assert ending_with_us(("no-such-tool", "x")) == ("no-such-tool", "x")
    with pytest.raises(FileNotFoundError):
        run_child(("no-such-tool",))


def test_program_whose_starter_has_ended_is_not_run() -> None:
    script = Path(child.__file__).with_name("bound_start.py")
    command = [sys.executable, str(script), str(os.getpid() + 1), "9", "echo", "run"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == ""


def test_program_that_cannot_be_run_says_so(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    result = run_child((str(program),))
    assert result.returncode == 126
    assert "No such file" in result.stderr


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_failure_shows_the_last_lines_and_the_command() -> None:
    code = "print(*range(20), sep=chr(10)); raise SystemExit(3)"
    with pytest.raises(ToolError, match="failed with exit status 3") as caught:
        run_tool(python(code))
    assert caught.value.details == "\n".join(map(str, range(12, 20)))
    assert sys.executable in str(caught.value.resolution)


def test_death_by_a_signal_is_told() -> None:
    with pytest.raises(ToolError, match="ended by signal 9"):
        run_tool(python("import os; os.kill(os.getpid(), 9)"))


def test_full_disk_is_an_error_of_storage() -> None:
    code = "print('write failed: No space left on device'); raise SystemExit(1)"
    with pytest.raises(StorageError, match="The disk is full"):
        run_tool(python(code))


def test_tool_that_does_not_end_is_ended(mocker: MockerFixture) -> None:
    mocker.patch.object(mksquashfs, "TIME_LIMIT_S", 0)
    with pytest.raises(ToolError, match="was ended after 0 minutes"):
        run_tool(python("import signal; signal.pause()"))


def test_time_of_the_build_does_not_reach_the_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    code = "import os; raise SystemExit('SOURCE_DATE_EPOCH' in os.environ)"
    run_tool(python(code))


def test_interrupted_tool_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    further = (
        f"f = open({str(held)!r}, 'wb'); print(flush=True); "
        "import signal; signal.pause()"
    )
    code = (
        "import os, signal, subprocess, sys; "
        f"started = subprocess.Popen([sys.executable, '-c', {further!r}], "
        "stdout=subprocess.PIPE); started.stdout.readline(); "
        "os.kill(os.getppid(), signal.SIGINT); signal.pause()"
    )
    with pytest.raises(KeyboardInterrupt):
        run_tool(python(code))
    select.select([reading], [], [], 10)
    assert os.read(reading, 1) == b""  # nobody has it open for writing any more
    os.close(reading)


@pytest.mark.parametrize(
    ("says", "error"),
    [
        ("FATAL ERROR: Data queue size is too large", StorageError),
        ("FATAL ERROR: File system corruption detected", BadDataError),
    ],
)
def test_a_machine_that_unsquashfs_refuses_is_no_damaged_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, error: type[Exception]
) -> None:
    (tmp_path / "unsquashfs").write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    (tmp_path / "unsquashfs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(error, match="cannot unpack"):
        unpack(tmp_path / "app.snap", tmp_path / "unpacked")


class TerminatedError(BaseException):
    pass


def terminate(_signal: int, _frame: object) -> None:
    raise TerminatedError


@pytest.fixture(autouse=True)
def handlers_are_put_back() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, terminate)
    handlers = [signal.getsignal(number) for number in HELD_BACK]
    yield
    assert [signal.getsignal(number) for number in HELD_BACK] == handlers
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("number", "error"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, TerminatedError)],
)
def test_signal_is_delivered_at_the_end(
    number: signal.Signals, error: type[BaseException]
) -> None:
    steps = []
    with pytest.raises(error), deferred_signals():  # noqa: PT012 # the order of these steps is what is tried
        signal.raise_signal(number)
        steps.append("set up")
    assert steps == ["set up"]


def test_signal_that_came_first_ends_the_part_that_may_be_interrupted() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), deferred_signals() as signals:  # noqa: PT012 # the order of these steps is what is tried
        signal.raise_signal(signal.SIGINT)
        try:
            with signals.delivered():
                steps.append("not reached")
        finally:
            signal.raise_signal(signal.SIGINT)
            steps.append("taken down")
    assert steps == ["taken down"]


def test_taking_down_after_an_interruption_is_not_interrupted() -> None:
    steps = []
    with pytest.raises(TerminatedError), deferred_signals() as signals:  # noqa: PT012 # the order of these steps is what is tried
        try:
            with signals.delivered():
                signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGTERM)
            steps.append("taken down")
    assert steps == ["taken down"]


def test_nested_parts_deliver_within_both() -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        deferred_signals() as outer,
        outer.delivered(),
        deferred_signals() as inner,
        inner.delivered(),
    ):
        signal.raise_signal(signal.SIGINT)


def test_other_threads_leave_the_handlers_alone() -> None:
    found = []

    def look() -> None:
        with deferred_signals() as signals, signals.delivered():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [terminate]
