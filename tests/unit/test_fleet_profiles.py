"""``fleet`` takes recorded launches by the names of snaps and apps."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fleets import make_request, make_snap
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.fleet.run import settings_digest
from snapcraft_compression_advisor.fleet.sources import Snap
from snapcraft_compression_advisor.fleet.task import SnapTask, profiles_of

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = (
    '{"schema":1,"source":"residency","app":"one",'
    '"files":[{"path":"noise","size":100000,"blocks":[[0,0]]}]}'
)


@pytest.mark.parametrize("file", ["one.json", "one.app.json"])
def test_a_profile_is_that_of_the_snap_in_its_name(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text(PROFILE)
    (tmp_path / "one-more.json").write_text("of another snap")
    (profile,) = profiles_of("one", tmp_path)
    assert profile.app == "one"
    assert profiles_of("other", tmp_path) == ()
    assert profiles_of("one", None) == ()


def test_a_hostile_name_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(PROFILE)
    (tmp_path / "in").mkdir()
    for name in ("../one", "*", "[a-z]ne"):
        assert profiles_of(name, tmp_path / "in") == ()
        assert profiles_of(name, tmp_path) == () or name == "../one"
    (tmp_path / "two.json").write_text("no profile")
    with pytest.raises(BadDataError):
        profiles_of("two", tmp_path)


def test_a_changed_profile_is_another_setting(tmp_path: Path) -> None:
    request = replace(make_request(), launch_profiles=tmp_path)
    digests = {
        settings_digest(make_request(), limit_s=60),
        settings_digest(request, limit_s=60),
    }
    (tmp_path / "one.json").write_text(PROFILE)
    digests.add(settings_digest(request, limit_s=60))
    assert len(digests) == 2


def test_what_is_no_directory_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    snap = tmp_path / "one.snap"
    snap.write_bytes(b"hsqs")
    arguments = ["fleet", str(snap), "-o", str(tmp_path / "data")]
    assert main([*arguments, "--launch-profiles", str(snap)]) == os.EX_NOINPUT
    assert "isn't a directory of launch profiles" in capsys.readouterr().err


@pytest.mark.skipif(
    shutil.which("mksquashfs") is None, reason="mksquashfs is not installed"
)
def test_a_row_has_the_recorded_launch_and_its_kind(tmp_path: Path) -> None:
    snap = make_snap(tmp_path, "one")
    (tmp_path / "one.json").write_text(PROFILE)
    rows = []
    for folder in (tmp_path, None):
        request = replace(make_request(), launch_profiles=folder)
        with ExitStack() as until:
            rows.append(SnapTask(request, until).row(Snap(path=str(snap))))
    recorded, guessed = rows
    assert {each["source"] for each in recorded["launches"]} == {"recorded"}  # type: ignore[attr-defined]
    assert {each["source"] for each in guessed["launches"]} == {"static"}  # type: ignore[attr-defined]
    assert recorded["launch_bytes"] == 100_000
    assert recorded["kind"] == guessed["kind"] is not None
