"""The program's process: what it imports, how it starts and ends."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from craft_cli import emit
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.cli import commands
from snapcraft_compression_advisor.cli import main as program
from trees import fill

OWN = "snapcraft_compression_advisor"
PROGRAM = f"""
import json, sys
from {OWN}.cli.main import main
status = main(sys.argv[1:])
sys.stderr.write("\\n" + json.dumps([status, sorted(sys.modules)]))
"""
OF_ANALYSES = {"numpy", "pydantic", "ruamel"}
OF_FEW_RUNS = {
    "duckdb", "fsspec", "jinja2", "pyarrow", "vl_convert", "Xlib",
}  # fmt: skip
MOST_MODULES = 110
NOT_FOR_A_LINT_ALONE = {
    f"{OWN}.capture",  # something is recorded or measured
    f"{OWN}.devices.device_file",  # --device
    f"{OWN}.fleet",
    f"{OWN}.launch.fit",  # --launch-profile
    f"{OWN}.launch.guess.runtimes.python.search",  # an app in Python
    f"{OWN}.launch.profile",
    f"{OWN}.refresh.changes",  # --baseline
    f"{OWN}.report.charts",  # advise --report
    f"{OWN}.report.html_printer",
    f"{OWN}.trim",
}


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Return the modules that a run has loaded at its end."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    status, names = json.loads(ran.stderr.rpartition("\n")[2])
    assert status == 0, ran.stderr
    return set(names)


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    """Return the prime directory of a snap with one script."""
    files = {
        "meta/snap.yaml": "name: tiny\nversion: '1'\nbase: core24\n"
        "apps: {tiny: {command: bin/tiny}}\n",
        "bin/tiny": "#!/bin/sh\necho tiny\n",
    }
    return fill(tmp_path / "prime", files)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["help", "--all"], ["--version"]], ids=" ".join
)
def test_help_and_version_load_nothing_that_analyses_need(
    arguments: list[str], tmp_path: Path
) -> None:
    found = loaded(tmp_path, *arguments)
    assert not found & (OF_ANALYSES | OF_FEW_RUNS)
    rooms = {name.split(".")[1] for name in found if name.startswith(f"{OWN}.")}
    assert rooms == {"cli", "core"}


@pytest.mark.parametrize("arguments", [["rule", "SCA101"], ["rule"]], ids=" ".join)
def test_texts_of_rules_load_no_analysis(arguments: list[str], tmp_path: Path) -> None:
    found = loaded(tmp_path, *arguments)
    assert not found & OF_FEW_RUNS
    assert not found & {"numpy", f"{OWN}.analysis", f"{OWN}.trial", f"{OWN}.launch"}


def test_lint_loads_what_it_uses(prime: Path) -> None:
    found = loaded(prime.parent, "lint", "prime")
    assert not found & OF_FEW_RUNS
    assert not found & NOT_FOR_A_LINT_ALONE


def test_advice_as_text_loads_110_modules_at_most(prime: Path) -> None:
    found = loaded(prime.parent, "-q", "advise", "--no-cache", "prime")
    assert f"{OWN}.squashfs.image" not in found
    assert len([name for name in found if name.startswith(f"{OWN}.")]) <= MOST_MODULES


PLUGINS, THREADS = "PYDANTIC_DISABLE_PLUGINS", "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize(
    ("variable", "texts"),
    [
        (PLUGINS, (None, "__all__")),
        (PLUGINS, ("__all__", "__all__")),
        (PLUGINS, ("some", "some")),
        (THREADS, (None, "1")),
        (THREADS, ("3", "3")),
    ],
)
def test_libraries_start_small_and_the_environment_stays(
    variable: str,
    texts: tuple[str | None, str],
    mocker: MockerFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    given, expected = texts
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv(variable, raising=False)
    if given is not None:
        monkeypatch.setenv(variable, given)
    made = commands.make_dispatcher
    seen: list[str | None] = []

    def noted(name: str) -> object:
        seen.append(os.environ.get(variable))
        return made(name)

    mocker.patch.object(program, "make_dispatcher", noted)
    assert program.main(["rule", "SCA101"]) == 0
    assert seen == [expected]
    assert os.environ.get(variable) == given


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


class Dying:
    """Is sent a signal in its destructor, where Python ignores what is raised."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_signal_during_a_destructor_ends_the_work_after_it(
    mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def dispatch(_: object) -> int:
        Dying()
        signal.pause()
        return os.EX_OK

    mocker.patch.object(program, "_dispatch", dispatch)
    assert program.main([]) == 128 + signal.SIGTERM
    assert "Exception ignored" not in capsys.readouterr().err


def interrupt(
    mocker: MockerFixture, place: object, name: str, number: signal.Signals
) -> None:
    """Have a signal come right before a function."""
    function = getattr(place, name)

    def interrupted() -> None:
        signal.raise_signal(number)
        function()

    mocker.patch.object(place, name, interrupted)


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_before_the_work_prevents_it(
    number: signal.Signals, mocker: MockerFixture
) -> None:
    interrupt(mocker, program, "_start_emitter", number)
    dispatch = mocker.patch.object(program, "_dispatch")
    assert program.main([]) == 128 + number
    dispatch.assert_not_called()


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_after_the_work_changes_nothing(
    number: signal.Signals, mocker: MockerFixture
) -> None:
    interrupt(mocker, emit, "ended_ok", number)
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
