"""``launch-set``, as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from real_payloads import advisor
from snapcraft_compression_advisor.launch.profile import LaunchProfile, read_profile

if TYPE_CHECKING:
    from pathlib import Path


def write_recorded(path: Path, *, app: str) -> Path:
    profile = {
        "source": "residency",
        "app": app,
        "files": [{"path": "usr/share/data/text", "size": 788_890, "blocks": [[0, 0]]}],
    }
    path.write_text(json.dumps(profile))
    return path


def test_guess_is_written_as_a_profile_that_advise_takes(
    small_prime: Path, tmp_path: Path
) -> None:
    output = tmp_path / "launch.json"
    result = advisor("launch-set", small_prime, "-o", output)
    assert (result.returncode, result.stdout) == (0, "")
    profile = read_profile(output)
    assert (profile.source, profile.app) == ("static", "sample")
    assert "usr/bin/sample" in [file.path for file in profile.files]
    advice = advisor("advise", small_prime, "--launch-profile", output)
    assert advice.returncode == 0, advice.stderr


def test_guess_goes_to_stdout_as_text_or_profile(small_prime: Path) -> None:
    text = advisor("launch-set", small_prime).stdout
    assert text.startswith("App sample, guessed from files: ")
    found = advisor("launch-set", small_prime, "--format", "json", "--app", "other")
    profile = LaunchProfile.model_validate_json(found.stdout)
    assert profile.app == "other"
    assert {"usr/bin/other", "usr/bin/sample"} <= {file.path for file in profile.files}


def test_guess_is_compared_with_a_recording(small_prime: Path, tmp_path: Path) -> None:
    recorded = write_recorded(tmp_path / "recorded.json", app="other")
    text = advisor("launch-set", small_prime, "--compare", recorded).stdout
    assert "recall       0.0%" in text
    assert "131.1 kB usr/share/data/text" in text
    found = advisor(
        "launch-set", small_prime, "--compare", recorded, "--format", "json"
    )
    assert json.loads(found.stdout)["app"] == "other"


def test_file_is_explained(small_prime: Path) -> None:
    text = advisor("launch-set", small_prime, "--explain", "usr/bin/sample").stdout
    assert text.startswith("usr/bin/sample: a launch of sample is expected to read")
    unread = advisor("launch-set", small_prime, "--explain", "usr/share/data/text")
    assert "not expected in a launch of sample" in unread.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explain", "usr/bin/nothing"], "has no file 'usr/bin/nothing'"),
        (["--app", "nobody"], "has no app 'nobody'"),
        (["--app", "sample", "--compare", "recorded.json"], "is for app 'other'"),
        (["--compare", "nowhere.json"], "Cannot read the launch profile"),
    ],
)
def test_what_cannot_be_compared_is_said(
    small_prime: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    write_recorded(tmp_path / "recorded.json", app="other")
    result = advisor("launch-set", small_prime, *arguments, cwd=tmp_path)
    assert result.returncode != 0
    assert message in result.stderr
    assert "Traceback" not in result.stderr
