"""Programs that are run, and that never outlive us."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core import child
from snapcraft_compression_advisor.core.child import ending_with_us, run_child

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

_WAITS = "import signal; signal.pause()"


def test_what_a_program_says_and_its_status_are_returned(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd()); sys.stderr.write('e'); sys.exit(3)"
    result = run_child((sys.executable, "-c", code), directory=tmp_path)
    assert result.returncode == 3
    assert (result.stdout, result.stderr) == (f"{tmp_path}\n", "e")


ORPHAN = """
import os
ended, tell = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.read(ended, 1)
        os._exit(0)
    os._exit(0)
os.wait()
os.write(tell, b".")
os.wait()
"""


def test_a_program_reaps_its_orphans_itself() -> None:
    # As fakeroot must, which waits for its daemon's end: in some containers nobody
    # else would reap it.
    result = run_child((sys.executable, "-c", ORPHAN))
    assert (result.returncode, result.stderr) == (0, "")


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
