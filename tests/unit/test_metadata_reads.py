"""Metadata blocks that launches read, as recordings counted them: what they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.codecs.codec import METADATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.devices.device_file import device_text, parse_device
from snapcraft_compression_advisor.launch.combining import together
from snapcraft_compression_advisor.launch.fit import fit_layer, fit_profile
from snapcraft_compression_advisor.launch.launch_set import (
    LaunchSet,
)
from snapcraft_compression_advisor.launch.model import (
    BlockSums,
    LaunchEstimate,
    cost_of_blocks,
    seconds_saved,
)
from snapcraft_compression_advisor.launch.profile import PROFILE
from snapcraft_compression_advisor.launch.stack import average

DEVICE = find_device("nvme-laptop")


def launch_set(blocks: float | None) -> LaunchSet:
    return LaunchSet(
        app="app",
        source="recorded",
        files=(),
        read_share=Interval.exactly(1.0),
        seek_share=Interval.exactly(1.0),
        waited_share=Interval.exactly(0.5),
        metadata_blocks=blocks,
    )


def estimate(codec: str, blocks: float | None) -> LaunchEstimate:
    return cost_of_blocks(BlockSums(), launch_set(blocks), codec, DEVICE)


def test_launch_waits_for_its_metadata() -> None:
    block = DEVICE.metadata_block_s("xz")
    found = estimate("xz", 1000)
    assert found.added_s.mid == pytest.approx(500 * block.mid)
    assert found.look_up.high == pytest.approx(500 * block.high)
    both = together([found, found])
    assert both.added_s.mid == pytest.approx(2 * found.added_s.mid)


def test_launch_whose_metadata_was_not_counted_costs_its_blocks() -> None:
    assert estimate("xz", None).added_s.mid == 0


def test_average_of_launches_has_their_metadata_if_all_were_counted() -> None:
    counted, other = launch_set(100), launch_set(None)
    mean = average([(0.25, counted), (0.75, launch_set(300))])
    assert mean.metadata_blocks == pytest.approx(250)
    assert average([(0.25, counted), (0.75, other)]).metadata_blocks is None


@pytest.mark.parametrize("schema", [1, 2])
def test_count_of_a_recording_is_used(schema: int) -> None:
    text = {
        1: '"metadata_blocks": 7, "files": []',
        2: '"payloads": [{"role": "app", "name": "a", "metadata_blocks": 7, '
        '"files": []}, {"role": "base", "name": "b", "files": []}]',
    }
    whole = f'{{"schema": {schema}, "source": "residency", "app": "a", {text[schema]}}}'
    profile = PROFILE.parse_json(whole.encode(), where="here")
    inventory = make_payload({}).inventory
    assert fit_profile(profile, inventory).launch_set.metadata_blocks == 7
    base = fit_layer(profile, "base", "b", inventory)
    assert base is None or base.launch_set.metadata_blocks is None


def test_lzo_saves_on_metadata_too() -> None:
    saved = seconds_saved(estimate("xz", 1000), estimate("lzo", 1000))
    costs = [DEVICE.metadata_block_s(codec).mid for codec in ("xz", "lzo")]
    assert saved.mid == pytest.approx(500 * (costs[0] - costs[1]))
    assert saved.mid > 0


def test_cost_that_was_not_measured_is_two_requests_and_a_small_block() -> None:
    stored = DEVICE.metadata_block_s("none")
    fill = DEVICE.fill
    assert stored.mid == pytest.approx(
        2 * fill.block_s.mid + METADATA_BLOCK_BYTES * fill.raw_s_per_byte.mid
    )
    assert DEVICE.metadata_block_s("xz").mid > DEVICE.metadata_block_s("lzo").mid
    assert DEVICE.metadata_block_s("lzo").mid > stored.mid


def test_measured_cost_survives_the_file() -> None:
    measured = Interval(low=1e-4, mid=2e-4, high=3e-4)
    text = device_text(replace(DEVICE, metadata={"xz": measured}))
    read = parse_device(text.encode(), where="device.yaml")
    assert read.metadata == {"xz": measured}
    assert read.metadata_block_s("lzo").mid == pytest.approx(
        DEVICE.metadata_block_s("lzo").mid, rel=1e-3
    )
    assert "metadata" not in device_text(DEVICE)
