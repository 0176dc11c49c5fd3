"""Several payloads in one run of lint."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from component_payloads import fill_component, pack_component
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.report.lint_formats import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

TIGHT = "max-image-size: 100kB\n"


@pytest.fixture
def payloads(small_prime: Path, tmp_path: Path) -> list[str]:
    """Return a directory, two snaps, two broken ones and a component, as given."""
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    whole = snap.rename(tmp_path / "whole.snap")
    shutil.copy(whole, tmp_path / "again.snap")
    shutil.copy(whole, tmp_path / "cut.snap")
    os.truncate(tmp_path / "cut.snap", whole.stat().st_size // 2)
    component = fill_component(tmp_path / "component")
    pack_component(component, tmp_path / "sample+texts.comp", compression="xz")
    (tmp_path / "compression-advisor.yaml").write_text(TIGHT)
    return [
        "prime", "cut.snap", "whole.snap", "nowhere.snap", "again.snap",
        "sample+texts.comp",
    ]  # fmt: skip


def test_one_report_tells_of_all_in_the_order_given(
    payloads: list[str], tmp_path: Path
) -> None:
    result = advisor("lint", *payloads, "--format", "json", cwd=tmp_path)
    assert result.returncode == 65, result.stderr
    document = json.loads(result.stdout)
    told = {each["path"]: each for each in document["payloads"]}
    assert list(told) == payloads
    assert document["summary"]["not_linted"] == 2
    assert document["summary"]["error"] == 3
    assert "cut.snap" in told["cut.snap"]["error"]
    assert "No such file" in told["nowhere.snap"]["error"]
    assert told["again.snap"]["findings"] != []
    assert told["sample+texts.comp"]["snap_name"] == "sample+texts"
    messages = [
        [finding["message"] for finding in told[name]["findings"]]
        for name in ("whole.snap", "again.snap")
    ]
    assert messages[0] == messages[1]


def test_directory_of_snaps_stands_for_what_is_in_it(
    payloads: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "built"
    folder.mkdir()
    for name in payloads[1:3]:
        (tmp_path / name).rename(folder / name)
    result = advisor("lint", "built", "--format", "json", cwd=tmp_path)
    assert result.returncode == 65, result.stderr
    told = {each["path"]: each for each in json.loads(result.stdout)["payloads"]}
    assert list(told) == ["built/cut.snap", "built/whole.snap"]
    assert told["built/whole.snap"]["findings"] != []


def test_errors_stand_in_the_order_given_and_progress_names_payloads(
    payloads: list[str], tmp_path: Path
) -> None:
    result = advisor("lint", *payloads, cwd=tmp_path)
    errors = [line for line in result.stdout.splitlines() if ": not linted: " in line]
    assert ["cut.snap" in line for line in errors] == [True, False]
    assert "nowhere.snap" in errors[1]
    assert "Linting whole.snap" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_of_a_broken_one_and_of_the_others(
    payloads: list[str], tmp_path: Path, name: str
) -> None:
    result = advisor("lint", *payloads[:3], "--format", name, cwd=tmp_path)
    assert result.returncode == 65, result.stderr
    assert "cut.snap" in result.stdout
    assert "ends" in result.stdout or "damaged" in result.stdout
    assert result.stdout.count("SCA301") >= 2


def test_the_first_error_decides_the_status_not_what_was_found(
    payloads: list[str], tmp_path: Path
) -> None:
    for names, status in (
        (("whole.snap", "nowhere.snap", "cut.snap"), 66),
        (("cut.snap", "nowhere.snap", "whole.snap"), 65),
        (("whole.snap", "again.snap"), 1),
        (("sample+texts.comp",), 0),
    ):
        assert set(names) <= set(payloads)
        assert advisor("lint", *names, cwd=tmp_path).returncode == status, names


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_of_them(
    payloads: list[str], tmp_path: Path, sent: signal.Signals
) -> None:
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "lint"]
    with subprocess.Popen(
        [*command, *payloads, *(f"./{name}" for name in payloads)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline()
        process.send_signal(sent)
        rest, report = process.stderr.read(), process.stdout.read()
    assert process.returncode == 128 + sent
    assert "Traceback" not in rest
    assert report == ""
