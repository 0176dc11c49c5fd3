"""Predictors of a block's size, and their errors."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pytest_mock import MockerFixture

from made_blocks import make_census, part_of
from payloads import make_payload
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.payload.layout import Layout, lay_out, make_layout
from snapcraft_compression_advisor.trial.census import Census, Phase, Sample
from snapcraft_compression_advisor.trial.estimate import block_models
from snapcraft_compression_advisor.trial.look import (
    EXCERPT_BYTES,
    EXCERPT_PIECES,
    CloserLook,
    QuickLook,
    closer_look,
    excerpt,
    look_at_blocks,
)
from snapcraft_compression_advisor.trial.stored import LEAST_ERROR, block_errors

BLOCK = 128 * 1024
WORDS = random.Random(3).choices([b"launch ", b"block ", b"codec ", b"table "], k=900)
TEXT = b"".join(WORDS)
NOISE = random.Random(4).randbytes(BLOCK)


def test_quick_look_scales_the_excerpt_s_size_to_the_block() -> None:
    block, fast = (TEXT * 40)[:BLOCK], Zstd(level=1)
    assert QuickLook().at(TEXT) == (len(fast.compress(TEXT)),)
    assert QuickLook().at(block) == (4 * len(fast.compress(excerpt(block))),)
    assert QuickLook().at(NOISE) == (BLOCK,)


@pytest.mark.parametrize("look", [QuickLook(), closer_look()])
def test_every_look_has_as_many_sizes_as_it_says(look: QuickLook | CloserLook) -> None:
    assert len(look.at(TEXT)) == look.columns
    assert look.at(bytes(100)) == (0,) * look.columns


def test_dictionary_of_an_excerpt_s_length_changes_no_size() -> None:
    part = excerpt((TEXT * 40)[: BLOCK // 2] + NOISE[: BLOCK // 2])
    long, short = Xz(preset=1), Xz(preset=1, dictionary_bytes=EXCERPT_BYTES)
    assert len(short.compress(part)) == len(long.compress(part)) < len(part)
    assert short.compress(part) != long.compress(part)  # which names the dictionary


def test_block_has_the_fast_size_corrected_by_the_excerpt() -> None:
    xz, fast = Xz(preset=1), Zstd(level=1)
    look = CloserLook(fast=fast, closer=(xz,), with_fast=False)
    block = (TEXT * 40)[:BLOCK]
    part = excerpt(block)
    (size,) = look.at(block)
    shares = len(xz.compress(part)) / len(fast.compress(part))
    assert size == pytest.approx(len(fast.compress(block)) * shares)
    (size,) = look.at(TEXT)  # all of it
    assert size == pytest.approx(len(xz.compress(TEXT)))


def test_closer_look_tells_the_size_with_the_fastest_codec_first() -> None:
    block = (TEXT * 40)[:BLOCK]
    assert closer_look().at(block)[0] == len(Zstd(level=1).compress(block))
    assert closer_look().column_names[0] == "zstd"
    assert "zstd" not in closer_look(known="xz").column_names


def test_what_does_not_compress_is_predicted_to_be_as_long_as_it_is() -> None:
    assert closer_look().at(NOISE) == (BLOCK,) * closer_look().columns


@given(length=st.integers(0, BLOCK))
def test_excerpt_takes_pieces_from_the_start_to_the_end(length: int) -> None:
    contents = NOISE[:length]
    part = excerpt(contents)
    piece = EXCERPT_BYTES // EXCERPT_PIECES
    assert len(part) == min(length, EXCERPT_BYTES)
    assert part[:piece] == contents[:piece]
    assert part[-piece:] == contents[-piece:]
    assert all(
        part[at : at + piece] in contents for at in range(0, len(part) - piece, piece)
    )


@pytest.mark.parametrize(
    ("fast", "slow"),
    [(Gzip(1), Gzip()), (Lzo(4), Lzo()), (Xz(1), Xz())],
)
def test_fast_codec_is_another_level_of_the_slow_one(
    fast: Gzip | Lzo | Xz, slow: Gzip | Lzo | Xz
) -> None:
    assert len(slow.compress(TEXT)) < len(fast.compress(TEXT)) < len(TEXT)
    assert fast.decompress(fast.compress(TEXT), max_bytes=len(TEXT)) == TEXT


@pytest.mark.parametrize(("missing", "columns"), [(Lzo, 2), (Xz, 2)])
def test_codec_without_its_library_is_left_out(
    mocker: MockerFixture, missing: type, columns: int
) -> None:
    mocker.patch.object(missing, "available", new=False)
    assert closer_look().columns == columns


def test_blocks_are_looked_at_in_the_order_asked_for() -> None:
    payload = make_payload({f"f{n:02}": TEXT[n * 40 :] for n in range(60)})
    layout = lay_out(payload)
    look = closer_look()
    numbers = np.array([50, 3, 17])
    rows = look_at_blocks(payload, layout, numbers, look)
    assert rows.tolist() == [list(look.at(TEXT[n * 40 :])) for n in numbers]


@pytest.mark.parametrize(("known", "columns"), [("xz", 1), ("lzo", 1), ("zstd", 2)])
def test_known_codec_is_not_predicted(known: str, columns: int) -> None:
    look = closer_look(known=known)
    assert look.columns == columns
    assert known not in {codec.name for codec in look.closer}


LOOKS = closer_look().column_names
CODECS_OF = {
    "none": {"xz", "lzo", "gzip", "zstd", "lz4"},
    "xz": {"lzo", "gzip", "zstd", "lz4"},
    "lzo": {"xz", "gzip", "zstd", "lz4"},
}
PAYLOADS = [
    (None, LOOKS),
    ("xz", ("xz", *closer_look(known="xz").column_names)),
    ("lzo", ("lzo", *closer_look(known="lzo").column_names)),
]


@pytest.mark.parametrize(("known", "looks"), PAYLOADS)
def test_payload_has_a_model_for_every_codec_that_isnt_known(
    known: str | None, looks: tuple[str, ...]
) -> None:
    assert block_models(known, looks).keys() == CODECS_OF[known or "none"]


@pytest.mark.parametrize(
    ("known", "looks"),
    [
        (None, LOOKS[:2]),  # without lzo's library
        (None, ("gzip", *LOOKS[1:])),  # without that of zstd
        ("gzip", ("gzip", *LOOKS[1:])),
    ],
)
def test_no_model_is_used_on_other_looks(
    known: str | None, looks: tuple[str, ...]
) -> None:
    assert not block_models(known, looks)


def test_sizes_are_from_nothing_to_the_whole_block() -> None:
    rng = np.random.default_rng(3)
    ratios, raw_bytes = rng.random((500, 4)), rng.uniform(1, 1 << 17, 500)
    for model in block_models(None, LOOKS).values():
        predicted = model.predict(ratios, raw_bytes)
        assert (predicted >= 0).all()
        assert (predicted <= 1).all()


def test_what_was_found_before_the_closer_look_is_left_alone() -> None:
    rng = np.random.default_rng(4)
    ratios, raw_bytes = rng.random((50, 5)), rng.uniform(1, 1 << 17, 50)
    for model in block_models(None, LOOKS).values():
        closer = model.predict(ratios[:, 1:], raw_bytes)
        assert model.predict(ratios, raw_bytes).tolist() == closer.tolist()


def test_block_that_no_look_compresses_is_stored() -> None:
    ratios, raw_bytes = np.ones((3, 4)), np.array([100.0, 5000.0, 131072.0])
    for model in block_models(None, LOOKS).values():
        assert (model.predict(ratios, raw_bytes) == 1).all()


def test_blocks_of_program_text_are_predicted_closely() -> None:
    contents = b"".join(
        path.read_bytes()
        for path in sorted(Path(json.__file__).parents[1].glob("*.py"))[:60]
    )
    chance = random.Random(5)
    blocks = [
        contents[start : start + 131072]
        for start in (chance.randrange(len(contents) - 131072) for _ in range(6))
    ]
    ratios = np.array([closer_look().at(each) for each in blocks]) / 131072
    for name, model in block_models(None, LOOKS).items():
        predicted = model.predict(ratios, np.full(6, 131072.0)).sum() * 131072
        true = sum(len(CODECS[name].compress(each)) for each in blocks)
        assert predicted == pytest.approx(true, rel=0.1)


@pytest.mark.parametrize("known", ["none", "xz", "lzo"])
@pytest.mark.parametrize("codec", ["xz", "lzo"])
def test_payloads_left_out_are_predicted_within_two_percent(
    known: str, codec: str
) -> None:
    text = files("snapcraft_compression_advisor.trial").joinpath("block_model.json")
    fitted = json.loads(text.read_text())["models"][known]["codecs"].get(codec)
    assert fitted is None or (fitted["bias"] < 0.02 and fitted["scatter"] < 0.06)


def census_of(members: Sequence[int], ratios: Sequence[float]) -> Phase:
    """Return a census of some blocks, all of them full."""
    count = len(members)
    return Phase(
        members=np.array(members, dtype=np.int64),
        raw_bytes=np.full(count, float(BLOCK)),
        shares=np.full(count, 0.5),
        weights=np.full(count, 2.0),
        ratios=np.array(ratios, dtype=np.float64)[:, None],
        zeros=np.zeros(count, dtype=np.bool_),
        lots=np.linspace(0.1, 0.9, count),
    )


def errors_of(
    phases: Sequence[Phase],
    predicted: Sequence[NDArray[np.float64]],
    tried: NDArray[np.int64],
    stored: NDArray[np.float64],
    layout: Layout | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the errors of blocks that were tried without fail."""
    layout = layout or make_layout([("a", len(phases[0].members) * BLOCK)])
    census = Census(layout=layout, phases=(phases[0],))
    sample = Sample(members=tried, shares=np.ones(len(tried)))
    return block_errors(census, phases, predicted, sample, stored)


