"""The policy beside the payload's snapcraft.yaml, wherever a command is run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from host_projects import make_project, project_file
from real_payloads import advisor, snap_pack

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SETTINGS = "compression-advisor.yaml"
TIGHT = "max-image-size: 17kB\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project whose budget is broken; its prime directory is ``files``."""
    project = make_project(tmp_path / "project", policy=None)
    (project / SETTINGS).write_text(TIGHT)
    return project


def lint(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return advisor("lint", *arguments, "--select", "SCA301", cwd=cwd)


def test_a_broken_budget_fails_a_lint_from_wherever_it_is_run(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for path, cwd in (
        ("files", folder),
        ("project/files", tmp_path),
        (folder / "files", tmp_path / "elsewhere"),
        (".", folder / "files"),
    ):
        ran = lint(path, cwd=cwd)
        assert ran.returncode == 1, ran.stderr
        assert "error SCA301 The image takes" in ran.stdout


def test_a_built_snap_has_the_policy_of_the_project_of_its_name(
    folder: Path, tmp_path: Path
) -> None:
    built = snap_pack(folder / "files", folder / "packed", compression="xz")
    snap = built.rename(folder / "built.snap")
    assert lint(snap, cwd=tmp_path).returncode == 1
    text = project_file(folder).read_text()
    project_file(folder).write_text(text.replace("name: hello", "name: other"))
    assert lint(snap, cwd=tmp_path).returncode == 0
    assert lint(snap, "--project", folder, cwd=tmp_path).returncode == 1


def test_each_payload_of_a_run_has_its_own_projects_policy(
    folder: Path, tmp_path: Path
) -> None:
    other = make_project(tmp_path / "other", policy=None)
    (other / SETTINGS).write_text("fail-on: info\nseverity: {SCA103: info}\n")
    paths = ("project/files", "other/files")
    for chosen, statuses in (("SCA301", (1, 0)), ("SCA103", (0, 1))):
        for path, status in zip(paths, statuses, strict=True):
            ran = advisor("lint", path, "--select", chosen, cwd=tmp_path)
            assert ran.returncode == status, ran.stderr
        ran = advisor(
            "lint", *paths, "--select", chosen, "--format", "json", cwd=tmp_path
        )
        assert ran.returncode == 1
        found = [len(each["findings"]) for each in json.loads(ran.stdout)["payloads"]]
        assert found == ([1, 0] if chosen == "SCA301" else [1, 1])
    assert folder.name in ran.stderr


@pytest.mark.parametrize("command", ["advise", "lint"])
@pytest.mark.parametrize(
    "key", ["ignore: [{}]", "select: [{}]", "severity: {{{}: info}}"]
)
def test_an_unknown_rule_is_the_same_error_for_every_command(
    folder: Path, tmp_path: Path, command: str, key: str
) -> None:
    (folder / SETTINGS).write_text(key.format("SCA199") + "\n")
    ran = advisor(command, "project/files", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (65, "")
    assert f"project/{SETTINGS}: there is no rule 'SCA199'" in ran.stderr


@pytest.mark.parametrize("command", ["advise", "lint"])
def test_a_policy_that_is_a_broken_link_is_not_passed_over(
    folder: Path, tmp_path: Path, command: str
) -> None:
    (folder / SETTINGS).unlink()
    (folder / SETTINGS).symlink_to("gone.yaml")
    ran = advisor(command, "project/files", cwd=tmp_path)
    assert ran.returncode == 66
    assert SETTINGS in ran.stderr
