"""Box plots in characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.capture.samples import Sample
from snapcraft_compression_advisor.report.measure_text import box_plot


def plot(**samples: tuple[float, ...]) -> list[str]:
    return box_plot(
        {name: Sample(runs_s=runs_s) for name, runs_s in samples.items()},
        columns=46,
        as_text=lambda seconds: f"{seconds:g} s",
    )


def test_boxes_stand_on_one_axis() -> None:
    assert plot(xz=(20, 24, 28, 36, 40), lzo=(0, 4, 8, 10, 12), none=(2, 2, 2)) == [
        "     0 s                                  40 s",
        "xz                       |---[===O=======]---|",
        "lzo  |---[===O=]-|",
        "none   O",
    ]


def test_equal_runs_are_points_at_the_axis_start() -> None:
    assert plot(xz=(3, 3), lzo=(3,)) == [
        "    3 s                                    3 s",
        "xz  O",
        "lzo O",
    ]


@given(
    st.dictionaries(
        st.sampled_from(("xz", "lzo", "gzip")),
        st.lists(st.floats(0, 1e4), min_size=1, max_size=12).map(tuple),
        min_size=1,
    )
)
def test_every_line_keeps_the_width_and_shows_its_median(
    samples: dict[str, tuple[float, ...]],
) -> None:
    _, *lines = plot(**samples)
    assert all(len(line) <= 46 for line in lines)
    assert all(line.count("O") == 1 for line in lines)
