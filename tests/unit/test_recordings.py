"""Launches recorded as part of other work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.recordings import (
    Reporter,
    in_place,
    recorded_profiles,
)
from snapcraft_compression_advisor.core.errors import ToolError, UsageError
from snapcraft_compression_advisor.launch.profile import LaunchProfile
from snapcraft_compression_advisor.payload.source import (
    DirectoryPayload,
)
from snapcraft_compression_advisor.settings.parts import Recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SNAP_YAML = "name: sample\napps: {sample: {command: bin/sample}, other: {}}\n"


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    payload = tmp_path / "prime"
    (payload / "meta").mkdir(parents=True)
    (payload / "meta/snap.yaml").write_text(SNAP_YAML)
    (payload / "bin").mkdir()
    (payload / "bin/sample").write_text("#!/bin/sh\n")
    (payload / "bin/sample").chmod(0o755)
    (payload / "bin/link").symlink_to("sample")
    return payload


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def reporter(said: list[str]) -> Reporter:
    def say(kind: str) -> Callable[[str], None]:
        return lambda text: said.append(f"{kind}: {text}")

    return Reporter(progress=lambda _: None, note=say("note"), warn=say("warn"))


@pytest.fixture
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("DISPLAY", raising=False)


def test_recorded_launch_takes_the_place_of_a_file() -> None:
    def profile(app: str, warm_s: float) -> LaunchProfile:
        return LaunchProfile(source="residency", app=app, warm_s=warm_s, app_files=())

    known = [profile("a", 1), profile("b", 1)]
    assert in_place(known, [profile("b", 2)]) == (profile("a", 1), profile("b", 2))


def test_component_has_no_launch_to_record(prime: Path, reporter: Reporter) -> None:
    component = DirectoryPayload(prime, component="more")
    assert recorded_profiles(component, [Recording()], reporter) == ()


def test_app_that_is_not_there_is_an_error_even_if_not_required(
    prime: Path, reporter: Reporter
) -> None:
    with pytest.raises(UsageError, match="has no app 'gone'"):
        recorded_profiles(DirectoryPayload(prime), [Recording(app="gone")], reporter)


@pytest.mark.parametrize(
    ("recording", "problem"),
    [
        ({"app": "other"}, "has no app 'other' with a command"),
        ({"until": "seconds:90"}, "seconds:90 exceeds the timeout of 60 s"),
        ({"until": "window"}, "no display on which sample could show a window"),
    ],
)
@pytest.mark.usefixtures("_nothing_installed")
def test_launch_that_cannot_be_recorded_is_guessed_with_a_warning(
    prime: Path,
    reporter: Reporter,
    said: list[str],
    recording: dict[str, object],
    problem: str,
) -> None:
    wanted = Recording.model_validate(recording)
    assert recorded_profiles(DirectoryPayload(prime), [wanted], reporter) == ()
    (line,) = said
    assert line.startswith("warn: The launch of ")
    assert problem in line
    required = wanted.model_copy(update={"required": True})
    with pytest.raises((ToolError, UsageError), match=problem):
        recorded_profiles(DirectoryPayload(prime), [required], reporter)
