"""What prime_from_debs.py writes below ``meta/``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

import desktop_file
import snap_metadata
from prime_error import PrimeError

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE_NAMES = st.from_regex(r"[a-z0-9][a-z0-9+.-]{1,60}", fullmatch=True)
PACKAGE_VERSIONS = st.from_regex(
    r"([0-9]+:)?[0-9][A-Za-z0-9.+~:-]{0,50}", fullmatch=True
)
# snapd, snap/validate.go
SNAPD_VERSION = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9:.+~-]{0,30}[a-zA-Z0-9+~])?")


def program(root: Path, path: str) -> str:
    """Make an executable file below the root."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).touch(mode=0o755)
    return path


@given(PACKAGE_NAMES)
def test_every_packages_name_gives_a_name_that_snapd_takes(package: str) -> None:
    snap_metadata.check_snap_name(snap_metadata.snap_name(package))


@given(PACKAGE_VERSIONS)
def test_every_packages_version_gives_a_version_that_snapd_takes(version: str) -> None:
    assert SNAPD_VERSION.fullmatch(snap_metadata.snap_version(version))


@pytest.mark.parametrize("name", ["", "a", "A", "12", "a--b", "-a", "a-", "a" * 41])
def test_names_that_snapd_refuses_are_refused(name: str) -> None:
    with pytest.raises(PrimeError, match="no snap name") as raised:
        snap_metadata.check_snap_name(name)
    assert raised.value.exit_status == os.EX_USAGE


def test_the_program_named_like_the_package_is_the_default(tmp_path: Path) -> None:
    paths = [program(tmp_path, f"usr/bin/{name}") for name in ("aaa", "foo")]
    assert snap_metadata.default_command("foo", paths, tmp_path) == "usr/bin/foo"


def test_a_packages_only_program_is_the_default(tmp_path: Path) -> None:
    paths = [program(tmp_path, "usr/games/bar"), program(tmp_path, "usr/lib/x/tool")]
    assert snap_metadata.default_command("foo", paths, tmp_path) == "usr/games/bar"


def test_a_program_of_another_package_with_the_name_is_the_default(
    tmp_path: Path,
) -> None:
    program(tmp_path, "usr/bin/foo")
    assert snap_metadata.default_command("foo", [], tmp_path) == "usr/bin/foo"


def test_of_several_programs_none_is_the_default(tmp_path: Path) -> None:
    paths = [program(tmp_path, f"usr/bin/{name}") for name in ("one", "two")]
    assert snap_metadata.default_command("foo", paths, tmp_path) is None


@pytest.mark.parametrize("target", ["/bin/sh", "../../../../bin/sh", "foo", "none"])
def test_a_link_out_of_the_tree_or_in_a_loop_is_no_program(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "foo").symlink_to(target)
    assert not snap_metadata.is_program("foo", tmp_path)


def test_commands_and_app_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "data").touch(mode=0o644)
    program(tmp_path, "bin/foo")
    snap_metadata.check_app("foo", "bin/foo", tmp_path)
    with pytest.raises(PrimeError, match="no program 'data'"):
        snap_metadata.check_app("foo", "data", tmp_path)
    with pytest.raises(PrimeError, match="no app name"):
        snap_metadata.check_app("foo_bar", "bin/foo", tmp_path)


def test_the_environment_names_the_library_folders_that_are_there(
    tmp_path: Path,
) -> None:
    (tmp_path / "usr" / "lib" / "aarch64-linux-gnu").mkdir(parents=True)
    environment = snap_metadata.default_environment(tmp_path, "arm64")
    assert environment["LD_LIBRARY_PATH"].endswith(
        "}:$SNAP/usr/lib:$SNAP/usr/lib/aarch64-linux-gnu"
    )


def test_snap_yaml_says_what_it_was_told_whatever_the_summary_has() -> None:
    metadata = snap_metadata.SnapMetadata(
        name="foo",
        version="1.10",
        summary="a: 'b' \"c\"\n#d é" + "x" * 200,
        architecture="amd64",
        base="core24",
        apps={"foo": "usr/bin/foo", "bar": "usr/bin/bar"},
    )
    text = snap_metadata.snap_yaml(metadata, {"PATH": "$SNAP/bin:$PATH"})
    read = YAML(typ="safe").load(text)
    assert read["version"] == "1.10"
    assert read["summary"].startswith("a: 'b' \"c\" #d é")
    assert len(read["summary"]) == 128
    assert read["architectures"] == ["amd64"]
    assert read["environment"] == {"PATH": "$SNAP/bin:$PATH"}
    assert read["apps"]["bar"] == {"command": "usr/bin/bar"}
    assert list(read["apps"]) == ["foo", "bar"]


ENTRY = """[Desktop Entry]
Name=Foo
Exec=/usr/bin/foo --new %U
TryExec=foo
DBusActivatable=true
Icon=foo
[Desktop Action other]
Exec=other-program
"""


def test_a_desktop_file_starts_the_app_and_shows_the_snaps_icon(tmp_path: Path) -> None:
    small = "usr/share/icons/hicolor/16x16/apps/foo.png"
    scalable = "usr/share/icons/hicolor/scalable/apps/foo.svg"
    source = "usr/share/applications/foo.desktop"
    for path in (small, scalable, source):
        program(tmp_path, path)
    (tmp_path / small).write_text("larger", encoding="utf-8")
    (tmp_path / source).write_text(ENTRY, encoding="utf-8")
    (written,) = desktop_file.write_desktop_file(
        tmp_path, [source], snap="snap", app="foo", command="usr/bin/foo"
    )
    assert written == tmp_path / "meta" / "gui" / "foo.desktop"
    assert written.read_text(encoding="utf-8").splitlines() == [
        "[Desktop Entry]",
        "Name=Foo",
        "Exec=snap.foo --new %U",
        f"Icon=${{SNAP}}/{scalable}",
        "[Desktop Action other]",
        "Exec=other-program",
    ]


def test_an_icon_that_isnt_in_the_snap_stays_as_it_is(tmp_path: Path) -> None:
    assert desktop_file.find_icon(ENTRY, tmp_path) is None
    entry = desktop_file.desktop_entry(ENTRY, app="foo", command="foo", icon=None)
    assert "\nIcon=foo\n" in entry
    assert "\nExec=foo --new %U\n" in entry


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["org.example.Foo"], "org.example.Foo"),
        (["org.example.Foo", "foo"], "foo"),
        (["org.example.Foo", "org.example.Bar"], None),
        ([], None),
    ],
)
def test_the_desktop_file_is_the_apps_own_or_the_only_one(
    files: list[str], found: str | None
) -> None:
    paths = [f"usr/share/applications/{name}.desktop" for name in files]
    path = desktop_file.find_desktop_file([*paths, "usr/share/x.desktop"], ["foo"])
    assert path == (found and f"usr/share/applications/{found}.desktop")
