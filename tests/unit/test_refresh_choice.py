"""What a device downloads, of all that it could."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.refresh.delta import (
    PLAIN,
    SNAP_AWARE,
    Choice,
    DeltaSize,
    choices,
)

FULL = Interval.exactly(100.0)


def chosen(**sizes: float) -> list[Choice]:
    names = {"plain": PLAIN, "aware": SNAP_AWARE}
    deltas = {
        names[name]: DeltaSize(size_bytes=Interval(low=0.9 * s, mid=s, high=1.1 * s))
        for name, s in sizes.items()
    }
    return list(choices(FULL, deltas))


def test_snap_aware_delta_needs_the_feature() -> None:
    default, featured = chosen(plain=50, aware=20)
    assert (default.condition, default.download) == ("default", PLAIN)
    assert (featured.condition, featured.download) == ("snap-delta-format", SNAP_AWARE)


def test_snapd_prefers_the_snap_aware_delta_even_if_it_is_larger() -> None:
    assert chosen(plain=20, aware=50)[1].download == SNAP_AWARE


def test_refused_image_gets_the_plain_delta() -> None:
    _, featured = chosen(plain=50)
    assert (featured.download, featured.reason) == (PLAIN, "refused")


def test_delta_as_large_as_the_image_is_discarded() -> None:
    default, featured = chosen(plain=100, aware=95)
    assert (default.download, default.reason) == (None, "larger")
    assert default.size_bytes == FULL
    assert (featured.download, featured.reason) == (SNAP_AWARE, "perhaps-larger")


@given(st.floats(1, 200), st.floats(1, 200))
def test_nobody_downloads_more_than_the_image(plain: float, aware: float) -> None:
    assert all(c.size_bytes.mid <= FULL.mid for c in chosen(plain=plain, aware=aware))
