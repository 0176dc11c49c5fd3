"""A guess, and how it compares, as text and JSON."""

from __future__ import annotations

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.report.guess import (
    LISTED_FILES,
    render_guess_text,
)

BLOCK = 128 * 1024


def guess(files: int) -> LaunchSet:
    share = Interval(low=0.5, mid=1.0, high=2.0)
    return LaunchSet(
        app="hello",
        source="static",
        files=tuple(
            LaunchFile(
                path=f"f{number:02}",
                size_bytes=2 * BLOCK,
                blocks=((0, 1),),
                shares=(0.5,),
            )
            for number in range(files)
        ),
        read_share=share,
        seek_share=share,
        unresolved=(Unresolved(name="liba", needed_by="f00", supplier="base"),),
    )


def test_guess_lists_its_largest_files_and_sums_up_the_others() -> None:
    text = render_guess_text(guess(LISTED_FILES + 2))
    assert " 131.1 kB f00\n" in text
    assert " 262.1 kB in 2 more\n" in text
    assert "  liba: base, needed by f00\n" in text


def test_guess_says_that_it_is_one_and_how_far_it_may_be_off() -> None:
    text = render_guess_text(guess(1))
    assert "guessed from files: 1 file, 131.1 kB expected to be" in text
    assert "65.5\N{EN DASH}262.1 kB in nine of ten launches" in text


def test_text_fits_a_terminal() -> None:
    text = render_guess_text(guess(30))
    assert max(map(len, text.splitlines())) <= 80
