"""The environment of a launch."""

import os
import platform
from pathlib import Path

import pytest

from snapcraft_compression_advisor.capture.snap_environment import (
    PATH,
    SNAP_LIBRARY_PATH,
    SnapApp,
    display_authority,
    expand,
    kept_environment,
    launch_environment,
    launch_home,
    make_places,
    seen_environment,
)
from snapcraft_compression_advisor.core.errors import StorageError


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$A/${B}", "1/2"),
        ("$AB-${A}B", "-1B"),
        ("x${A:+:$A}:y", "x:y"),
        ("${A", "${A"),
        ("100$ and $", "100$ and $"),
        ("$?$1x", "x"),
        ("plain", "plain"),
    ],
)
def test_variables_are_replaced_as_snapd_does(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == expanded


SNAPD = {
    "SNAP", "SNAP_NAME", "SNAP_INSTANCE_NAME", "SNAP_INSTANCE_KEY", "SNAP_VERSION",
    "SNAP_REVISION", "SNAP_ARCH", "SNAP_COMMON", "SNAP_DATA", "SNAP_USER_COMMON",
    "SNAP_USER_DATA", "SNAP_REAL_HOME", "SNAP_UID", "SNAP_EUID", "SNAP_APP_NAME",
    "SNAP_REEXEC", "SNAP_LIBRARY_PATH", "SNAP_CONTEXT", "SNAP_COOKIE", "HOME",
    "XDG_RUNTIME_DIR", "TMPDIR", "SNAP_COMPONENTS", "SNAP_SAVE_DATA",
    "SNAP_APP_DESKTOP_FILE", "SNAP_APP_COMMON_ID",
}  # fmt: skip
"""What snapd sets for an app (``snap/snapenv/snapenv.go``, ``snap-confine``)."""
APP = SnapApp(snap="hello", version="1.0", app="world", common_id="org.hello")


def environment_of(**added: str) -> dict[str, str]:
    return launch_environment(
        APP,
        snap="/mnt/x",
        seen_as="/seen",
        user=1000,
        inherited={"LANG": "de_DE.UTF-8"},
        added=added,
    )


def test_app_sees_all_that_snapd_sets_and_no_more() -> None:
    environment = environment_of()
    assert set(environment) == {*SNAPD, "PATH", "LANG"}
    assert environment["SNAP"] == "/mnt/x"
    assert environment["SNAP_ARCH"] == {"x86_64": "amd64", "aarch64": "arm64"}.get(
        platform.machine(), platform.machine()
    )
    assert environment["SNAP_UID"] == environment["SNAP_EUID"] == "1000"
    assert (environment["SNAP_APP_NAME"], environment["SNAP_VERSION"]) == (
        "world",
        "1.0",
    )
    assert environment["HOME"] == environment["SNAP_USER_DATA"] == "/seen/user"
    assert environment["XDG_RUNTIME_DIR"] == "/seen/runtime"


def test_values_refer_to_variables_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    environment = environment_of(
        LD_LIBRARY_PATH="$SNAP_LIBRARY_PATH${LD_LIBRARY_PATH:+:$X}:$SNAP/l",
        PATH="$SNAP/bin:$PATH",
        SECOND="$LD_LIBRARY_PATH!",
        STOLEN="$GITHUB_TOKEN",
    )
    assert environment["LD_LIBRARY_PATH"] == f"{SNAP_LIBRARY_PATH}:/mnt/x/l"
    assert environment["PATH"] == f"/mnt/x/bin:{PATH}"
    assert environment["SECOND"] == f"{SNAP_LIBRARY_PATH}:/mnt/x/l!"
    assert environment["STOLEN"] == ""


@pytest.mark.parametrize(
    ("variable", "isolated", "unconfined"),
    [
        ("LANG", True, True),
        ("LC_ALL", True, True),
        ("GITHUB_TOKEN", False, True),
        ("DBUS_SESSION_BUS_ADDRESS", False, True),
        ("PYTHONPATH", False, False),
        ("SNAP_VERSION", False, False),
        ("LD_PRELOAD", False, False),
        ("WAYLAND_DISPLAY", False, False),
    ],
)
def test_what_is_seen_of_this_runs_environment(
    variable: str, monkeypatch: pytest.MonkeyPatch, *, isolated: bool, unconfined: bool
) -> None:
    monkeypatch.setenv(variable, "x")
    assert (variable in seen_environment()) is isolated
    assert (variable in kept_environment()) is unconfined


def test_key_to_the_display_is_found_where_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XAUTHORITY", str(tmp_path / "key"))
    assert display_authority() is None
    (tmp_path / "key").write_bytes(b"cookie")
    assert display_authority() == tmp_path / "key"
    monkeypatch.setenv("XAUTHORITY", "/dev/null")
    assert display_authority() is None


def test_home_is_fresh_and_goes_unless_it_is_named(tmp_path: Path) -> None:
    with launch_home() as fresh:
        assert (fresh / "user").is_dir()
        (fresh / "user/file").touch()
    assert not fresh.exists()
    with launch_home(tmp_path / "kept") as kept:
        (kept / "user/file").touch()
    assert (tmp_path / "kept/user/file").exists()
    assert (tmp_path / "kept/runtime").stat().st_mode & 0o777 == 0o700


def test_home_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(StorageError, match="home directory"),
        launch_home(tmp_path / "file/home"),
    ):
        pass


def test_link_in_the_place_of_a_homes_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home/data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is a link"), launch_home(tmp_path / "home"):
        pass


def test_places_are_not_made_through_what_a_launch_left(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with launch_home(tmp_path / "home") as home:
        (home / "data/door").symlink_to(elsewhere)
        (home / "data/file").touch()
        places = ("data/door/new", "data/file/new", "common/a/b")
        make_places(home, places, user=os.geteuid())
        assert (home / "common/a/b").is_dir()
    assert list(elsewhere.iterdir()) == []
