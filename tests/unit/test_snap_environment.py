"""The environment of a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.snap_environment import (
    PATH,
    SNAP_LIBRARY_PATH,
    expand,
    launch_environment,
    launch_home,
    snap_architecture,
)
from snapcraft_compression_advisor.core.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


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


def environment_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("XAUTHORITY", str(home / "key"))
    with launch_home(home) as place:
        return launch_environment(
            name="hello",
            snap="/mnt/x",
            home=place,
            seen_as="/seen",
            added={
                "LD_LIBRARY_PATH": "$SNAP_LIBRARY_PATH${LD_LIBRARY_PATH:+:$X}:$SNAP/l",
                "PATH": "$SNAP/bin:$PATH",
                "SECOND": "$LD_LIBRARY_PATH!",
            },
        )


def test_app_sees_what_snapd_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_of(tmp_path, monkeypatch)
    assert environment["SNAP"] == "/mnt/x"
    assert environment["SNAP_NAME"] == "hello"
    assert environment["SNAP_ARCH"] == snap_architecture()
    assert environment["HOME"] == environment["SNAP_USER_DATA"] == "/seen/user"
    assert environment["XDG_RUNTIME_DIR"] == "/seen/runtime"
    assert environment["LD_LIBRARY_PATH"] == f"{SNAP_LIBRARY_PATH}:/mnt/x/l"
    assert environment["PATH"] == f"/mnt/x/bin:{PATH}"
    assert environment["SECOND"] == f"{SNAP_LIBRARY_PATH}:/mnt/x/l!"


def test_app_does_not_see_what_is_the_advisors_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "SNAP_VERSION", "LD_PRELOAD", "WAYLAND_DISPLAY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    environment = environment_of(tmp_path, monkeypatch)
    assert not {"PYTHONPATH", "SNAP_VERSION", "LD_PRELOAD"} & set(environment)
    assert "WAYLAND_DISPLAY" not in environment
    assert environment["LANG"] == "de_DE.UTF-8"


def test_key_to_the_display_comes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_bytes(b"cookie")
    environment = environment_of(tmp_path, monkeypatch)
    assert environment["XAUTHORITY"] == "/seen/runtime/Xauthority"
    copy = tmp_path / "runtime/Xauthority"
    assert copy.read_bytes() == b"cookie"
    assert copy.stat().st_mode & 0o777 == 0o600


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
