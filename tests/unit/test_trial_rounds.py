"""A second round of the trial, where the first leaves the recommendation open."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.trial import census, sampled
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.trial.result import TrialResult


@pytest.fixture(autouse=True)
def few_blocks(mocker: MockerFixture) -> None:
    """Have each step take so few blocks that a small payload has more."""
    mocker.patch.multiple(
        census,
        CLOSER_BLOCKS=12,
        SNAP_CLOSER_BLOCKS=8,
        TRIED_BLOCKS=6,
    )
    mocker.patch.object(sampled, "NARROW_ENOUGH", 1.0)


def run(*, decided: bool) -> TrialResult:
    """Try a payload whose files are part noise, part text."""
    chance = random.Random(7)
    contents = {
        f"file{number}": chance.randbytes(chance.randrange(1, 9000))
        + b"words " * chance.randrange(1, 9000)
        for number in range(60)
    }
    return run_sampled_trial(
        make_payload(contents),
        progress=lambda _: None,
        decided=lambda _: decided,
    )


def half_width(result: TrialResult, codec: str) -> float:
    size = result.codecs[codec].image_bytes
    assert size is not None
    return (size.high - size.low) / 2


def difference_half_width(result: TrialResult) -> float:
    """Return that of lzo's size less that of xz, which isn't rounded to pages."""
    difference = result.lzo_less_xz_bytes
    assert difference is not None
    return (difference.high - difference.low) / 2


def test_open_recommendation_has_more_tried() -> None:
    settled, open_ = run(decided=True), run(decided=False)
    assert difference_half_width(open_) < difference_half_width(settled)


def test_wide_intervals_have_more_tried_though_the_recommendation_stands(
    mocker: MockerFixture,
) -> None:
    wide = run(decided=True)
    mocker.patch.object(sampled, "NARROW_ENOUGH", 1e-6)
    narrower = run(decided=True)
    assert difference_half_width(narrower) < difference_half_width(wide)


def test_codecs_of_the_first_round_keep_what_they_found() -> None:
    settled, open_ = run(decided=True), run(decided=False)
    for codec in ("gzip", "zstd", "lz4"):
        assert half_width(open_, codec) == pytest.approx(
            half_width(settled, codec), rel=0.1
        )


def test_every_codec_has_every_block_after_all_rounds() -> None:
    result = run(decided=False)
    assert result.stored is not None
    for codec in CODECS:
        assert len(result.codecs[codec].blocks.places.blocks_of("file1")) == 1
        assert len(result.stored.codecs[codec].stored_bytes) == 60


@pytest.mark.parametrize(("packed", "looked_at"), [(False, 12), (True, 8)])
def test_fewer_blocks_of_a_snap_are_looked_at(
    tmp_path: Path, *, packed: bool, looked_at: int
) -> None:
    """One of its sizes is known, and to read its blocks takes longer."""
    source = tmp_path / "source"
    (source / "meta").mkdir(parents=True)
    (source / "meta/snap.yaml").write_text("name: a\nversion: '1'\n")
    for number in range(60):
        (source / f"file{number}").write_text(f"{number} words " * 99)
    if packed:
        image = tmp_path / "packed.snap"
        nothing = tmp_path / "nothing"
        nothing.touch()
        mksquashfs.pack(
            source, image, codec="xz", snap_type="app", exclude_file=nothing
        )
        source = image
    with open_payload(source) as payload:
        ladder = census.Ladder(payload, lay_out(payload))
        ladder.climb(scale=1)
    assert len(ladder.phases[-1].members) == looked_at
    assert len(ladder.sample.members) == 6
