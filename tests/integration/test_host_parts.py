"""Bases and Python parts in a host's project."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from host_damage import PACKAGE
from host_projects import LZO_PAYS, codecs_of, make_project, project_file, run_host_app
from trees import fill


def make_base(folder: Path, name: str) -> None:
    text = f"name: {name}\nversion: '1'\ntype: base\narchitectures: [amd64]\n"
    fill(folder, {"meta/snap.yaml": text, "bin/sh": Path("/bin/sh").read_bytes()})


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
    ("mode", "base"), [("advise", "gone"), ("enforce", "gone"), ("enforce", "../other")]
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


NEEDS = {"six": "six", "ruamel.yaml": "ruamel_yaml", "numpy": "numpy"}
"""Distributions that the advisor needs, and the names of modules in their stand-ins."""
PART = """\
  needy:
    plugin: python
    source: needy
    python-packages: [{packages}]
    build-environment:
      - PIP_FIND_LINKS: {wheels}
      - PIP_NO_INDEX: "1"
"""


def write_wheel(folder: Path, name: str, module: str) -> Path:
    """Write the smallest wheel of a distribution."""
    stem = f"{name.replace('.', '_')}-99.0"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{module}/__init__.py", "")
        for file, text in (
            ("METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n"),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("RECORD", ""),
        ):
            wheel.writestr(f"{stem}.dist-info/{file}", text)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a part in Python."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, module in NEEDS.items():
        write_wheel(wheels, name, module)
    folder = make_project(tmp_path / "project", policy=f"{LZO_PAYS}mode: apply\n")
    (folder / "needy").mkdir()
    with project_file(folder).open("a") as file:
        file.write(PART.format(packages=", ".join(NEEDS), wheels=wheels))
    return folder


def folder_of_the_advisor(tmp_path: Path) -> Path:
    """Return what ``pip install --target`` makes: the advisor and all that it needs."""
    target = tmp_path / "target"
    shutil.copytree(PACKAGE, target / PACKAGE.name)
    shutil.copy(PACKAGE.parent / f"{PACKAGE.name}_plugin.py", target)
    for wheel in (tmp_path / "wheels").iterdir():
        with zipfile.ZipFile(wheel) as opened:
            about = [name for name in opened.namelist() if ".dist-info/" in name]
            opened.extractall(target, about)
    return target


def test_a_python_part_is_shipped_with_what_the_advisor_needs_too(
    project: Path, tmp_path: Path
) -> None:
    ran = run_host_app(
        project,
        "pack",
        HOST_APP_LIFECYCLE="parts",
        PYTHONPATH=str(folder_of_the_advisor(tmp_path)),
    )
    assert ran.status == 0, ran.output
    assert codecs_of(project) == {"hello.snap": "lzo"}
    for module in NEEDS.values():
        assert list((project / "prime").glob(f"lib/python3*/site-packages/{module}"))
