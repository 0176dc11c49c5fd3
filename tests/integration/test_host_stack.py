"""Base and content snaps of the settings, inside a craft application."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from host_projects import LZO_PAYS, codecs_of, make_project, run_host_app

if TYPE_CHECKING:
    from pathlib import Path


def make_base(folder: Path, name: str) -> None:
    (folder / "meta").mkdir(parents=True)
    (folder / "meta/snap.yaml").write_text(
        f"name: {name}\nversion: '1'\ntype: base\narchitectures: [amd64]\n"
    )
    (folder / "bin").mkdir()
    shutil.copy("/bin/sh", folder / "bin/sh")


def make_project_with(folder: Path, *, mode: str, base: str) -> Path:
    made = make_project(folder, keys="compression: lzo")
    (made / "compression-advisor.yaml").write_text(
        f"{LZO_PAYS}mode: {mode}\nreport: report.json\nbases: [{base}]\n"
    )
    return made


def test_launch_is_followed_into_the_base_of_the_settings(tmp_path: Path) -> None:
    make_base(tmp_path / "base", "core24")
    folder = make_project_with(tmp_path / "project", mode="advise", base="../base")
    assert run_host_app(folder, "pack").status == 0
    (launch,) = json.loads((folder / "report.json").read_text())["launches"]
    assert [each["role"] for each in launch["stack"]] == ["app", "base"]
    assert launch["stack"][1]["data_blocks"] > 0


@pytest.mark.parametrize(
    ("mode", "base"),
    [("advise", "gone"), ("enforce", "gone"), ("enforce", "../other")],
)
def test_base_that_cannot_be_used_stops_a_pack_only_where_it_must(
    tmp_path: Path, mode: str, base: str
) -> None:
    make_base(tmp_path / "other", "core22")
    folder = make_project_with(tmp_path / "project", mode=mode, base=base)
    ran = run_host_app(folder, "pack")
    if mode == "enforce":
        assert ran.status != 0
        assert codecs_of(folder) == {}
    else:
        assert ran.status == 0
        assert codecs_of(folder) == {"hello.snap": "lzo"}
        assert any("no advice on the snap" in line for line in ran.lines)
