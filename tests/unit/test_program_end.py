"""How a run ends that a signal or a lack of memory ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from craft_cli import emit

from snapcraft_compression_advisor.cli import main as program

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _log_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_during_the_work_ends_it_with_its_status(
    number: signal.Signals, mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    mocker.patch.object(
        program, "_dispatch", side_effect=lambda _: signal.raise_signal(number)
    )
    assert program.main([]) == 128 + number
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_before_the_work_prevents_it(
    number: signal.Signals, mocker: MockerFixture
) -> None:
    start = program._start_emitter

    def interrupted() -> None:
        signal.raise_signal(number)
        start()

    mocker.patch.object(program, "_start_emitter", interrupted)
    dispatch = mocker.patch.object(program, "_dispatch")
    assert program.main([]) == 128 + number
    dispatch.assert_not_called()


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_after_the_work_changes_nothing(
    number: signal.Signals, mocker: MockerFixture
) -> None:
    end = emit.ended_ok

    def interrupted() -> None:
        signal.raise_signal(number)
        end()

    mocker.patch.object(emit, "ended_ok", interrupted)
    mocker.patch.object(program, "_dispatch", return_value=os.EX_OK)
    assert program.main([]) == os.EX_OK


def test_caller_gets_its_handlers_back(mocker: MockerFixture) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    mocker.patch.object(program, "_dispatch", return_value=os.EX_OK)
    program.main([])
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("x.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    ],
)
def test_lack_of_memory_is_said_to_be_one(
    error: Exception, mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    mocker.patch.object(program, "_dispatch", side_effect=error)
    assert program.main([]) == os.EX_OSERR
    assert "Not enough memory" in capsys.readouterr().err


def test_error_is_said_even_where_there_is_no_memory_for_more(
    mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    mocker.patch.object(program, "_dispatch", side_effect=MemoryError)
    mocker.patch.object(emit, "error", side_effect=MemoryError)
    assert program.main([]) == os.EX_OSERR
    assert "Not enough memory" in capsys.readouterr().err
    emit.ended_ok()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [(["--version"], 0, "compression-advisor 0."), (["rule", "SCA9"], 64, "")],
)
def test_process_ends_with_the_status_when_all_is_written(
    arguments: list[str], status: int, said: str
) -> None:
    code = (
        "import atexit, sys; from snapcraft_compression_advisor.cli.main import run; "
        f"atexit.register(print, 'last'); sys.argv[1:] = {arguments!r}; run()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == status
    assert result.stdout.startswith(said)
    assert result.stdout.endswith("last\n")
