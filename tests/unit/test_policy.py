"""From figures to a recommendation."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyses import interval, make_evidence
from snapcraft_compression_advisor.advice.evidence import (
    Policy,
    Saving,
    download_seconds,
)
from snapcraft_compression_advisor.advice.judging import (
    Answer,
    pays_for_itself,
    recommend,
)
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.wording import sentences


def advise(
    *seconds: Interval,
    declared: str | None = None,
    added_mb: float = 10,
    policy: Policy | None = None,
) -> Recommendation:
    """Judge an xz image of 100 MB by the savings of one app on several devices."""
    savings = (
        Saving(app="app", device=f"device{number}", seconds=each)
        for number, each in enumerate(seconds)
    )
    evidence = make_evidence(*savings, declared=declared, added_mb=added_mb)
    return recommend(evidence, policy or Policy())


SURE = Interval.exactly(2.0)
NOTHING = Interval.exactly(0.1)


@pytest.mark.parametrize(
    ("seconds", "declared", "advised"),
    [
        *((SURE, declared, ("lzo", "change")) for declared in (None, "xz", "gzip")),
        (SURE, "lzo", ("lzo", "keep")),
        *((NOTHING, declared, ("xz", "no-benefit")) for declared in (None, "xz")),
        *((NOTHING, declared, ("xz", "change")) for declared in ("lzo", "zstd")),
    ],
)
def test_lzo_is_recommended_where_it_saves_and_pays_and_else_xz(
    seconds: Interval, declared: str | None, advised: tuple[str, str]
) -> None:
    advice = advise(seconds, declared=declared)
    assert (advice.compression, advice.verdict) == advised


def test_no_benefit_is_not_followed_by_launches_that_pay() -> None:
    advice = advise(interval(0.05, 0.1, 0.15), added_mb=0.5)
    assert advice.verdict == "no-benefit"
    assert not any("cold start" in reason for reason in sentences(advice))
    paying = advise(SURE, added_mb=10)
    assert any("a user's 1 cold start repays it" in text for text in sentences(paying))


def test_undecided_advice_names_its_doubts() -> None:
    advice = advise(interval(0.1, 0.5, 2.0), interval(0.2, 0.6, 1.5), added_mb=1)
    assert advice.doubts == ("saving",)


def test_app_without_its_program_is_not_judged() -> None:
    evidence = make_evidence(Saving(app="app", device="hdd", seconds=SURE))
    advice = recommend(replace(evidence, without_program=["app"]), Policy())
    assert advice.verdict == "undecided"
    assert "the program that snap.yaml names for app" in sentences(advice)[0]


def test_lzo_that_costs_no_size_stays() -> None:
    advice = advise(NOTHING, declared="lzo", added_mb=0.5)
    assert (advice.compression, advice.verdict) == ("lzo", "no-benefit")


@pytest.mark.parametrize(
    ("declared", "verdict"), [("xz", "keep"), (None, "keep"), ("lzo", "change")]
)
def test_download_that_never_pays_speaks_for_xz(
    declared: str | None, verdict: str
) -> None:
    # 300 MB take 48 s at 50 Mbit/s: 24 launches that save 2 s each.
    advice = advise(SURE, declared=declared, added_mb=300)
    assert (advice.compression, advice.verdict) == ("xz", verdict)
    assert "more than 20 cold launches" in sentences(advice)[1]


@pytest.mark.parametrize("declared", [None, "xz", "lzo"])
def test_interval_across_the_line_leaves_it_undecided(declared: str | None) -> None:
    advice = advise(interval(0.1, 0.5, 2.0), declared=declared)
    assert advice.verdict == "undecided"
    assert advice.compression == (declared or "xz")
    assert sentences(advice)[0].endswith("; 0.25 s is needed.")


@pytest.mark.parametrize(
    ("seconds", "declared", "verdict"),
    [
        (interval(0.1, 0.2, 0.26), None, "no-benefit"),
        (interval(0.1, 0.2, 0.29), None, "undecided"),
        (interval(0.26, 0.3, 0.34), None, "change"),
        (interval(0.16, 0.3, 0.9), "lzo", "undecided"),
        (interval(0.1, 0.15, 0.24), "lzo", "change"),
    ],
)
def test_an_interval_across_the_limit_leaves_it_undecided(
    seconds: Interval, declared: str | None, verdict: str
) -> None:
    advice = advise(seconds, declared=declared, added_mb=2)
    assert advice.verdict == verdict


def test_condition_has_to_hold_in_nine_cases_of_ten() -> None:
    likely, doubtful, sure = (
        advise(seconds, added_mb=1)
        for seconds in (
            interval(0.24, 0.4, 0.7), interval(0.2, 0.4, 0.7), interval(0.26, 0.4, 0.7)
        )
    )  # fmt: skip
    assert [each.verdict for each in (likely, doubtful, sure)] == [
        "change", "undecided", "change",
    ]  # fmt: skip
    assert sentences(likely)[0] == (
        "lzo starts 0.40 s faster (0.24\N{EN DASH}0.70 s). This verdict holds in nine "
        "cases of ten."
    )
    assert "nine cases of ten" not in sentences(sure)[0]


def test_saving_that_may_be_none_is_not_taken_for_likely() -> None:
    assert advise(interval(0, 2.0, 5.0)).verdict == "undecided"


def test_the_reason_names_the_least_that_is_noticed() -> None:
    first = sentences(advise(interval(0.1, 0.2, 0.24), added_mb=1))[0]
    assert "Less than 0.25 s isn't noticed." in first


def test_doubtful_payment_leaves_it_undecided() -> None:
    advice = advise(interval(1.0, 2.0, 4.0), added_mb=200)
    assert advice.verdict == "undecided"
    assert "pays for itself" in sentences(advice)[1]


def test_sizes_and_seconds_are_not_both_at_their_worst() -> None:
    # At 50 Mbit/s, 170 MB take 27.2 s; 18 launches of 1.5 s are needed at the worst.
    saving = Saving(app="app", device="ssd", seconds=interval(1.5, 2.0, 2.5))
    policy, bytes_added = Policy(), interval(130e6, 170e6, 210e6)
    assert 20 * saving.seconds.low < download_seconds(bytes_added.high, 50)
    assert pays_for_itself(saving, bytes_added, policy) is Answer.YES
    larger = bytes_added.map(lambda size: size + 40e6)
    assert pays_for_itself(saving, larger, policy) is Answer.UNKNOWN


def test_a_sure_no_outweighs_a_doubt() -> None:
    assert advise(interval(1.0, 2.0, 2.1), added_mb=1000).verdict == "keep"
    assert advise(interval(-1, 0.1, 0.2), added_mb=10).verdict == "no-benefit"


def test_lzo_has_to_gain_on_every_device() -> None:
    assert advise(SURE, NOTHING).verdict == "no-benefit"
    assert advise(SURE, interval(0.1, 1, 2)).verdict == "undecided"
    assert advise(SURE, SURE).verdict == "change"


def test_policy_sets_the_lines() -> None:
    assert advise(SURE, policy=Policy(min_saving_s=3)).verdict == "no-benefit"
    assert (
        advise(SURE, added_mb=300, policy=Policy(max_launches=30)).verdict == "change"
    )
    assert (
        advise(SURE, added_mb=300, policy=Policy(link_mbit_per_s=100)).verdict
        == "change"
    )


def two_apps(first: Interval, second: Interval, policy: Policy) -> str:
    evidence = make_evidence(
        Saving(app="first", device="d", seconds=first),
        Saving(app="second", device="d", seconds=second),
    )
    return recommend(evidence, policy).verdict


def test_first_app_decides_unless_every_one_has_to_gain() -> None:
    every = Policy(deciding_apps="every")
    assert two_apps(SURE, NOTHING, Policy()) == "change"
    assert two_apps(NOTHING, SURE, Policy()) == "no-benefit"
    assert two_apps(SURE, NOTHING, every) == "no-benefit"
    assert two_apps(SURE, SURE, every) == "change"


def test_launch_of_which_nothing_is_known_is_undecided() -> None:
    nothing = Saving(app="app", device="d", seconds=Interval.exactly(0))
    evidence = replace(make_evidence(nothing, added_mb=0), nothing_found=["app"])
    advice = recommend(evidence, Policy())
    assert advice.verdict == "undecided"
    assert "launch of app" in sentences(advice)[0]


def test_missing_codec_is_named() -> None:
    evidence = replace(make_evidence(), lzo_bytes=None, bytes_added=None)
    advice = recommend(evidence, Policy())
    assert (advice.verdict, advice.bytes_added) == ("undecided", None)
    assert sentences(advice) == ("This mksquashfs cannot pack with lzo.",)


def test_reasons_name_seconds_bytes_and_launches() -> None:
    assert sentences(advise(interval(1.5, 2.0, 3.0), added_mb=50)) == (
        "lzo starts 2.00 s faster (1.50\N{EN DASH}3.00 s).",
        (
            "Downloads grow by 50.0 MB (50%): a user's 4 cold starts repay it at 50 "
            "Mbit/s."
        ),
    )


def test_smaller_lzo_image_is_said_to_be_smaller() -> None:
    assert sentences(advise(SURE, added_mb=-10))[1] == (
        "Downloads shrink by 10.0 MB (10%)."
    )


seconds = st.floats(min_value=-10, max_value=10)


@given(
    st.lists(st.tuples(seconds, seconds, seconds), max_size=3),
    st.sampled_from([None, "xz", "lzo", "gzip"]),
    st.floats(min_value=-50, max_value=500),
)
def test_verdict_fits_the_choice(
    ends: list[tuple[float, float, float]], declared: str | None, added_mb: float
) -> None:
    advice = advise(
        *(Interval.around(*each) for each in ends), declared=declared, added_mb=added_mb
    )
    if advice.verdict == "change":
        assert advice.compression != declared
    elif advice.verdict == "keep":
        assert advice.compression == (declared or "xz")
    assert sentences(advice)
