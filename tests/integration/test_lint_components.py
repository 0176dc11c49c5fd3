"""Components, linted and advised on like snaps."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from component_payloads import fill_component, pack_component
from real_payloads import advisor, snap_pack

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = (
    "name: sample\ncompression: lzo\n"
    "components:\n  texts:\n    type: standard\nparts: {}\n"
)
PRIME = "partitions/component/texts/prime"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a component, primed and packed with lzo."""
    folder = fill_component(tmp_path / PRIME)
    pack_component(folder, tmp_path / "sample+texts_1.comp", compression="lzo")
    (tmp_path / "snapcraft.yaml").write_text(PROJECT)
    return tmp_path


@pytest.mark.parametrize("path", ["sample+texts_1.comp", PRIME])
def test_a_component_gets_findings_and_fixes_of_its_own(
    project: Path, path: str
) -> None:
    result = advisor("lint", path, "--format", "json", cwd=project)
    assert result.returncode == 0, result.stderr
    (payload,) = json.loads(result.stdout)["payloads"]
    assert (payload["snap_name"], payload["error"]) == ("sample+texts", None)
    (finding,) = payload["findings"]
    assert (finding["rule"], finding["undecided"]) == ("SCA102", False)
    assert finding["location"] == {
        "kind": "project",
        "path": "snapcraft.yaml",
        "line": 4,
    }
    assert advisor("lint", path, "--fix", cwd=project).returncode == 0
    assert (project / "snapcraft.yaml").read_text() == PROJECT.replace(
        "type: standard\n", "type: standard\n    compression: xz\n"
    )


def test_a_component_packed_with_xz_has_no_findings(project: Path) -> None:
    image = pack_component(project / PRIME, project / "x.comp", compression="xz")
    key = "type: standard\n    compression: xz\n"
    (project / "snapcraft.yaml").write_text(PROJECT.replace("type: standard\n", key))
    chosen = ("--ignore", "SCA105", "--project", project)
    assert ": ok" in advisor("lint", image, *chosen).stdout


def test_settings_on_launches_are_the_snaps_alone(
    small_prime: Path, project: Path
) -> None:
    (project / "compression-advisor.yaml").write_text(
        "apps: sample\nselect: [SCA1, SCA2, SCA301]\n"
        "max-cold-start: {hdd-laptop: {sample: 9min}}\nmax-image-size: 100kB\n"
    )
    snap = snap_pack(small_prime, project / "packed", compression="xz")
    paths = (snap, project / "sample+texts_1.comp")
    result = advisor("lint", *paths, "--format", "json", cwd=project)
    assert result.returncode == 1, result.stderr
    found = {
        payload["snap_name"]: {finding["rule"] for finding in payload["findings"]}
        for payload in json.loads(result.stdout)["payloads"]
    }
    assert "SCA301" in found["sample"]
    assert found["sample+texts"] == {"SCA102"}


def test_advice_on_a_component_is_by_size(project: Path) -> None:
    command = ("advise", "sample+texts_1.comp")
    text = advisor(*command, "-v", cwd=project)
    assert text.returncode == 0, text.stderr
    assert "Built component sample+texts_1.comp" in text.stdout
    report = json.loads(advisor(*command, "--format", "json", cwd=project).stdout)
    assert report["payload"]["name"] == "sample+texts"
    assert report["recommendation"]["verdict"] == "change"
    assert report["recommendation"]["compression"] == "xz"
    (launch,) = report["launches"]
    assert launch["app"] == "a program that reads all of texts"


@pytest.mark.parametrize("command", ["launch-set", "measure"])
def test_a_component_has_nothing_to_launch(project: Path, command: str) -> None:
    result = advisor(command, project / "sample+texts_1.comp")
    assert result.returncode == 64, result.stderr
    assert "has no apps" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "text", ["", "component: sample\n", "component: ../a+b\n", "a: [", "- a\n"]
)
def test_a_component_without_a_name_is_bad_data(project: Path, text: str) -> None:
    folder = project / PRIME
    (folder / "meta/component.yaml").write_text(text)
    image = pack_component(folder, project / "x.comp", compression="xz")
    for path in (image, folder):
        result = advisor("lint", path)
        assert result.returncode == 65, result.stderr
        assert "doesn't name a component" in result.stdout


def test_a_truncated_component_is_bad_data(project: Path) -> None:
    image = project / "x.comp"
    shutil.copy(project / "sample+texts_1.comp", image)
    with image.open("r+b") as file:
        file.truncate(image.stat().st_size // 2)
    result = advisor("lint", image)
    assert result.returncode == 65, result.stderr
    assert "Traceback" not in result.stderr
