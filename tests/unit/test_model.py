"""What a launch costs, also of several snaps."""

from dataclasses import replace

import pytest

from made_blocks import stored_block
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.model import (
    LaunchEstimate,
    average_saving,
    estimate_launch,
    seconds_saved,
    sum_blocks,
    together,
)
from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.result import CodecTrial, blocks_of_files

XZ = BlockCost(
    block_s=Interval.exactly(3),
    raw_s_per_byte=Interval(low=0.1, mid=0.2, high=0.4),
    stored_s_per_byte=Interval.exactly(1),
)
DEVICE = DeviceProfile(
    name="test",
    description="",
    seek_s=Interval(low=1, mid=2, high=3),
    read_s_per_byte=Interval.exactly(0.01),
    fill=NO_COST,
    decompress={"xz": XZ},
    processors=2,
    sources=(),
)


def in_launch(low: float, mid: float, high: float) -> Interval:
    """Return what a launch waits for where the blocks alone take so long."""
    factor = CODECS["xz"].in_launch
    return Interval(low=low * factor.low, mid=mid * factor.mid, high=high * factor.high)


def block(raw: int, stored: int) -> ImageBlock:
    return stored_block(raw_bytes=raw, stored_bytes=stored)


def trial(**blocks: tuple[ImageBlock, ...]) -> CodecTrial:
    return CodecTrial(
        codec="xz", image_bytes=Interval.exactly(1), blocks=blocks_of_files(blocks)
    )


def launch_set(
    *,
    read_share: Interval | None = None,
    seek_share: Interval | None = None,
    waited_share: Interval | None = None,
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
        waited_share=waited_share or Interval.exactly(1),
    )


def test_each_run_of_blocks_costs_a_seek_and_its_stored_bytes() -> None:
    blocks = (block(10, 5), block(10, 5), block(10, 5), block(10, 5))
    estimate = estimate_launch(launch_set(a=((0, 1), (3, 3))), trial(a=blocks), DEVICE)
    assert estimate.io.mid == pytest.approx(2 * 2 + 15 * 0.01)


def test_compressed_block_costs_by_its_contents_and_what_is_stored_of_them() -> None:
    estimate = estimate_launch(
        launch_set(a=((0, 1),)), trial(a=(block(10, 5), block(8, 8))), DEVICE
    )
    assert estimate.decompress == in_launch(9.0, 10.0, 12.0)


def test_filling_pages_costs_for_every_block() -> None:
    fill = BlockCost(
        block_s=Interval.exactly(1),
        raw_s_per_byte=Interval.exactly(0.5),
        stored_s_per_byte=Interval.exactly(0),
    )
    estimate = estimate_launch(
        launch_set(a=((0, 1),)),
        trial(a=(block(10, 5), block(8, 8))),
        replace(DEVICE, fill=fill),
    )
    assert estimate.copying == Interval.exactly(2 + 0.5 * 18)


def test_launch_waits_for_part_of_the_work_but_for_all_of_the_storage() -> None:
    blocks = (block(10, 5),)
    whole = estimate_launch(launch_set(a=((0, 0),)), trial(a=blocks), DEVICE)
    half = estimate_launch(
        launch_set(a=((0, 0),), waited_share=Interval.exactly(0.5)),
        trial(a=blocks),
        DEVICE,
    )
    assert half.decompression.mid == whole.decompression.mid / 2
    assert half.io == whole.io


def guessed(*ranges: tuple[int, int, float]) -> LaunchSet:
    """Return a launch set of one file whose blocks are read by these shares."""
    file = LaunchFile(
        path="a",
        size_bytes=1,
        blocks=tuple((first, last) for first, last, _ in ranges),
        shares=tuple(share for _, _, share in ranges),
    )
    return replace(launch_set(), files=(file,))