def test_the_error_is_what_predictions_miss_of_the_blocks_tried() -> None:
    census, truth = make_census(400)
    predicted = truth * np.where(np.arange(400) % 2, 1.2, 0.8)
    tried = np.arange(0, 400, 4) + np.arange(100) % 2
    errors, runs = errors_of([census], [predicted], tried, truth[tried])
    assert (errors[tried] == 0).all()
    pliable = census.ratios[:, 0] < 0.75
    untried = np.setdiff1d(np.flatnonzero(pliable), tried)
    assert errors[untried] == pytest.approx(0.2, abs=0.03)
    assert not len(runs)


def test_blocks_that_do_not_compress_are_off_by_little() -> None:
    blocks = replace(census_of([0, 1, 2], [0.4, 0.99, 1.0]), weights=np.ones(3))
    predicted = blocks.ratios[:, 0] * BLOCK
    errors, _ = errors_of([blocks], [predicted], np.array([0]), predicted[:1] * 1.3)
    assert errors[0] == 0
    assert errors[1] == errors[2] == pytest.approx(0.1 * 0.3, rel=0.01)


def test_no_prediction_is_taken_to_be_perfect() -> None:
    census, truth = make_census(40)
    tried = np.arange(0, 40, 2)
    errors, _ = errors_of([census], [truth], tried, truth[tried])
    assert errors[1::2].max() == LEAST_ERROR


