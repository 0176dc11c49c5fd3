"""What can't work fails before the work, and closed streams end it quietly."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from host_projects import make_project
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.payload import scan

PROGRAM = f"{sys.executable} -m snapcraft_compression_advisor"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project folder with its prime directory; commands are run in it."""
    project = make_project(tmp_path / "project", policy=None)
    (project / "files").rename(project / "prime")
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anything is looked at that may be large."""

    def walk(_root: Path, **_state: object) -> None:
        pytest.fail("a directory is walked")

    monkeypatch.setattr(scan, "scan_directory", walk)


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


ON_A_PATH = {
    "advise": "advise {}",
    "lint": "lint {}",
    "launch-set": "launch-set {}",
    "measure": "measure {}",
    "record": "record {}",
    "diff": "diff {} prime",
    "refresh": "refresh {} prime",
}


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", ON_A_PATH)
def test_a_directory_that_is_no_prime_is_refused_before_it_is_walked(
    folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    is_project = "is a project folder; its prime directory is"
    for named, said in (
        (".", f"{is_project} ./prime"),
        (str(folder), f"{is_project} {folder}/prime"),
        ("/usr", "is not a prime directory: it has no meta/snap.yaml"),
    ):
        assert main(ON_A_PATH[command].format(named).split()) == 66
        printed = capsys.readouterr()
        shown = printed.out if command == "lint" else printed.err
        assert f"'{named}' {said}" in shown


def test_what_is_looked_for_where_nothing_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["launch-set"]) == 0
    monkeypatch.chdir(folder / "prime")
    assert main(["launch-set"]) == 0
    monkeypatch.chdir(folder)
    (folder / "prime/meta/snap.yaml").unlink()
    assert main(["launch-set"]) == 66
    assert "it has no meta/snap.yaml" in capsys.readouterr().err
    (folder / "built.snap").write_bytes(b"no image")
    assert main(["launch-set"]) == 65  # prime isn't filled yet
    assert "built.snap" in capsys.readouterr().err


OUTPUTS = {
    "advise -o": "advise prime -o {}",
    "advise --report": "advise prime --report {}.md",
    "lint -o": "lint prime -o {}",
    "lint --also": "lint prime --also json={}",
    "lint --write-baseline": "lint prime --write-baseline {}",
    "diff -o": "diff prime prime -o {}",
    "refresh -o": "refresh prime prime -o {}",
    "launch-set -o": "launch-set prime -o {}",
    "measure -o": "measure prime --runs 1 -o {} -- true",
    "record -o": "record prime -o {} -- true",
    "calibrate -o": "calibrate -o {}",
    "refresh --report": "refresh prime prime --report {}.md",
}


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("case", OUTPUTS)
def test_output_that_cannot_be_written_fails_before_the_work(
    folder: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "full").mkdir()
    (folder / "full.md").mkdir()
    for target in ("no/such", "launch.json/below", "full", "x" * 300):
        assert main(OUTPUTS[case].format(target).split()) == 74
        shown = capsys.readouterr()
        assert f"Cannot write '{target}" in shown.err
        assert shown.out == ""
    assert list((folder / "full").iterdir()) == []


@pytest.mark.parametrize(
    "case", [each for each in OUTPUTS if each.split()[0] in ("advise", "diff")]
)
def test_output_is_as_it_was_where_the_work_fails(folder: Path, case: str) -> None:
    words = OUTPUTS[case].replace("prime", "nowhere")
    before = sorted(path.name for path in folder.iterdir())
    assert main(words.format("new").split()) == 66
    assert sorted(path.name for path in folder.iterdir()) == before
    for name in ("old", "old.md"):
        (folder / name).write_text("old")
    assert main(words.format("old").split()) == 66
    assert (folder / "old").read_text() == (folder / "old.md").read_text() == "old"


def test_output_with_the_longest_name_is_written(folder: Path) -> None:
    name = "x" * 255
    assert main(["launch-set", "-o", name]) == 0
    assert json.loads((folder / name).read_text())["schema"] == 1


PRINTING = {
    "advise": "advise",
    "lint": "lint",
    "diff": "diff prime prime",
    "launch-set": "launch-set",
    "record": "record --no-warm-up --method directory -- true",
    "set": "set --compression lzo --diff",
    "help": "advise --help",
    "version": "--version",
}


@pytest.mark.parametrize("case", PRINTING)
def test_closed_standard_output_is_one_line_and_a_status(
    folder: Path, case: str
) -> None:
    ran = shell(f"{PROGRAM} {PRINTING[case]} >&-", folder)
    assert ran.returncode == 74
    first, resolution = ran.stderr.splitlines()
    assert first == "Cannot write to the standard output: it is closed"
    assert resolution.startswith("Recommended resolution: ")


@pytest.mark.parametrize("case", ["lint", "set", "version"])
def test_closed_standard_error_loses_nothing_but_messages(
    folder: Path, case: str
) -> None:
    whole = shell(f"{PROGRAM} {PRINTING[case]}", folder)
    ran = shell(f"{PROGRAM} {PRINTING[case]} 2>&-", folder)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, whole.stdout, "")


def test_report_into_a_file_needs_no_open_stream(folder: Path) -> None:
    ran = shell(f"{PROGRAM} advise --exact -o report <&- >&- 2>&-", folder)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert (folder / "report").read_text().startswith("hello: ")
    assert not os.path.lexists(folder / "core")


@pytest.mark.parametrize("case", ["advise", "launch-set", "help"])
@pytest.mark.parametrize("redirection", ["", "2>&1"])
def test_a_reader_that_has_gone_ends_it_quietly(
    folder: Path, case: str, redirection: str
) -> None:
    # Nobody reads from the pipe any more when the program opens it.
    line = f"mkfifo pipe; (exec <pipe) & {PROGRAM} {PRINTING[case]} >pipe {redirection}"
    ran = shell(line, folder)
    assert (ran.returncode, ran.stdout) == (141, "")
    assert "rror" not in ran.stderr
    assert "Traceback" not in ran.stderr
