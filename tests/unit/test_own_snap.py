"""The project's own snapcraft.yaml."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.project.project_file import (
    find_project_file,
    plan_edit,
)
from snapcraft_compression_advisor.project.project_lines import read_project_lines

PROJECT_DIR = Path(__file__).parents[2]


@pytest.fixture
def project() -> dict[str, Any]:
    text = find_project_file(PROJECT_DIR).read_text(encoding="utf-8")
    loaded = YAML(typ="safe", pure=True).load(text)
    assert isinstance(loaded, dict)
    return loaded


def test_its_version_is_the_package_s(project: dict[str, Any]) -> None:
    part = project["parts"][project["adopt-info"]]
    _, _, command = part["override-build"].partition('version="$(')
    run = subprocess.run(
        ["sh", "-c", command.rpartition(')"')[0]],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"{__version__}\n"
    assert "version" not in project


def test_its_completion_is_what_the_wheel_installs(project: dict[str, Any]) -> None:
    completer = project["apps"]["compression-advisor"]["completer"]
    assert (PROJECT_DIR / completer).is_file()
    pyproject = (PROJECT_DIR / "pyproject.toml").read_text(encoding="utf-8")
    assert f'    "{completer}",\n' in pyproject


def test_its_command_is_the_one_that_the_package_installs(
    project: dict[str, Any],
) -> None:
    pyproject = (PROJECT_DIR / "pyproject.toml").read_text(encoding="utf-8")
    assert project["apps"]["compression-advisor"]["command"] == (
        "bin/compression-advisor"
    )
    assert "\n[project.scripts]\ncompression-advisor = " in pyproject


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_the_advisor_edits_it_in_one_line_at_most(compression: str) -> None:
    path = find_project_file(PROJECT_DIR)
    edit = plan_edit(path, compression)
    assert edit.changes == (
        read_project_lines(path.read_bytes(), where=str(path)).effective != compression
    )
    changed = [
        (before, after)
        for before, after in zip(
            edit.before.splitlines(), edit.after.splitlines(), strict=True
        )
        if before != after
    ]
    assert [after for _, after in changed] == [
        f"compression: {compression}".encode()
    ] * edit.changes
