"""What a cold launch costs."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.errors import UsageError
from snapcraft_compression_advisor.launch.device import (
    DEVICES,
    DeviceProfile,
    find_devices,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.model import (
    LaunchEstimate,
    estimate_launch,
    seconds_saved,
)
from snapcraft_compression_advisor.trial.result import CodecTrial, StoredBlock
from snapcraft_compression_advisor.units import Interval

DEVICE = DeviceProfile(
    name="test",
    description="",
    seek_s=Interval(low=1, mid=2, high=3),
    read_s_per_byte=Interval.exactly(0.01),
    decompress_s_per_byte={"xz": Interval(low=0.1, mid=0.2, high=0.4)},
    sources=(),
)


def block(raw: int, stored: int) -> StoredBlock:
    return StoredBlock(raw_bytes=raw, stored_bytes=stored, compressed=0 < stored < raw)


def trial(**blocks: tuple[StoredBlock, ...]) -> CodecTrial:
    return CodecTrial(
        codec="xz", shippable=True, image_bytes=Interval.exactly(1), blocks=blocks
    )


def launch_set(
    *,
    read_share: Interval | None = None,
    seek_share: Interval | None = None,
    **ranges: tuple[tuple[int, int], ...],
) -> LaunchSet:
    return LaunchSet(
        app="hello",
        source="static",
        files=tuple(
            LaunchFile(path=path, size_bytes=1, blocks=blocks)
            for path, blocks in ranges.items()
        ),
        read_share=read_share or Interval.exactly(1),
        seek_share=seek_share or Interval.exactly(1),
    )


def test_each_run_of_blocks_costs_a_seek_and_its_stored_bytes() -> None:
    blocks = (block(10, 5), block(10, 5), block(10, 5), block(10, 5))
    estimate = estimate_launch(launch_set(a=((0, 1), (3, 3))), trial(a=blocks), DEVICE)
    assert estimate.io.mid == pytest.approx(2 * 2 + 15 * 0.01)


def test_compressed_blocks_cost_by_their_raw_bytes_and_stored_ones_nothing() -> None:
    estimate = estimate_launch(
        launch_set(a=((0, 1),)), trial(a=(block(10, 5), block(8, 8))), DEVICE
    )
    assert estimate.decompress == Interval(low=1.0, mid=2.0, high=4.0)


def test_blocks_of_zeros_cost_nothing() -> None:
    estimate = estimate_launch(
        launch_set(a=((0, 0),)), trial(a=(block(10, 0),)), DEVICE
    )
    assert estimate.added_s == Interval.exactly(0)


def test_parts_grow_with_what_is_really_read() -> None:
    reads = launch_set(
        a=((0, 0),),
        read_share=Interval(low=0.5, mid=1, high=3),
        seek_share=Interval(low=0.5, mid=1, high=2),
    )
    estimate = estimate_launch(reads, trial(a=(block(10, 5),)), DEVICE)
    assert estimate.io.low == pytest.approx(0.5 * 1 + 0.5 * 0.05)
    assert estimate.io.high == pytest.approx(2 * 3 + 3 * 0.05)
    assert estimate.decompression == Interval(low=0.5, mid=2.0, high=12.0)
    assert estimate.added_s.mid == pytest.approx(4.05)


def estimate_of(
    transfer: tuple[float, float, float],
    decompress: tuple[float, float, float],
    *,
    share: Interval | None = None,
) -> LaunchEstimate:
    return LaunchEstimate(
        seeks=Interval(low=1, mid=2, high=3),
        transfer=Interval.around(*transfer),
        decompress=Interval.around(*decompress),
        read_share=share or Interval.exactly(1),
        seek_share=Interval.exactly(1),
    )


def test_saving_combines_the_parts_in_the_worst_and_the_best_way() -> None:
    xz = estimate_of((1, 2, 3), (10, 20, 30))
    lzo = estimate_of((2, 4, 6), (1, 2, 3))
    assert seconds_saved(xz, lzo) == Interval(low=9 - 3, mid=18 - 2, high=27 - 1)


def test_saving_is_that_of_one_launch_whatever_its_size() -> None:
    share = Interval(low=0.5, mid=1, high=2)
    xz = estimate_of((1, 1, 1), (10, 10, 10), share=share)
    lzo = estimate_of((7, 7, 7), (2, 2, 2), share=share)
    assert seconds_saved(xz, lzo) == Interval(low=1, mid=2, high=4)
    assert seconds_saved(lzo, xz) == Interval(low=-4, mid=-2, high=-1)


def test_codecs_that_cost_the_same_save_nothing() -> None:
    same = estimate_of((1, 2, 3), (1, 2, 3))
    assert seconds_saved(same, same) == Interval.exactly(0)


def test_all_devices_know_every_codec_and_their_sources() -> None:
    for device in DEVICES:
        assert set(device.decompress_s_per_byte) == {
            "xz", "lzo", "gzip", "zstd", "lz4", "none"
        }  # fmt: skip
        assert len(device.sources) >= 2


def test_devices_are_found_by_name_all_by_default() -> None:
    assert find_devices([]) == DEVICES
    assert [d.name for d in find_devices(["hdd-laptop", "hdd-laptop"])] == [
        "hdd-laptop"
    ]


def test_unknown_device_is_a_usage_error_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="nvme-lap") as caught:
        find_devices(["nvme-lap"])
    assert "Did you mean 'nvme-laptop'?" in str(caught.value.resolution)
