"""``launch-set``, as a user meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real_payloads import advisor
from snapcraft_compression_advisor.launch.profile import LaunchProfile, read_profile

if TYPE_CHECKING:
    from pathlib import Path


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
    ],
)
def test_what_cannot_be_guessed_is_said(
    small_prime: Path, arguments: list[str], message: str
) -> None:
    result = advisor("launch-set", small_prime, *arguments)
    assert result.returncode != 0
    assert message in result.stderr
    assert "Traceback" not in result.stderr
