"""A month of launches, downloads and applied deltas, and what it decides."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import work_of
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.month import Month, month_of
from snapcraft_compression_advisor.advice.recommendation import (
    Recommendation,
    recommend,
)
from snapcraft_compression_advisor.advice.refresh_cost import (
    LZO_SHARE,
    BuildSizes,
    refresh_cost,
)
from snapcraft_compression_advisor.advice.refreshes import Habits, Refresh
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import default_devices
from snapcraft_compression_advisor.wording import sentences

MB = 1_000_000
DEVICES = default_devices()
NVME = DEVICES[0].name
IMAGES = {"xz": Interval.exactly(100 * MB), "lzo": Interval.exactly(140 * MB)}
BUILD = BuildSizes(images=IMAGES, raw_bytes=300 * MB)


def saving(seconds: float, spread: float = 0.0) -> Saving:
    return Saving(
        app="app",
        device=NVME,
        seconds=Interval.around(seconds - spread, seconds, seconds + spread),
    )


def refresh(download_mb: float = 0.0, xz_s: float = 0.0, lzo_s: float = 0.0) -> Refresh:
    """Return a refresh whose download is so much larger with lzo."""
    applied = {"xz": Interval.exactly(xz_s), "lzo": Interval.exactly(lzo_s)}
    return Refresh(
        download_bytes=IMAGES,
        bytes_added=Interval.exactly(download_mb * MB),
        apply_s={NVME: applied},
    )


def month(habits: Habits, cost: Refresh, seconds: float = 1.0) -> Month:
    return month_of(saving(seconds), habits, cost, Interval.exactly(40 * MB), 8.0)


def advise(
    cost: Refresh | None, *, seconds: Saving, habits: Habits, declared: str = "xz"
) -> Recommendation:
    evidence = Evidence(
        declared=declared,
        xz_bytes=IMAGES["xz"],
        lzo_bytes=IMAGES["lzo"],
        bytes_added=Interval.exactly(40 * MB),
        savings=[seconds],
        refresh=cost,
    )
    return recommend(evidence, Policy(habits=habits, link_mbit_per_s=8.0))


def test_parts_of_a_month_add_up() -> None:
    # 10 launches of 1 s; 2 downloads of 3 MB at 8 Mbit/s; 2 deltas applied 4 s faster.
    found = month(Habits(refreshes=2, launches=10), refresh(3, xz_s=9, lzo_s=5))
    assert found.launch_s.mid == pytest.approx(10)
    assert found.download_s.mid == pytest.approx(-6)
    assert found.apply_s.mid == pytest.approx(8)
    assert found.total_s.mid == pytest.approx(12)


@pytest.mark.parametrize(
    ("launches", "cost", "part"),
    [
        (20, refresh(3, xz_s=9, lzo_s=5), "launches"),
        (1, refresh(3, xz_s=9, lzo_s=1), "applying"),
        (1, refresh(30, xz_s=9, lzo_s=5), "downloads"),
    ],
)
def test_the_part_that_does_most_decides(
    launches: float, cost: Refresh, part: str
) -> None:
    habits = Habits(refreshes=2, launches=launches)
    assert month(habits, cost).decided_by == part


def test_full_downloads_add_what_the_image_adds() -> None:
    cost = refresh_cost(Habits(refreshes=1, launches=1), BUILD, DEVICES)
    assert cost.added(Interval.exactly(40 * MB)) == Interval.exactly(40 * MB)
    assert month(Habits(refreshes=1, launches=1), cost).apply_s.mid == 0


def test_delta_of_contents_is_as_large_with_both_codecs_and_packed_on_the_device() -> (
    None
):
    habits = Habits(
        refreshes=1, launches=1, deltas="snap-1-1-xdelta3", delta_share=0.25
    )
    cost = refresh_cost(habits, BUILD, DEVICES)
    assert cost.download_bytes["lzo"] == cost.download_bytes["xz"]
    assert cost.added(Interval.exactly(40 * MB)) == Interval.exactly(0)
    applied = cost.apply_s[NVME]
    assert applied["xz"].mid > applied["lzo"].mid > 1


def test_contents_that_lzo_searches_much_take_longer_to_pack() -> None:
    habits = Habits(
        refreshes=1, launches=1, deltas="snap-1-1-xdelta3", delta_share=0.25
    )

    def packed(steps: float) -> Refresh:
        search = work_of(300 * MB, steps)
        return refresh_cost(habits, replace(BUILD, search=search), DEVICES)

    little, much = packed(1e9), packed(1e10)
    assert much.apply_s[NVME]["lzo"].mid > 2 * little.apply_s[NVME]["lzo"].mid
    assert much.apply_s[NVME]["xz"].mid < 2 * little.apply_s[NVME]["xz"].mid


def test_plain_delta_is_a_smaller_share_of_an_lzo_image() -> None:
    habits = Habits(refreshes=1, launches=1, deltas="xdelta3", delta_share=0.25)
    cost = refresh_cost(habits, BUILD, DEVICES)
    added = cost.added(Interval.exactly(40 * MB))
    assert cost.download_bytes["xz"].mid == pytest.approx(25 * MB)
    assert added.mid == pytest.approx(140 * MB * 0.25 * LZO_SHARE.mid - 25 * MB)
    assert added.low < added.mid < added.high
    assert cost.apply_s[NVME]["xz"].mid < 3


def test_deltas_of_a_previous_build_take_the_place_of_a_typical_share() -> None:
    habits = Habits(refreshes=1, launches=1, deltas="xdelta3")
    deltas = {
        "xz": Interval.around(8 * MB, 10 * MB, 13 * MB),
        "lzo": Interval.around(9 * MB, 12 * MB, 16 * MB),
    }
    cost = refresh_cost(habits, BUILD, DEVICES, deltas=deltas)
    assert cost.download_bytes == deltas
    added = cost.added(Interval.exactly(40 * MB))
    assert (added.low, added.mid, added.high) == (1 * MB, 2 * MB, 3 * MB)


def test_month_decides_in_place_of_the_launches_that_pay() -> None:
    # 40 MB take 40 s: 20 launches of 1 s don't pay for the image, but for its delta.
    once = Habits(refreshes=1, launches=20)
    full = advise(refresh(40), seconds=saving(1), habits=once)
    delta = advise(refresh(4), seconds=saving(1), habits=once)
    assert (full.verdict, delta.verdict) == ("keep", "change")
    assert (
        "costs time over a month of 20 cold launches and 1 refresh"
        in (sentences(full.reasons)[0])
    )
    assert delta.month is not None
    text = " ".join(sentences(delta.reasons))
    assert "lzo saves an estimated 16.0 s" in text
    assert "Launches decide." in text
    assert "make up for" not in text


def test_month_that_may_go_either_way_stays_undecided() -> None:
    habits = Habits(refreshes=1, launches=20)
    advice = advise(refresh(20), seconds=saving(1, spread=0.5), habits=habits)
    assert advice.verdict == "undecided"
    assert advice.doubts == ("paying",)
    assert "whether lzo saves time over a month" in sentences(advice.reasons)[0]


def test_faster_applying_alone_does_not_make_lzo_worth_it() -> None:
    habits = Habits(refreshes=4, launches=20)
    cost = refresh(0, xz_s=60, lzo_s=10)
    assert advise(cost, seconds=saving(0.05), habits=habits).verdict == "no-benefit"


def test_nothing_known_of_refreshes_leaves_the_launches_that_pay() -> None:
    habits = Habits(refreshes=1, launches=20)
    advice = advise(None, seconds=saving(3), habits=habits)
    assert advice.month is None
    assert "cold launches make up" in " ".join(sentences(advice.reasons))


@given(
    launches=st.floats(0.1, 1000),
    refreshes=st.floats(0.1, 100),
    cost=st.builds(refresh, st.floats(-100, 100), st.floats(0, 100), st.floats(0, 100)),
    seconds=st.floats(-10, 10),
)
def test_total_lies_within_its_interval_and_has_a_reason(
    launches: float, refreshes: float, cost: Refresh, seconds: float
) -> None:
    found = month(Habits(refreshes=refreshes, launches=launches), cost, seconds)
    total = found.total_s
    assert total.low <= total.mid <= total.high
    assert sentences([found])[0].endswith(("decide.", "decides."))
