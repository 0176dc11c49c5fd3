"""What users wait in a month: launches, downloads."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyses import MB, make_evidence
from payloads import make_payload
from snapcraft_compression_advisor.advice.evidence import (
    Deltas,
    Downloads,
    Habits,
    Policy,
    Saving,
    break_even_launches,
)
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.month import (
    LZO_SHARE,
    Month,
    month_by_refresh,
    month_of,
    usual_downloads,
)
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.refresh.delta import PLAIN, SNAP_AWARE, DeltaSize
from snapcraft_compression_advisor.refresh.refresh import CodecRefresh, Refresh
from snapcraft_compression_advisor.wording import month_text, sentences

IMAGES = {"xz": Interval.exactly(100 * MB), "lzo": Interval.exactly(140 * MB)}
IMAGES_ADDED = Interval.exactly(40 * MB)


def saving(seconds: float, spread: float = 0.0) -> Saving:
    return Saving(
        app="app",
        device="kiosk",
        seconds=Interval.around(seconds - spread, seconds, seconds + spread),
    )


def downloads(added_mb: float = 0.0) -> Downloads:
    """Return downloads that are so much larger with lzo."""
    return Downloads(by_codec=IMAGES, bytes_added=Interval.exactly(added_mb * MB))


def month(habits: Habits, each: Downloads, seconds: float = 1.0) -> Month:
    return month_of(saving(seconds), habits, each, 8.0)


def advise(
    each: Downloads | None, *, seconds: Saving, habits: Habits, declared: str = "xz"
) -> Recommendation:
    evidence = make_evidence(seconds, declared=declared, added_mb=40)
    evidence = replace(evidence, downloads=each)
    return recommend(evidence, Policy(habits=habits, link_mbit_per_s=8.0))


def test_parts_of_a_month_add_up() -> None:
    # 10 launches of 1 s; 2 downloads of 3 MB at 8 Mbit/s.
    found = month(Habits(refreshes=2, launches=10), downloads(3))
    assert found.launch_s.mid == pytest.approx(10)
    assert found.download_s.mid == pytest.approx(-6)
    assert found.total_s.mid == pytest.approx(4)


@pytest.mark.parametrize(("added_mb", "part"), [(3, "launches"), (30, "downloads")])
def test_the_part_that_does_most_decides(added_mb: float, part: str) -> None:
    habits = Habits(refreshes=2, launches=20)
    assert month(habits, downloads(added_mb)).decided_by == part


def test_full_downloads_add_what_the_image_adds() -> None:
    habits = Habits(refreshes=1, launches=1)
    found = month(habits, usual_downloads(habits, IMAGES, IMAGES_ADDED))
    assert found.download_bytes.mid == -40 * MB


def test_delta_of_contents_is_as_large_with_both_codecs() -> None:
    habits = Habits(
        refreshes=1, launches=1, deltas="snap-1-1-xdelta3", delta_share=0.25
    )
    found = usual_downloads(habits, IMAGES, IMAGES_ADDED)
    assert found.by_codec["lzo"] == found.by_codec["xz"]
    assert found.bytes_added == Interval.exactly(0)


def test_plain_delta_is_a_smaller_share_of_an_lzo_image() -> None:
    habits = Habits(refreshes=1, launches=1, deltas="xdelta3", delta_share=0.25)
    found = usual_downloads(habits, IMAGES, IMAGES_ADDED)
    added = found.bytes_added
    assert added is not None
    assert found.by_codec["xz"].mid == pytest.approx(25 * MB)
    assert added.mid == pytest.approx(140 * MB * 0.25 * LZO_SHARE.mid - 25 * MB)
    assert added.low < added.mid < added.high


def test_deltas_of_a_previous_build_take_the_place_of_a_typical_share() -> None:
    habits = Habits(refreshes=1, launches=1, deltas="xdelta3")
    deltas = {
        "xz": Interval.around(8 * MB, 10 * MB, 13 * MB),
        "lzo": Interval.around(9 * MB, 12 * MB, 16 * MB),
    }
    found = usual_downloads(habits, IMAGES, IMAGES_ADDED, deltas)
    assert found.by_codec == deltas
    assert found.bytes_added == Interval.around(1 * MB, 2 * MB, 3 * MB)


def test_month_decides_in_place_of_the_launches_that_pay() -> None:
    # 40 MB take 40 s: 20 launches of 1 s don't pay for the image, but for its delta.
    once = Habits(refreshes=1, launches=20)
    full = advise(downloads(40), seconds=saving(1), habits=once)
    delta = advise(downloads(4), seconds=saving(1), habits=once)
    assert (full.verdict, delta.verdict) == ("keep", "change")
    assert "costs time over a month of 20 cold launches" in sentences(full)[1]
    assert delta.month is not None
    text = " ".join(sentences(delta))
    assert "lzo saves an estimated 16.0 s" in text
    assert "Launches decide." in text
    assert "repay" not in text


def test_month_that_may_go_either_way_stays_undecided() -> None:
    habits = Habits(refreshes=1, launches=20)
    advice = advise(downloads(20), seconds=saving(1, spread=0.5), habits=habits)
    assert advice.verdict == "undecided"
    assert advice.doubts == ("paying",)
    assert "whether lzo saves time over a month" in sentences(advice)[1]


def test_nothing_known_of_refreshes_leaves_the_launches_that_pay() -> None:
    habits = Habits(refreshes=1, launches=20)
    advice = advise(None, seconds=saving(3), habits=habits)
    assert advice.month is None
    assert "cold starts repay it" in " ".join(sentences(advice))


@given(
    launches=st.floats(0.1, 1000),
    refreshes=st.floats(0.1, 100),
    each=st.builds(downloads, st.floats(-100, 100)),
    seconds=st.floats(-10, 10),
)
def test_total_lies_within_its_interval_and_has_a_reason(
    launches: float, refreshes: float, each: Downloads, seconds: float
) -> None:
    found = month(Habits(refreshes=refreshes, launches=launches), each, seconds)
    total = found.total_s
    assert total.low <= total.mid <= total.high
    assert month_text(found).endswith("decide.")


def codec(name: str, full: float, plain: float, aware: float) -> CodecRefresh:
    """Return a refresh of so many MB."""
    sizes = {PLAIN: plain, SNAP_AWARE: aware}
    return CodecRefresh(
        codec=name,
        full_bytes=Interval.exactly(full * MB),
        deltas={
            each: DeltaSize(size_bytes=Interval.exactly(size * MB))
            for each, size in sizes.items()
        },
        what_if=False,
    )


REFRESH = Refresh(
    old=make_payload({}),
    new=make_payload({}),
    codecs={"xz": codec("xz", 100, 30, 20), "lzo": codec("lzo", 120, 15, 20)},
    files=(),
    notes=(),
)
LZO_ADDS = Interval.exactly(7 * MB)


def by_refresh(deltas: Deltas | None, refresh: Refresh = REFRESH) -> Month:
    habits = deltas and Habits(refreshes=2, launches=30, deltas=deltas)
    found = month_by_refresh(refresh, saving(0.5), LZO_ADDS, habits, 8.0)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("deltas", "download_s"),
    [("none", -40.0), ("xdelta3", 30.0), ("snap-1-1-xdelta3", 0.0)],
)
def test_month_has_the_figures_of_the_refresh(
    deltas: Deltas, download_s: float
) -> None:
    found = by_refresh(deltas)
    assert found.launch_s.mid == 15.0
    assert found.download_s.mid == download_s


def test_one_refresh_and_twenty_launches_are_assumed() -> None:
    found = by_refresh(None)
    assert found.habits.assumed
    assert found.launch_s.mid == 10.0
    assert found.download_s.mid == 15.0
    assert not by_refresh("none").habits.assumed


def test_delta_that_the_store_discards_is_the_whole_image() -> None:
    codecs = {**REFRESH.codecs, "xz": codec("xz", 100, 101, 101)}
    found = by_refresh("xdelta3", replace(REFRESH, codecs=codecs))
    assert found.downloads.by_codec["xz"].mid == 100 * MB


def test_month_needs_a_launch() -> None:
    assert month_by_refresh(REFRESH, None, LZO_ADDS, None, 8.0) is None


def test_difference_of_two_estimates_is_that_of_their_middles() -> None:
    xz, lzo = REFRESH.codecs["xz"], REFRESH.codecs["lzo"]
    wide = DeltaSize(size_bytes=Interval(low=1 * MB, mid=15 * MB, high=16 * MB))
    codecs = {"xz": xz, "lzo": replace(lzo, deltas={**lzo.deltas, PLAIN: wide})}
    saved = by_refresh("xdelta3", replace(REFRESH, codecs=codecs)).download_bytes
    assert saved.mid == pytest.approx(30 * MB)
    assert (saved.low, saved.high) == pytest.approx((28 * MB, 58 * MB))


@pytest.mark.parametrize(
    ("bytes_added", "seconds_saved", "launches"),
    [
        (100_000_000, 3.2, 5),
        (0, 1.5, 0),
        (-1, 1.5, 0),
        *((count, each, None) for count in (-1, 0, 10**6) for each in (0, -0.5)),
    ],
)
def test_the_download_pays_after_its_seconds_over_the_seconds_saved(
    bytes_added: int, seconds_saved: float, launches: float | None
) -> None:
    found = break_even_launches(bytes_added, seconds_saved, 50)
    assert found == (None if launches is None else pytest.approx(launches))