def test_the_closest_look_at_a_block_counts() -> None:
    census, truth = make_census(40)
    closer = part_of(census, np.arange(0, 40, 2), np.ones(20))
    tried = np.array([0, 4, 8, 12])
    sizes = [truth * 1.5, truth[closer.members] * 1.1]
    errors, _ = errors_of([census, closer], sizes, tried, truth[tried])
    assert errors[2] < errors[1]


def test_unread_blocks_are_off_by_what_neighbours_differ_in_runs() -> None:
    layout = make_layout([("a", 8 * BLOCK), ("b", 4 * BLOCK)])
    blocks = census_of([1, 3, 5, 9, 10], [0.50, 0.52, 0.48, 0.10, 0.12])
    sizes = blocks.ratios[:, 0] * BLOCK
    errors, runs = errors_of([blocks], [sizes], blocks.members, sizes, layout)
    assert (errors[blocks.members] == 0).all()
    assert errors[[0, 2, 4, 11]] == pytest.approx(errors[0])
    assert errors[0] > LEAST_ERROR
    assert runs.tolist() == [1, 0, 1, 0, 1, 0, 3, 3, 3, 0, 0, 1]


def test_an_empty_census_has_no_errors() -> None:
    nothing = np.zeros(0)
    none = census_of([], [])
    errors, _ = errors_of([none], [nothing], none.members, nothing, make_layout([]))
    assert not len(errors)