def test_blocks_count_by_the_share_in_which_they_are_read() -> None:
    sums = sum_blocks(
        guessed((0, 0, 1.0), (1, 2, 0.25)),
        trial(a=(block(10, 5), block(10, 5), block(8, 8))),
    )
    assert sums.blocks == 1.5
    assert sums.raw_bytes == 10 + 2.5 + 2
    assert sums.stored_bytes == 5 + 1.25 + 2
    assert sums.compressed_blocks == 1.25
    assert sums.compressed_raw_bytes == 12.5
    assert sums.compressed_stored_bytes == 6.25


@pytest.mark.parametrize(
    ("ranges", "fewest", "most"),
    [
        ([(0, 0, 0.5)], 0.5, 0.5),
        ([(0, 3, 0.5)], 0.5, 0.5 + 3 * 0.25),
        ([(0, 0, 1.0), (1, 1, 0.5)], 1.0, 1.0),
        ([(0, 0, 0.5), (1, 1, 1.0)], 1.0, 1.0),
        ([(0, 0, 0.5), (2, 2, 0.5)], 1.0, 1.0),
    ],
)
def test_runs_of_blocks_lie_between_the_fewest_and_the_most(
    ranges: list[tuple[int, int, float]], fewest: float, most: float
) -> None:
    sums = sum_blocks(guessed(*ranges), trial(a=(block(10, 5),) * 4))
    assert sums.runs == pytest.approx((fewest * most) ** 0.5)


def test_block_of_zeros_does_not_end_a_run() -> None:
    blocks = (block(10, 5), block(10, 0), block(10, 5))
    assert sum_blocks(launch_set(a=((0, 2),)), trial(a=blocks)).runs == 1


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
    assert estimate.decompression == in_launch(4.5, 10.0, 36.0)
    assert estimate.added_s.mid == pytest.approx(2.05 + 10 * CODECS["xz"].in_launch.mid)


def estimate_of(
    transfer: tuple[float, float, float],
    decompress: tuple[float, float, float],
    *,
    share: Interval | None = None,
    waited: Interval | None = None,
) -> LaunchEstimate:
    return LaunchEstimate(
        seeks=Interval(low=1, mid=2, high=3),
        transfer=Interval.around(*transfer),
        fill=Interval.exactly(0),
        decompress=Interval.around(*decompress),
        read_share=share or Interval.exactly(1),
        seek_share=Interval.exactly(1),
        waited_share=waited or Interval.exactly(1),
    )


def test_what_parts_leave_open_adds_up_by_squares() -> None:
    xz = estimate_of((1, 2, 3), (10, 20, 30))
    lzo = estimate_of((2, 4, 6), (1, 2, 3))
    saved = seconds_saved(xz, lzo)
    distance = (9**2 + 1**2) ** 0.5
    assert saved.mid == 18 - 2
    assert saved.low == pytest.approx(16 - distance)
    assert saved.high == pytest.approx(16 + distance)


def test_cost_is_no_less_than_the_least_of_all_its_parts() -> None:
    wide = Interval(low=0.0, mid=1.0, high=1.0)
    estimate = estimate_of((0, 0, 0), (0, 10, 10), share=wide, waited=wide)
    assert estimate.added_s.low >= 0
    assert estimate.added_s.mid == pytest.approx(10 + 2)


def test_saving_is_that_of_one_launch_whatever_its_size() -> None:
    share = Interval(low=0.5, mid=1, high=2)
    xz = estimate_of((1, 1, 1), (10, 10, 10), share=share)
    lzo = estimate_of((7, 7, 7), (2, 2, 2), share=share)
    assert seconds_saved(xz, lzo) == Interval(low=1, mid=2, high=4)
    assert seconds_saved(lzo, xz) == Interval(low=-4, mid=-2, high=-1)


def test_saving_is_of_what_the_launch_waits_for() -> None:
    waited = Interval(low=0.5, mid=1, high=1)
    xz = estimate_of((1, 1, 1), (10, 10, 10), waited=waited)
    lzo = estimate_of((1, 1, 1), (2, 2, 2), waited=waited)
    assert seconds_saved(xz, lzo) == Interval(low=4, mid=8, high=8)


