"""A month of refreshes like the one between two builds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.advice.evidence import Saving
from snapcraft_compression_advisor.advice.reasons import Code, Decides
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.advice.refresh_month import (
    RefreshMonth,
    month_by_refresh,
)
from snapcraft_compression_advisor.advice.refreshes import Deltas, Habits
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.refresh.apply import ApplyCost
from snapcraft_compression_advisor.refresh.delta import PLAIN, SNAP_AWARE, DeltaSize
from snapcraft_compression_advisor.refresh.refresh import CodecRefresh, Refresh

MB = 1e6


def codec(name: str, full: float, plain: float, aware: float) -> CodecRefresh:
    """Return a refresh of so many MB, applied in as many seconds."""
    sizes = {PLAIN: plain, SNAP_AWARE: aware}
    return CodecRefresh(
        codec=name,
        full_bytes=Interval.exactly(full * MB),
        full_measured=True,
        deltas={
            each: DeltaSize(size_bytes=Interval.exactly(size * MB))
            for each, size in sizes.items()
        },
        refusal=None,
        what_if=False,
        applying={
            each: {
                "kiosk": ApplyCost(
                    seconds=Interval.exactly(size), memory_bytes=1, disk_bytes=1
                )
            }
            for each, size in sizes.items()
        },
    )


REFRESH = Refresh(
    old=make_payload({}),
    new=make_payload({}),
    codecs={"xz": codec("xz", 100, 30, 20), "lzo": codec("lzo", 120, 15, 20)},
    files=(),
    notes=(),
)
SAVING = Saving(app="hello", device="kiosk", seconds=Interval.exactly(0.5))
ADVICE = Recommendation(
    compression="lzo",
    verdict="change",
    reasons=(Code.LZO_PAYS,),
    decides=Decides(saving=SAVING, why="only-device", by_device=()),
    bytes_added=Interval.exactly(7 * MB),
)


def month(deltas: Deltas | None, refresh: Refresh = REFRESH) -> RefreshMonth:
    habits = deltas and Habits(refreshes=2, launches=30, deltas=deltas)
    found = month_by_refresh(refresh, ADVICE, habits, 8.0)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("deltas", "download_s", "apply_s"),
    [("none", -40.0, 0.0), ("xdelta3", 30.0, 30.0), ("snap-1-1-xdelta3", 0.0, 0.0)],
)
def test_month_has_the_figures_of_the_refresh(
    deltas: Deltas, download_s: float, apply_s: float
) -> None:
    found = month(deltas).month
    assert found.launch_s.mid == 15.0
    assert found.download_s.mid == download_s
    assert found.apply_s.mid == apply_s


def test_one_refresh_and_twenty_launches_are_assumed() -> None:
    found = month(None)
    assert found.assumed
    assert found.month.launch_s.mid == 10.0
    assert found.month.download_s.mid == 15.0
    assert not month("none").assumed


def test_delta_that_the_store_discards_is_the_whole_image() -> None:
    codecs = {**REFRESH.codecs, "xz": codec("xz", 100, 101, 101)}
    found = month("xdelta3", replace(REFRESH, codecs=codecs)).month
    assert found.refresh.download_bytes["xz"].mid == 100 * MB
    assert found.refresh.apply_s["kiosk"]["xz"].mid == 0.0


def test_month_needs_a_launch_and_both_codecs() -> None:
    unknown = replace(ADVICE, decides=None)
    assert month_by_refresh(REFRESH, unknown, None, 8.0) is None
    one = replace(REFRESH, codecs={"xz": REFRESH.codecs["xz"]})
    assert month_by_refresh(one, ADVICE, None, 8.0) is None


def test_difference_of_two_estimates_is_that_of_their_middles() -> None:
    xz, lzo = REFRESH.codecs["xz"], REFRESH.codecs["lzo"]
    wide = DeltaSize(size_bytes=Interval(low=1 * MB, mid=15 * MB, high=16 * MB))
    codecs = {"xz": xz, "lzo": replace(lzo, deltas={**lzo.deltas, PLAIN: wide})}
    saved = month("xdelta3", replace(REFRESH, codecs=codecs)).month.download_bytes
    assert saved.mid == pytest.approx(30 * MB)
    assert (saved.low, saved.high) == pytest.approx((28 * MB, 58 * MB))
