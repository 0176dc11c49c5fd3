"""Every command, with FIFOs, devices and sockets instead of files.

The command lines are made from the table of commands: a new one is tried too.
"""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest
from craft_cli import emit

from command_table import ArgumentText, CommandText, read_commands
from real_payloads import fill_prime
from snapcraft_compression_advisor.cli.main import main

LIMIT_S = 60
"""Of the processor or not: far less than for ever."""
WRITTEN = {"--output", "--write-baseline", "--also", "--report", "--write", "--fix"}
STARTS = {"--command-word"}
REQUIRED = {
    "calibrate": ["--blocks=none"],
    "fleet": ["--output=data", "--processes=1"],
    "fleet report": ["--output=page.md"],
    "measure": ["--app=none"],
    "record": ["--app=none"],
    "set": ["--compression=lzo"],
}
COMMANDS = [pytest.param(each, id=each.name) for each in read_commands()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with what may be opened but doesn't end, and a payload."""
    folder = tmp_path_factory.mktemp("special")
    fill_prime(folder / "prime")
    os.mkfifo(folder / "fifo")
    (folder / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound, suppress(OSError):
        bound.bind(str(folder / "socket"))
    for kind in ("fifo", "zero"):
        (folder / f"{kind}.d").mkdir()
        (folder / f"{kind}.d/x.snap").symlink_to(f"../{kind}")
    return folder


@pytest.fixture
def limited() -> Iterator[None]:
    """Fail a test that waits, also one that waits in the kernel."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"waits for more than {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _values(argument: ArgumentText) -> list[str]:
    if argument.choices or not argument.metavar:
        return []
    if argument.metavar == "SOURCE":
        return ["fifo.d", "zero.d", "fifo", "zero"]
    return ["fifo", "zero", "socket"]


def _lines(command: CommandText) -> Iterator[list[str]]:
    required = REQUIRED.get(command.name, [])
    places = [each for each in command.arguments if not each.names]
    for number, place in enumerate(places):
        for value in _values(place):
            line = ["prime"] * len(places)
            line[number] = value
            yield [*required, *line]
    for option in command.arguments:
        if option.names and not {*option.names} & (WRITTEN | STARTS):
            for value in _values(option):
                line = ["prime"] * len(places)
                yield [*required, f"{option.names[-1]}={value}", *line]


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_waited_for_and_nothing_endless_is_read(
    folder: Path,
    command: CommandText,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    for line in _lines(command):
        signal.alarm(LIMIT_S)
        emit._initiated = emit._stopped = False
        status = main([command.name, *line])
        assert status in {0, 1, 64, 65, 66, 69, 74}, (line, capfd.readouterr().err)
