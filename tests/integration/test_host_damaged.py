"""A damaged advisor inside a craft application: ``enforce`` stops, the rest goes on."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from host_damage import DAMAGES, HOW, PACKAGE, copy_advisor, damaged
from host_projects import (
    LZO_PAYS,
    codecs_of,
    make_project,
    run_host_app,
    warnings_of,
    write_policy,
)

pytestmark = pytest.mark.slow

ENFORCE = f"{LZO_PAYS}mode: enforce\n"


@pytest.mark.parametrize(
    ("damage", "package"),
    [
        *((damage, "artifacts") for damage in DAMAGES),
        ("numpy", "whole"),
        ("hooks don't parse", "whole"),
    ],
)
def test_enforce_stops_the_pack_with_the_reason(
    tmp_path: Path, damage: str, package: str
) -> None:
    folder = make_project(
        tmp_path / "project", keys="compression: lzo", components=True, policy=ENFORCE
    )
    ran = run_host_app(
        folder,
        "pack",
        HOST_APP_PACKAGE=package,
        PYTHONPATH=damaged(tmp_path / "damaged", damage),
    )
    assert ran.status == 1
    assert re.search("The mode is (or may be )?'enforce', but", ran.output)
    assert "damaged" in ran.output or "invalid syntax" in ran.output
    assert "Recommended resolution" in ran.output
    assert "Traceback" not in ran.output
    assert codecs_of(folder) == {}


@pytest.mark.parametrize("damage", ["numpy", "hooks don't parse"])
def test_enforce_stops_where_all_is_packed_already(tmp_path: Path, damage: str) -> None:
    folder = make_project(tmp_path / "project", keys="compression: lzo", policy=ENFORCE)
    assert run_host_app(folder, "pack").status == 0
    path = damaged(tmp_path / "damaged", damage)
    assert run_host_app(folder, "pack", PYTHONPATH=path).status == 1


@pytest.mark.parametrize("damage", DAMAGES)
def test_elsewhere_the_pack_goes_on_with_one_warning(
    tmp_path: Path, damage: str
) -> None:
    folder = make_project(tmp_path / "project", policy=f"{LZO_PAYS}mode: enforce\n")
    path = damaged(tmp_path / "damaged", damage)
    mode = {"SNAPCRAFT_COMPRESSION_ADVISOR_MODE": "apply"}
    ran = run_host_app(folder, "pack", PYTHONPATH=path, **mode)
    assert ran.status == 0, ran.output
    (warning,) = warnings_of(ran.lines)
    assert "damaged" in warning or "invalid syntax" in warning
    assert "(log: " in warning
    assert "hello.snap" in codecs_of(folder)


def test_settings_that_can_still_be_read_decide(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=f"{LZO_PAYS}mode: apply\n")
    path = damaged(tmp_path / "damaged", "hooks don't install")
    assert run_host_app(folder, "pack", PYTHONPATH=path).status == 0


def test_settings_that_cannot_be_read_stop_the_pack(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=f"{LZO_PAYS}mode: apply\n")
    path = damaged(tmp_path / "damaged", "ruamel")
    ran = run_host_app(folder, "pack", PYTHONPATH=path)
    assert ran.status == 1
    assert "SNAPCRAFT_COMPRESSION_ADVISOR_MODE=advise for one run" in ran.output
    assert codecs_of(folder) == {}


def test_without_settings_a_damaged_advisor_stops_nothing(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=None)
    path = damaged(tmp_path / "damaged", "the package doesn't parse")
    assert run_host_app(folder, "pack", PYTHONPATH=path).status == 0
    assert codecs_of(folder) == {"hello.snap": "xz"}


MODULES = (
    "analysis.py",
    "core/errors.py",
    "host/advisor.py",
    "host/guard.py",
    "host/hooks.py",
    "host/pack.py",
    "host/project.py",
    "lint/rules/__init__.py",
    "settings/load.py",
)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("module", MODULES)
def test_enforce_stops_without_a_module(tmp_path: Path, module: str, how: str) -> None:
    """``benchmarks/damaged_modules.py`` does the same with every module."""
    folder = make_project(tmp_path / "project", keys="compression: lzo", policy=ENFORCE)
    copy_advisor(tmp_path / "damaged")
    HOW[how](tmp_path / "damaged" / PACKAGE.name / module)
    ran = run_host_app(folder, "pack", PYTHONPATH=str(tmp_path / "damaged"))
    assert ran.status != 0, ran.output
    assert codecs_of(folder) == {}


def test_a_variable_lets_a_pack_go_on_for_once(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project", policy=ENFORCE)
    ran = run_host_app(
        folder,
        "pack",
        SNAPCRAFT_COMPRESSION_ADVISOR_MODE="advise",
        PYTHONPATH=damaged(tmp_path / "damaged", "numpy"),
    )
    assert ran.status == 0
    assert codecs_of(folder) == {"hello.snap": "xz"}


def test_a_damaged_advisor_leaves_other_commands_alone(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    write_policy(folder, ENFORCE)
    path = damaged(tmp_path / "damaged", "hooks don't parse")
    ran = run_host_app(folder, "version", PYTHONPATH=path)
    assert ran.status == 0, ran.output


OTHER_APPLICATION = """\
import json, sys
import craft_application
from types import SimpleNamespace
before = set(sys.modules)
import snapcraft_compression_advisor_plugin as plugin
plugin.configure(SimpleNamespace(app=SimpleNamespace(ProjectClass=object)))
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_other_craft_applications_load_next_to_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OTHER_APPLICATION],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = json.loads(done.stdout)
    assert all(name.startswith("snapcraft_compression_advisor") for name in loaded)
    assert len(loaded) == 1


PYDANTIC_1 = """\
import sys
from types import ModuleType, SimpleNamespace
from craft_cli import EmitterMode, emit
pydantic = ModuleType("pydantic")
pydantic.VERSION = "1.10.14"
sys.modules["pydantic"] = pydantic
emit.init(EmitterMode.BRIEF, "tests", "begins")
import snapcraft_compression_advisor_plugin as plugin
project = SimpleNamespace(__fields__={"compression": None})
app = SimpleNamespace(name="snapcraft", ProjectClass=project)
try:
    plugin.configure(SimpleNamespace(app=app, services=SimpleNamespace()))
finally:
    emit.ended_ok()
"""


@pytest.mark.parametrize(("mode", "status"), [("advise", 0), ("enforce", 1)])
def test_beside_pydantic_1_a_line_says_so(
    tmp_path: Path, mode: str, status: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PYDANTIC_1],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "SNAPCRAFT_COMPRESSION_ADVISOR_MODE": mode},
    )
    assert done.returncode == status
    assert "it needs pydantic 2.5 or later, this is 1.10.14" in done.stderr
    assert "Traceback" not in done.stderr
