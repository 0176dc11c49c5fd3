"""Several payloads, components and suppliers in a run of lint."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from image_sources import pack_as_snap
from real_payloads import advisor, fill_component, linted, pack_component, snap_pack
from trees import fill

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
    result = advisor("lint", *payloads, "--format", "json", cwd=tmp_path, status=65)
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
    result = advisor("lint", "built", "--format", "json", cwd=tmp_path, status=65)
    told = {each["path"]: each for each in json.loads(result.stdout)["payloads"]}
    assert list(told) == ["built/cut.snap", "built/whole.snap"]
    assert told["built/whole.snap"]["findings"] != []


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
    result = advisor("lint", path, "--format", "json", cwd=project, status=0)
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


def test_advice_on_a_component_is_by_size(project: Path) -> None:
    command = ("advise", "sample+texts_1.comp")
    text = advisor(*command, "-v", cwd=project, status=0)
    assert "Built component sample+texts_1.comp" in text.stdout
    report = json.loads(advisor(*command, "--format", "json", cwd=project).stdout)
    assert report["payload"]["name"] == "sample+texts"
    assert report["recommendation"]["verdict"] == "change"
    assert report["recommendation"]["compression"] == "xz"
    (launch,) = report["launches"]
    assert launch["app"] == "a program that reads all of texts"


@pytest.mark.parametrize("command", ["launch-set", "measure"])
def test_a_component_has_nothing_to_launch(project: Path, command: str) -> None:
    result = advisor(command, project / "sample+texts_1.comp", status=64)
    assert "has no apps" in result.stderr


PLACE = "usr/lib/x86_64-linux-gnu"
CONTENTS = bytes(random.Random(5).choices(b"abcdefgh", k=800_000))
PLUG = """\
plugs:
  libraries:
    interface: content
    target: $SNAP/gnome-platform
    default-provider: gnome-46
"""


def make_snap(
    folder: Path, name: str, library: str, contents: bytes, *, kind: str = "app"
) -> Path:
    """Return the directory of a snap that ships one library."""
    base = "none" if kind == "base" else "core24"
    text = f"name: {name}\nversion: '1'\nbase: {base}\ntype: {kind}\n"
    return fill(folder, {"meta/snap.yaml": text, f"{PLACE}/{library}": contents})


def packed(folder: Path) -> Path:
    return pack_as_snap(folder, folder.with_suffix(".snap"))


def supplied(*arguments: str | Path) -> list[dict[str, Any]]:
    return list(linted("--select", "SCA308", *arguments)["findings"])


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    return make_snap(tmp_path / "prime", "sample", "libsame.so.1", CONTENTS)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return make_snap(
        tmp_path / "core24", "core24", "libsame.so.1", CONTENTS, kind="base"
    )


@pytest.mark.parametrize("built", [False, True])
def test_a_library_that_the_base_has_is_a_finding(
    prime: Path, base: Path, *, built: bool
) -> None:
    (finding,) = supplied(prime, "--base", packed(base) if built else base)
    assert finding["files"] == [f"{PLACE}/libsame.so.1"]
    assert (finding["severity"], finding["undecided"]) == ("warning", False)
    (pair,) = [each for each in finding["evidence"] if "is in" in each["label"]]
    assert (pair["text"], pair["origin"]) == ("'core24'", "measured")


def test_advice_compares_with_the_base_that_it_is_given(
    prime: Path, base: Path
) -> None:
    result = advisor("advise", "--format", "json", prime, "--base", base, status=0)
    findings = json.loads(result.stdout)["findings"]
    (finding,) = [each for each in findings if each["rule"] == "SCA308"]
    assert finding["files"] == [f"{PLACE}/libsame.so.1"]
    assert not finding["undecided"]


def test_of_several_bases_each_payload_takes_its_own(
    prime: Path, base: Path, tmp_path: Path
) -> None:
    other = make_snap(
        tmp_path / "core22", "core22", "libsame.so.1", CONTENTS, kind="base"
    )
    assert not supplied(prime, "--base", other)
    assert supplied(prime, "--base", other, "--base", base)


def test_content_snaps_count_if_a_plug_asks_for_them(
    prime: Path, tmp_path: Path
) -> None:
    content = make_snap(tmp_path / "gnome", "gnome-46", "libsame.so.1", CONTENTS)
    none = make_snap(tmp_path / "none", "none", "libother.so.1", CONTENTS)
    options = ("--content", none, "--content", packed(content))
    assert not supplied(prime, *options)
    with (prime / "meta/snap.yaml").open("a") as file:
        file.write(PLUG)
    (finding,) = supplied(prime, *options)
    assert [each["text"] for each in finding["evidence"]].count("'gnome-46'") == 1


@pytest.mark.parametrize("option", ["--base", "--content"])
@pytest.mark.parametrize(
    ("name", "status"), [("nowhere.snap", 66), ("broken.snap", 65)]
)
def test_what_is_no_snap_is_one_clear_error(
    prime: Path, tmp_path: Path, option: str, name: str, status: int
) -> None:
    (tmp_path / "broken.snap").write_bytes(b"no image")
    result = advisor("lint", prime, option, tmp_path / name, status=status)
    assert name in result.stderr
    assert result.stdout == ""


def test_a_base_that_is_broken_inside_is_the_payloads_error(
    prime: Path, base: Path
) -> None:
    image = packed(base)
    with image.open("r+b") as file:  # the library's block, after the superblock
        file.seek(200)
        file.write(b"\0" * 50_000)
    result = advisor("lint", prime, "--base", image, "--format", "json", status=65)
    (payload,) = json.loads(result.stdout)["payloads"]
    assert "core24.snap" in payload["error"]
