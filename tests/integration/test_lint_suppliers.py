"""Lint with the base and content snaps at hand."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from image_sources import pack_as_snap
from real_payloads import advisor

if TYPE_CHECKING:
    from pathlib import Path

PLACE = "usr/lib/x86_64-linux-gnu"
CONTENTS = bytes(random.Random(5).choices(b"abcdefgh", k=800_000))
OTHER_BUILD = CONTENTS[::-1]
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
    (folder / PLACE).mkdir(parents=True)
    (folder / PLACE / library).write_bytes(contents)
    (folder / "meta").mkdir()
    base = "none" if kind == "base" else "core24"
    text = f"name: {name}\nversion: '1'\nbase: {base}\ntype: {kind}\n"
    (folder / "meta/snap.yaml").write_text(text)
    return folder


def packed(folder: Path) -> Path:
    return pack_as_snap(folder, folder.with_suffix(".snap"))


def supplied(*arguments: str | Path) -> list[dict[str, Any]]:
    result = advisor("lint", "--select", "SCA308", "--format", "json", *arguments)
    assert result.returncode == 0, result.stderr
    (payload,) = json.loads(result.stdout)["payloads"]
    return list(payload["findings"])


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    return make_snap(tmp_path / "prime", "sample", "libsame.so.1", CONTENTS)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return make_snap(
        tmp_path / "core24", "core24", "libsame.so.1", CONTENTS, kind="base"
    )


def test_nothing_is_said_of_libraries_that_no_list_knows(prime: Path) -> None:
    assert not supplied(prime)


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
    result = advisor("advise", "--format", "json", prime, "--base", base)
    assert result.returncode == 0, result.stderr
    findings = json.loads(result.stdout)["findings"]
    (finding,) = [each for each in findings if each["rule"] == "SCA308"]
    assert finding["files"] == [f"{PLACE}/libsame.so.1"]
    assert not finding["undecided"]


def test_a_built_snap_is_compared_alike(prime: Path, base: Path) -> None:
    (finding,) = supplied(packed(prime), "--base", packed(base))
    assert finding["files"] == [f"{PLACE}/libsame.so.1"]
    assert not finding["undecided"]


def test_another_build_of_the_library_is_undecided(prime: Path, base: Path) -> None:
    (base / PLACE / "libsame.so.1").write_bytes(OTHER_BUILD)
    (finding,) = supplied(prime, "--base", base)
    assert finding["undecided"]
    assert "other builds" in finding["message"]


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
    ("name", "status"),
    [("nowhere.snap", 66), ("broken.snap", 65)],
)
def test_what_is_no_snap_is_one_clear_error(
    prime: Path, tmp_path: Path, option: str, name: str, status: int
) -> None:
    (tmp_path / "broken.snap").write_bytes(b"no image")
    result = advisor("lint", prime, option, tmp_path / name)
    assert result.returncode == status, result.stderr
    assert name in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_base_that_is_broken_inside_is_the_payloads_error(
    prime: Path, base: Path
) -> None:
    image = packed(base)
    with image.open("r+b") as file:  # the library's block, after the superblock
        file.seek(200)
        file.write(b"\0" * 50_000)
    result = advisor("lint", prime, "--base", image, "--format", "json")
    assert result.returncode == 65, result.stderr
    (payload,) = json.loads(result.stdout)["payloads"]
    assert "core24.snap" in payload["error"]
    assert "Traceback" not in result.stderr
