"""The scores of applications that nobody looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import blind
from accuracy_blind import blind_lines, figures, score_table
from blind import DEVICE, BlindScore, link_own_files, read_scores, write_scores
from draw import FOLDERS, Drawn
from snapcraft_compression_advisor.devices.device_file import read_device
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    profile_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

SCORE = BlindScore(
    application="app",
    distribution="Debian 13",
    stratum="qt6",
    kind="Qt 6",
    read_bytes=100,
    expected_bytes=80,
    low_bytes=50,
    high_bytes=125,
    recall=0.9,
    precision=0.8,
    verdict="change (lzo)",
    recorded_verdict="change (lzo)",
    device="nvme-laptop",
    saved_s=1.0,
    saved_low_s=0.5,
    saved_high_s=2.0,
    recorded_saved_s=1.5,
    verdict_on_base="change (lzo)",
    recorded_verdict_on_base="change (lzo)",
)


def found(*scores: BlindScore) -> list[str]:
    return [found for _, found in figures(scores)]


def test_the_interval_holds_what_was_read() -> None:
    assert (SCORE.read_per_expected, SCORE.held, SCORE.width) == (1.25, True, 2.5)
    assert not replace(SCORE, high_bytes=99).held
    assert replace(SCORE, expected_bytes=0).read_per_expected == float("inf")


@pytest.mark.parametrize(
    ("verdict", "recorded", "contradicted"),
    [
        ("no-benefit (xz)", "change (lzo)", True),
        ("undecided (xz)", "change (lzo)", False),
        ("change (lzo)", "undecided (xz)", False),
        ("keep (xz)", "keep (xz)", False),
    ],
)
def test_only_a_sure_verdict_can_be_contradicted(
    verdict: str, recorded: str, *, contradicted: bool
) -> None:
    score = replace(SCORE, verdict=verdict, recorded_verdict=recorded)
    assert score.contradicted is contradicted


def test_figures_count_each_application_once() -> None:
    wrong = replace(
        SCORE, read_bytes=200, recall=0.5, verdict="no-benefit (xz)", low_bytes=25
    )
    unsure = replace(SCORE, read_bytes=40, verdict="undecided (xz)")
    assert found(SCORE, wrong, unsure) == [
        "2 of 3 (67%)",
        "1 of 3 (33%)",
        "0.90 / 0.80",
        "1; 0",
        "1 of 3 (33%); 0 of 3 (0%)",
        "1 of 3 (33%)",
        "2.50",
    ]


def test_the_page_has_no_section_before_the_set_was_scored() -> None:
    assert list(blind_lines([], [])) == []
    text = "\n".join(blind_lines([SCORE], [[SCORE, SCORE], [SCORE]]))
    assert "| figure | found | at least | aim | second draw | first draw |" in text
    assert "These are the scores of the third draw." in text
    assert "| app | 13 | qt6 | Qt 6 |" in text
    assert "| 1.25 | yes | 0.90 | 0.80 | 1.50 | 1.00 (0.50 to 2.00) |" in text


def test_every_row_has_as_many_cells_as_the_head() -> None:
    assert len({line.count("|") for line in score_table([SCORE])}) == 1


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", [SCORE])
    assert read_scores(tmp_path / "scores.csv") == [SCORE]
    assert read_scores(tmp_path / "none.csv") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "fit"], "-o FILE is needed"),
        (["app"], "scored as a whole"),
    ],
)
def test_the_blind_scores_are_of_the_whole_blind_set(
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        blind.main(["--trees", "trees", "--bases", "bases", *words])
    assert said in capsys.readouterr().err


def test_scores_arent_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "scores.csv"
    output.write_text("as it came out")
    words = ["--trees", str(tmp_path), "--bases", str(tmp_path), "-o", str(output)]
    assert blind.main(words) == 1
    assert "scored once" in capsys.readouterr().err
    assert output.read_text() == "as it came out"


def test_a_guess_is_scored_by_its_recording(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    tree = tmp_path / "tool"
    (tree / "meta").mkdir(parents=True)
    (tree / "meta" / "snap.yaml").write_text(
        "name: tool\nversion: '1'\nbase: bare\napps: {tool: {command: usr/bin/tool}}\n"
    )
    (tree / "usr" / "bin").mkdir(parents=True)
    script = tree / "usr" / "bin" / "tool"
    script.write_text("#!/bin/sh\n" + "echo\n" * 200)
    script.chmod(0o755)
    size = script.stat().st_size
    profile = LaunchProfile(
        source="residency",
        app="tool",
        app_files=(ProfileFile(path="usr/bin/tool", size=size, blocks=((0, 0),)),),
    )
    (tmp_path / "tool.json").write_text(profile_text(profile))
    mocker.patch.dict(FOLDERS, {"fit": tmp_path})
    row = Drawn(
        seed="seed",
        slot=0,
        set="fit",
        stratum="c",
        kind="cli",
        release="bookworm",
        package="tool",
        version="1",
        file="usr/bin/tool",
        outcome="recorded",
    )
    base = blind.minimal_system(tmp_path / "bases", row)
    score = blind.score(row, tmp_path, base, read_device(DEVICE))
    assert (score.application, score.distribution) == ("tool", "Debian 12")
    assert (score.read_bytes, score.recall) == (size, 1.0)
    assert score.low_bytes < score.expected_bytes < score.high_bytes
    assert score.recorded_verdict == "no-benefit (xz)"
    assert score.recorded_verdict_on_base == "no-benefit (xz)"
    assert not list(tmp_path.glob(".own-*"))


def test_a_snap_on_a_base_has_what_the_minimal_system_lacks(tmp_path: Path) -> None:
    for name in ("tree/bin/sh", "tree/lib/own.so", "base/bin/sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "tree" / "lib" / "link.so").symlink_to("own.so")
    link_own_files(tmp_path / "tree", tmp_path / "base", tmp_path / "own")
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("own/*/*")}
    assert found == {"own/lib/own.so", "own/lib/link.so"}
