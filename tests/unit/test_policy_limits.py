"""Limits of a project's own: a gain in percent, growth, files that no launch reads."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.recommendation import recommend
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy
from snapcraft_compression_advisor.wording import sentences

MB = 1_000_000
ANY = Policy(min_saving_s=0.001, max_launches=1_000_000)


def evidence(
    *,
    declared: str | None = None,
    added_mb: Interval | None = None,
    saved_s: Interval | None = None,
    launched: bool = True,
) -> Evidence:
    added = added_mb or Interval.exactly(20)
    return Evidence(
        declared=declared,
        xz_bytes=Interval.exactly(100 * MB),
        lzo_bytes=added.map(lambda size: (100 + size) * MB),
        bytes_added=added.map(lambda size: size * MB),
        savings=[
            Saving(
                app="app",
                device="device",
                seconds=saved_s or Interval(low=0.4, mid=0.5, high=1.2),
                xz_added_s=Interval(low=1.0, mid=2.0, high=4.0),
            )
        ]
        if launched
        else [],
        launched=launched,
    )


def policy(**advice: object) -> Policy:
    given = {
        "min-saving": "1ms",
        "max-launches": 1_000_000,
        **{name.replace("_", "-"): value for name, value in advice.items()},
    }
    return LintPolicy.model_validate(given).to_policy()


@pytest.mark.parametrize(
    ("least", "verdict"),
    [
        ("25%", "change"),
        ("30%", "undecided"),
        ("36%", "undecided"),
        ("37%", "no-benefit"),
    ],
)
def test_a_gain_in_percent_is_of_what_xz_adds(least: str, verdict: str) -> None:
    # Saved shares of the scenarios: 0.36, 0.25, 0.29; less than one in ten is outside.
    advice = recommend(evidence(), policy(min_saving=least))
    assert advice.verdict == verdict


def test_a_gain_in_percent_takes_the_place_of_seconds() -> None:
    tiny = Interval.exactly(0.001)
    saving = Saving(app="app", device="device", seconds=tiny, xz_added_s=tiny)
    found = Evidence(
        declared=None,
        xz_bytes=Interval.exactly(MB),
        lzo_bytes=Interval.exactly(MB),
        bytes_added=Interval.exactly(0),
        savings=[saving],
    )
    assert recommend(found, policy(min_saving="50%")).verdict == "change"


def test_an_unknown_share_decides_nothing() -> None:
    saving = Saving(app="app", device="device", seconds=Interval.exactly(1.0))
    found = Evidence(
        declared=None,
        xz_bytes=Interval.exactly(MB),
        lzo_bytes=Interval.exactly(MB),
        bytes_added=Interval.exactly(0),
        savings=[saving],
    )
    assert recommend(found, policy(min_saving="50%")).verdict == "undecided"


@pytest.mark.parametrize("limit", ["20%", "20MB"])
def test_growth_within_the_limit_speaks_for_lzo(limit: str) -> None:
    assert recommend(evidence(), policy(max_size_growth=limit)).compression == "lzo"


@pytest.mark.parametrize("limit", ["19%", "19MB"])
def test_growth_beyond_the_limit_speaks_against_lzo(limit: str) -> None:
    advice = recommend(evidence(), policy(max_size_growth=limit))
    assert (advice.compression, advice.verdict) == ("xz", "keep")
    assert "more to the image than the 19" in sentences(advice.reasons)[0]
    declared = recommend(evidence(declared="lzo"), policy(max_size_growth=limit))
    assert (declared.compression, declared.verdict) == ("xz", "change")


def test_growth_that_may_or_may_not_be_beyond_the_limit_is_undecided() -> None:
    found = evidence(added_mb=Interval(low=18, mid=20, high=22))
    advice = recommend(found, policy(max_size_growth="20MB"))
    assert advice.verdict == "undecided"
    assert (
        "whether the image grows by no more than 20.0 MB"
        in sentences(advice.reasons)[0]
    )


@pytest.mark.parametrize(
    ("declared", "added_mb", "expected"),
    [
        (None, 20.0, ("xz", "no-benefit")),
        ("xz", 20.0, ("xz", "no-benefit")),
        ("lzo", 20.0, ("xz", "change")),
        ("lzo", 0.5, ("lzo", "no-benefit")),
    ],
)
def test_files_that_no_launch_reads_had_better_be_small(
    declared: str | None, added_mb: float, expected: tuple[str, str]
) -> None:
    found = evidence(
        declared=declared, added_mb=Interval.exactly(added_mb), launched=False
    )
    advice = recommend(found, ANY)
    assert (advice.compression, advice.verdict) == expected
    assert "No known launch reads these files." in sentences(advice.reasons)[0]


def test_files_that_no_launch_reads_stay_as_they_are_where_the_size_is_in_doubt() -> (
    None
):
    found = evidence(
        declared="lzo", added_mb=Interval(low=0.5, mid=1.1, high=2), launched=False
    )
    advice = recommend(found, ANY)
    assert (advice.compression, advice.verdict) == ("lzo", "undecided")
