"""``trim`` of payloads and projects that are odd: said clearly, and nothing is lost."""

import json
import os
import random
from pathlib import Path

import pytest

from elf_files import make_elf
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    profile_text,
)

LIB = "usr/lib/x86_64-linux-gnu"
SNAP_YAML = """\
name: calculator
version: '1'
base: core24
architectures: [amd64]
apps:
  calculator: {command: bin/calculator}
"""
PLUGIN = make_elf(soname="libplugin.so.1", exported=["plugin"])
PLANTED = b"int planted;\n" * 400


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    """Return a payload with a header, and a base beside it."""
    write(tmp_path / "core24/meta/snap.yaml", b"name: core24\nversion: '1'\ntype: base")
    root = tmp_path / "prime"
    write(root / "meta/snap.yaml", SNAP_YAML.encode())
    write(root / "bin/calculator", make_elf(interpreter="/lib64/ld-linux-x86-64.so.2"))
    write(root / "usr/include/planted.h", PLANTED)
    return root


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)


def trim(prime: Path, *options: str) -> int:
    return main(["trim", str(prime), "--base", str(prime.parent / "core24"), *options])


def sure_files(prime: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert trim(prime, "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    return sorted(
        file
        for group in report["groups"]
        if group["risk"] is None
        for file in group["files"]
    )


def test_name_of_a_file_that_has_another_frees_no_data(
    prime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(prime / "usr/include/other.h", random.Random(1).randbytes(300_000))
    os.link(prime / "usr/include/other.h", prime / "data.h")
    assert trim(prime, "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert 0 < report["groups"][0]["image_bytes"]["mid"] < 10_000
    assert report["sure_bytes"]["mid"] < 10_000


def test_farm_of_links_is_followed_to_its_end(
    prime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    farm = prime / "usr/include/farm"
    farm.mkdir()
    for number in range(400):
        (farm / f"{number}.h").symlink_to(f"{(number + 1) % 400}.h")
    (prime / "usr/include/self").symlink_to("self")
    (prime / "usr/include/out.h").symlink_to("../../../../etc/passwd")
    (prime / "usr/include/whole").symlink_to("..")
    assert sure_files(prime, capsys) == ["usr/include/planted.h"]


def test_directory_that_a_link_shows_elsewhere_is_risky(
    prime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(prime / "usr/include/calculator/tables.h", PLANTED)
    (prime / "data").symlink_to("usr/include/calculator")
    assert sure_files(prime, capsys) == ["usr/include/planted.h"]


def test_plug_in_that_is_found_by_a_scan_stays(
    prime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(prime.parent / f"core24/{LIB}/libplugin.so.1", PLUGIN)
    write(prime / f"{LIB}/calculator/plugins/libplugin.so.1", PLUGIN)
    assert sure_files(prime, capsys) == ["usr/include/planted.h"]
    write(prime / f"{LIB}/libplugin.so.1", PLUGIN)
    assert f"{LIB}/libplugin.so.1" in sure_files(prime, capsys)


def test_recording_of_another_build_names_what_is_needed_all_the_same(
    prime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = tuple(
        ProfileFile(path=path, size=999_999, blocks=((0, 7),))
        for path in ("usr/include/planted.h", "usr/include/gone.h")
    )
    profile = LaunchProfile(source="residency", app="calculator", app_files=files)
    path = tmp_path / "launch.json"
    path.write_text(profile_text(profile))
    write(prime / "usr/include/other.h", PLANTED)
    assert trim(prime, "--launch-profile", str(path), "--format", "yaml") == 0
    text = capsys.readouterr().out
    assert "usr/include/other.h" in text
    assert "planted.h" not in text


def test_nothing_is_written_where_one_of_two_parts_can_not_be_changed(
    prime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(prime / "usr/lib/planted.a", b"!<arch>\n" + bytes(900))
    project = tmp_path / "snapcraft.yaml"
    text = "name: calculator\nparts:\n  app:\n    plugin: nil\n  lib: {plugin: nil}\n"
    project.write_text(text)
    for part, file in (("app", "include/planted.h"), ("lib", "lib/planted.a")):
        state = tmp_path / f"parts/{part}/state/prime"
        write(state, f"files: !!set\n  usr/{file}: null\n".encode())
    assert trim(prime, "--fix", "--project", str(tmp_path)) != 0
    assert "not each key or item has a line of its own" in capsys.readouterr().err
    assert project.read_text() == text