def test_more_knowledge_narrows_an_interval() -> None:
    share = Interval(low=0.5, mid=1, high=2)
    xz = estimate_of((1, 1, 1), (6, 10, 14), share=share)
    lzo = estimate_of((1, 1, 1), (2, 2, 2), share=share)
    saved, known = average_saving([(1.0, xz, lzo)])
    assert known.if_recorded == Interval(low=4, mid=8, high=12)
    assert known.if_calibrated == Interval(low=4, mid=8, high=16)
    for narrowed in (known.if_recorded, known.if_calibrated):
        assert saved.low < narrowed.low < narrowed.high < saved.high


def test_what_a_codec_takes_in_launches_stays_open_on_a_calibrated_device() -> None:
    xz, lzo = (
        replace(estimate_of((1, 1, 1), work), calibrated_s=calibrated)
        for work, calibrated in (
            ((4, 10, 18), Interval(low=8, mid=10, high=13)),
            ((1, 2, 4), Interval(low=1.5, mid=2, high=3)),
        )
    )
    saved, known = average_saving([(1.0, xz, lzo)])
    assert known.if_calibrated == Interval(low=6.5, mid=8, high=10)
    assert saved.low < known.if_calibrated.low
    assert known.if_calibrated.high < saved.high


ONE = Interval.exactly(1.0)


def layer(
    decompress: tuple[float, float, float], *, seeks: float = 0.0, transfer: float = 0.0
) -> LaunchEstimate:
    return LaunchEstimate(
        seeks=Interval.exactly(seeks),
        transfer=Interval.exactly(transfer),
        fill=Interval.exactly(0.5),
        decompress=Interval.around(*decompress),
        read_share=ONE,
        seek_share=ONE,
        waited_share=ONE,
    )


def test_layers_of_a_launch_add_up() -> None:
    layers = [layer((1, 2, 3), seeks=1), layer((4, 5, 6), transfer=2), layer((0, 0, 0))]
    whole = together(layers)
    assert whole.added_s.mid == pytest.approx(sum(each.added_s.mid for each in layers))
    assert whole.decompress == Interval(low=5, mid=7, high=9)


def test_device_is_as_fast_for_one_layer_as_for_another() -> None:
    layers = [layer((1, 2, 4)), layer((1, 2, 4))]
    alone, whole = layers[0].added_s, together(layers).added_s
    assert whole.high - whole.mid == pytest.approx(2 * (alone.high - alone.mid))


def test_launch_waits_for_the_same_share_of_all_layers() -> None:
    waited = Interval(low=0.25, mid=0.5, high=1.0)
    layers = [
        replace(layer((work, work, work)), waited_share=waited) for work in (1.5, 3.5)
    ]
    assert together(layers).waited_share == waited
    assert together(layers).added_s.mid == pytest.approx(3)


def test_shares_that_differ_weigh_by_what_their_layer_costs() -> None:
    known = layer((3, 3, 3), seeks=1)
    guessed = replace(
        layer((0.5, 0.5, 0.5), seeks=3),
        read_share=Interval(low=0.5, mid=2.0, high=4.0),
        seek_share=Interval(low=0.2, mid=0.5, high=1.0),
    )
    whole = together([known, guessed])
    parts = known.added_s.mid + guessed.added_s.mid
    assert whole.added_s.mid == pytest.approx(parts)
    assert whole.seek_share.mid == pytest.approx((1 * 1 + 3 * 0.5) / 4)


def test_layer_that_costs_nothing_leaves_the_shares_alone() -> None:
    nothing = replace(layer((0, 0, 0)), fill=Interval.exactly(0))
    share = Interval(low=0.5, mid=1.0, high=2.0)
    assert together([replace(nothing, read_share=share), nothing]).read_share == share


def test_another_codec_of_one_layer_saves_what_it_saves_alone() -> None:
    app, base_xz, base_lzo = layer((1, 2, 3)), layer((8, 9, 11)), layer((1, 1, 2))
    alone = seconds_saved(base_xz, base_lzo)
    whole = seconds_saved(together([app, base_xz]), together([app, base_lzo]))
    assert (whole.low, whole.mid, whole.high) == pytest.approx(
        (alone.low, alone.mid, alone.high)
    )
