"""What a launch costs that reads from several mounts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.model import LaunchEstimate, seconds_saved
from snapcraft_compression_advisor.launch.stack_model import together

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
