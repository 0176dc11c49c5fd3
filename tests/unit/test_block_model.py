"""The model that predicts what slow codecs make of a block."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.trial.block_model import block_models, model_columns
from snapcraft_compression_advisor.trial.look import closer_look

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


def test_columns_are_the_looks_the_length_and_their_products() -> None:
    columns = model_columns(np.array([[0.5, 0.25]]), np.array([2.0**17]))
    assert columns.tolist() == [[1, 0.5, 0.25, 1, 0.25, 0.125, 0.5, 0.0625, 0.25, 1]]


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
