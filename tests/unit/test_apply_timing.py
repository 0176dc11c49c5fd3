"""What calibration makes of the times of squashfs-tools and xdelta3."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from payloads import work_of
from snapcraft_compression_advisor.capture import apply_timing
from snapcraft_compression_advisor.capture.apply_timing import time_apply
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.devices.apply import search_s
from snapcraft_compression_advisor.devices.apply_speeds import (
    MEASURED,
    WRITTEN_S_PER_BYTE,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.devices.device import ApplySpeeds, ByteCost

RAW_BYTES, IMAGE_BYTES = 4_000_000, 1_000_000
WORK = work_of(RAW_BYTES, 8.0 * RAW_BYTES)


def seconds(cost: ByteCost) -> float:
    return (
        RAW_BYTES * cost.raw_s_per_byte.mid + IMAGE_BYTES * cost.stored_s_per_byte.mid
    )


def packing_s(codec: str) -> float:
    costs = CODECS[codec].pack_search or pytest.fail(f"{codec} has no search costs")
    return search_s(costs, WORK)


@pytest.fixture
def speeds(tmp_path: Path, mocker: MockerFixture) -> ApplySpeeds:
    """Return the speeds of a machine that packs xz in twice the time, lzo in thrice."""
    images = {codec: tmp_path / codec for codec in ("xz", "lzo")}
    for image in images.values():
        image.write_bytes(bytes(IMAGE_BYTES))
    mocker.patch("snapcraft_compression_advisor.squashfs.mksquashfs.unpack")
    mocker.patch.object(apply_timing, "children_s", side_effect=count())
    pack_s = {
        "xz": 2 * packing_s("xz"),
        "lzo": 3 * packing_s("lzo"),
        "gzip": 1.0,  # it could be packed, but not mounted
    }
    return time_apply(images, pack_s, WORK, tmp_path)


def test_packing_is_scaled_to_the_time_that_it_took(speeds: ApplySpeeds) -> None:
    for codec, factor in (("xz", 2), ("lzo", 3)):
        found, known = (seconds(each.pack[codec]) for each in (speeds, MEASURED))
        assert found == pytest.approx(factor * known)


def test_unpacking_is_scaled_to_the_time_that_it_took(speeds: ApplySpeeds) -> None:
    # The clock of the fixture goes on by a second at each look.
    assert seconds(speeds.unpack["xz"]) == pytest.approx(1.0)


def test_what_was_not_measured_is_as_much_slower_as_xz(speeds: ApplySpeeds) -> None:
    assert seconds(speeds.pack["gzip"]) == pytest.approx(
        2 * seconds(MEASURED.pack["gzip"])
    )
    assert speeds.patch_s_per_byte.mid == pytest.approx(
        2 * MEASURED.patch_s_per_byte.mid
    )


def test_delta_without_anything_to_decode_tells_how_fast_xdelta3_writes(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    image = tmp_path / "none"
    image.write_bytes(bytes(IMAGE_BYTES))
    taken_s = 3 * IMAGE_BYTES * WRITTEN_S_PER_BYTE
    mocker.patch("snapcraft_compression_advisor.squashfs.mksquashfs.unpack")
    mocker.patch("shutil.which", return_value="xdelta3")
    run = mocker.patch.object(apply_timing, "run_child")
    run.return_value.returncode = 0
    mocker.patch.object(
        apply_timing, "children_s", side_effect=(0.0, 1.0, 1.0, 1.0 + taken_s)
    )
    found = time_apply({"none": image}, {"none": 1.0}, WORK, tmp_path)
    known = MEASURED.patch_s_per_byte
    assert found.patch_s_per_byte.mid == pytest.approx(3 * known.mid)


def test_interval_is_that_of_other_contents(speeds: ApplySpeeds) -> None:
    pack, known = (each.pack["xz"].raw_s_per_byte for each in (speeds, MEASURED))
    assert pack.low == pytest.approx(2 * known.low)
    assert pack.high == pytest.approx(2 * known.high)
    assert 0 < speeds.digest_s_per_byte.mid < 1e-6
