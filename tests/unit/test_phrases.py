"""How reports say where image sizes come from."""

from __future__ import annotations

import pytest

from reports import make_full_report
from snapcraft_compression_advisor.report.contract import Interval
from snapcraft_compression_advisor.report.page.texts import how_sized

SOME = {"xz": 10, "lzo": 10, "gzip": 5, "none": 100}


def made(known: dict[str, int], *, own: str | None = None, packed: bool = False) -> str:
    """Return what a report of 100 blocks says, so many of them known by codec."""
    report = make_full_report()
    assert report.method is not None
    size = Interval(low=7e6, mid=7e6, high=7e6)
    codecs = {
        name: codec.model_copy(update={"image_bytes": size}) if name == own else codec
        for name, codec in report.trial.codecs.items()
    }
    mode = "exact" if packed else "sampled"
    trial = report.trial.model_copy(update={"mode": mode, "codecs": codecs})
    blocks = {"distinct_blocks": 100, "blocks_known": known}
    changed = {
        "trial": trial,
        "method": report.method.model_copy(update=blocks),
        "payload": report.payload.model_copy(update={"image_bytes": own and 7_000_000}),
    }
    return how_sized(report.model_copy(update=changed))


SAMPLED = "with intervals that contain the true size for 95% of such samples."
FROM_SOME = f"Image sizes: estimated from a sample of the data blocks, {SAMPLED}"
FROM_ALL = "Image sizes: estimated from all of the data blocks"


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (SOME, FROM_SOME),
        ({}, FROM_SOME),
        (
            dict.fromkeys(SOME, 100),
            f"{FROM_ALL}, with intervals that cover the size of the metadata.",
        ),
        (
            SOME | {"xz": 100, "lzo": 100},
            f"{FROM_ALL} with xz and lzo, from a sample with gzip, {SAMPLED}",
        ),
    ],
)
def test_sizes_say_how_many_blocks_were_tried(known: dict[str, int], told: str) -> None:
    assert made(known) == told


def test_size_of_a_built_snap_is_measured() -> None:
    text = made(SOME | {"xz": 100}, own="xz")
    assert text.startswith(
        "Image sizes: measured for xz, the snap's own codec; others estimated from a "
    )


def test_packed_sizes_are_measured() -> None:
    assert made({}, packed=True) == "Image sizes: measured."
