"""What calibration makes of the times of squashfs-tools and xdelta3."""

from __future__ import annotations

import os
from subprocess import CompletedProcess
from types import SimpleNamespace
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
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.squashfs import mksquashfs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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


START_S = 0.02
"""What starting any program takes, which isn't what it does."""


def tree(tmp_path: Path) -> DirectoryPayload:
    (tmp_path / "tree/meta").mkdir(parents=True)
    (tmp_path / "tree/meta/snap.yaml").write_text("name: hello\nversion: '1'\n")
    return DirectoryPayload(tmp_path / "tree")


@pytest.fixture
def clock(mocker: MockerFixture) -> Iterator[dict[str, float]]:
    """Let every program take its time: by codec, or by what runs."""
    taken, used = dict[str, float](), [0.0]

    def run(name: str) -> None:
        assert len(os.sched_getaffinity(0)) == 1, "one processor"
        used[0] += START_S + taken.get(name, 0.0)

    def run_child(command: Sequence[str]) -> CompletedProcess[str]:
        if "-e" not in command:  # that one isn't timed
            run(command[0])
        return CompletedProcess(command, 0, "", "")

    def unpack(image: Path, directory: Path) -> None:
        directory.mkdir()
        run(f"unpack {image.name}")

    mocker.patch.object(apply_timing, "run_child", run_child)
    mocker.patch.object(mksquashfs, "pack", lambda *_, codec, **__: run(codec))
    mocker.patch.object(mksquashfs, "unpack", unpack)
    usage = mocker.patch("resource.getrusage")
    usage.side_effect = lambda _: SimpleNamespace(ru_utime=used[0], ru_stime=0.0)
    allowed = os.sched_getaffinity(0)
    yield taken
    assert os.sched_getaffinity(0) == allowed


@pytest.fixture
def speeds(tmp_path: Path, clock: dict[str, float]) -> ApplySpeeds:
    """Return the speeds of a machine that packs xz in twice the time, lzo in thrice.

    gzip could be packed, but not mounted.
    """
    images = {codec: tmp_path / codec for codec in ("xz", "lzo")}
    for image in images.values():
        image.write_bytes(bytes(IMAGE_BYTES))
    clock.update(xz=2 * packing_s("xz"), lzo=3 * packing_s("lzo"))
    clock["unpack xz"] = 1.0
    return time_apply(tree(tmp_path), images, WORK, tmp_path, print)


def test_packing_is_scaled_to_the_time_that_it_took(speeds: ApplySpeeds) -> None:
    for codec, factor in (("xz", 2), ("lzo", 3)):
        found, known = (seconds(each.pack[codec]) for each in (speeds, MEASURED))
        assert found == pytest.approx(factor * known)


def test_unpacking_is_scaled_to_the_time_that_it_took(speeds: ApplySpeeds) -> None:
    assert seconds(speeds.unpack["xz"]) == pytest.approx(1.0)


def test_what_was_not_measured_is_as_much_slower_as_xz(speeds: ApplySpeeds) -> None:
    assert seconds(speeds.pack["gzip"]) == pytest.approx(
        2 * seconds(MEASURED.pack["gzip"])
    )
    assert speeds.patch_s_per_byte.mid == pytest.approx(
        2 * MEASURED.patch_s_per_byte.mid
    )


def test_delta_without_anything_to_decode_tells_how_fast_xdelta3_writes(
    tmp_path: Path, clock: dict[str, float], mocker: MockerFixture
) -> None:
    image = tmp_path / "none"
    image.write_bytes(bytes(IMAGE_BYTES))
    mocker.patch("shutil.which", return_value="xdelta3")
    clock["xdelta3"] = 3 * IMAGE_BYTES * WRITTEN_S_PER_BYTE
    found = time_apply(tree(tmp_path), {"none": image}, WORK, tmp_path, print)
    known = MEASURED.patch_s_per_byte
    assert found.patch_s_per_byte.mid == pytest.approx(3 * known.mid)


def test_interval_is_that_of_other_contents(speeds: ApplySpeeds) -> None:
    pack, known = (each.pack["xz"].raw_s_per_byte for each in (speeds, MEASURED))
    assert pack.low == pytest.approx(2 * known.low)
    assert pack.high == pytest.approx(2 * known.high)
    assert 0 < speeds.digest_s_per_byte.mid < 1e-6
