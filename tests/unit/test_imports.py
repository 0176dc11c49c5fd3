"""What runs import: each module takes time before anything is done."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

OWN = "snapcraft_compression_advisor"
PROGRAM = f"""
import json, sys
from {OWN}.cli.main import main
status = main(sys.argv[1:])
sys.stderr.write("\\n" + json.dumps([status, sorted(sys.modules)]))
"""
OF_ANALYSES = {"numpy", "pydantic", "ruamel"}
OF_FEW_RUNS = {
    "duckdb", "distributed", "fsspec", "jinja2", "pyarrow", "vl_convert", "Xlib",
}  # fmt: skip
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
    for name, text in files.items():
        file = tmp_path / "prime" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    file.chmod(0o755)
    return tmp_path / "prime"


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


@pytest.mark.parametrize("name", sorted(NOT_FOR_A_LINT_ALONE))
def test_what_lint_does_not_load_exists(name: str) -> None:
    __import__(name)
