"""Budgets of cold starts in the recommendation."""

from dataclasses import replace

import pytest

from analyses import MB, make_evidence
from lint_contexts import found_by, make_context
from snapcraft_compression_advisor.advice.evidence import ColdStart, Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.rules.compression import lzo_would_gain
from snapcraft_compression_advisor.settings.settings import Settings
from snapcraft_compression_advisor.wording import sentences

FAST = Interval(low=1.0, mid=1.2, high=1.4)
OPEN = Interval(low=1.8, mid=2.1, high=2.4)
SLOW = Interval(low=2.2, mid=2.5, high=2.9)
PAYS = Interval.exactly(1.3)
"""Saved by lzo, enough for its bytes."""
TOO_LITTLE = Interval.exactly(0.1)


def start(
    xz: Interval, lzo: Interval, *, own_time_known: bool = True, app: str = "app"
) -> ColdStart:
    return ColdStart(
        app=app,
        device="hdd",
        limit_s=2.0,
        seconds={"xz": xz, "lzo": lzo},
        own_time_known=own_time_known,
    )


def advise(
    *starts: ColdStart,
    saved: Interval,
    declared: str | None = None,
    policy: Policy | None = None,
    added_mb: float | Interval = 10,
) -> Recommendation:
    """Judge an xz image of 100 MB."""
    saving = Saving(app="app", device="hdd", seconds=saved)
    evidence = make_evidence(saving, declared=declared, added_mb=added_mb)
    return recommend(replace(evidence, cold_starts=starts), policy or Policy())


@pytest.mark.parametrize(
    ("declared", "lzo_verdict", "xz_verdict"),
    [
        (None, "change", "keep"),
        ("xz", "change", "keep"),
        ("zstd", "change", "change"),
        ("lzo", "keep", "change"),
    ],
)
def test_the_codec_that_alone_keeps_the_budget_is_recommended(
    declared: str | None, lzo_verdict: str, xz_verdict: str
) -> None:
    advice = advise(start(SLOW, FAST), saved=TOO_LITTLE, declared=declared)
    assert (advice.compression, advice.verdict) == ("lzo", lzo_verdict)
    _, first, second, *_ = sentences(advice)
    assert first == "lzo meets the cold-start budget; xz exceeds it."
    assert second == (
        "A cold start of app on hdd takes an estimated 2.50 s (2.20\N{EN DASH}2.90 s) "
        "with xz and 1.20 s (1.00\N{EN DASH}1.40 s) with lzo; its budget is 2.00 s."
    )
    advice = advise(start(FAST, SLOW), saved=PAYS, declared=declared)
    assert (advice.compression, advice.verdict) == ("xz", xz_verdict)


@pytest.mark.parametrize(
    ("saved", "verdict"), [(PAYS, "change"), (TOO_LITTLE, "no-benefit")]
)
def test_where_neither_keeps_it_savings_decide_and_the_reasons_say_so(
    saved: Interval, verdict: str
) -> None:
    advice = advise(start(SLOW, SLOW), saved=saved)
    assert advice.verdict == verdict
    assert sentences(advice)[1] == (
        "Neither xz nor lzo meets the cold-start budget: ship less, or raise the "
        "budget."
    )


def test_one_codec_has_to_keep_all_budgets() -> None:
    advice = advise(start(SLOW, FAST), start(FAST, SLOW, app="other"), saved=TOO_LITTLE)
    assert advice.verdict == "no-benefit"
    assert sentences(advice)[1].startswith("Neither xz nor lzo")
    assert "A cold start of other on hdd" in sentences(advice)[3]


def test_a_doubt_about_the_other_codec_recommends_nothing_and_is_said() -> None:
    advice = advise(start(SLOW, OPEN), saved=TOO_LITTLE)
    assert (advice.compression, advice.verdict) == ("xz", "no-benefit")
    assert sentences(advice)[1] == (
        "xz exceeds the cold-start budget; it isn't certain that lzo meets it."
    )


def test_without_a_recorded_launch_no_codec_is_known_to_keep_a_budget() -> None:
    advice = advise(start(SLOW, FAST, own_time_known=False), saved=TOO_LITTLE)
    assert advice.verdict == "no-benefit"
    assert "it isn't certain that lzo meets it" in sentences(advice)[1]
    assert "excluding the app's own time" in sentences(advice)[2]


def test_what_size_speaks_for_is_not_recommended_where_it_breaks_the_budget() -> None:
    advice = advise(start(SLOW, OPEN), saved=TOO_LITTLE, declared="lzo")
    assert (advice.compression, advice.verdict) == ("lzo", "keep")
    assert "which would exceed the cold-start budget" in sentences(advice)[1]
    advice = advise(start(OPEN, FAST), saved=TOO_LITTLE, declared="lzo")
    assert (advice.compression, advice.verdict) == ("lzo", "undecided")
    assert "which may exceed the cold-start budget" in sentences(advice)[1]
    advice = advise(start(OPEN, SLOW), saved=PAYS)
    assert (advice.compression, advice.verdict) == ("xz", "keep")
    assert "which would exceed the cold-start budget" in sentences(advice)[1]


@pytest.mark.parametrize("seconds", [(FAST, FAST), (OPEN, FAST), (OPEN, OPEN)])
@pytest.mark.parametrize(
    ("saved", "verdict"), [(PAYS, "change"), (TOO_LITTLE, "no-benefit")]
)
def test_a_budget_that_xz_does_not_break_changes_nothing(
    seconds: tuple[Interval, Interval], saved: Interval, verdict: str
) -> None:
    advice = advise(start(*seconds), saved=saved)
    assert advice.reasons == advise(saved=saved).reasons
    assert advice.verdict == verdict


def test_growth_beyond_what_is_allowed_stands_above_the_budget() -> None:
    policy = Policy(max_growth_bytes=5 * MB)
    advice = advise(start(SLOW, FAST), saved=PAYS, policy=policy)
    assert (advice.compression, advice.verdict) == ("xz", "keep")
    assert sentences(advice)[2].startswith("Only lzo meets the cold-start budget")


@pytest.mark.parametrize(("declared", "stays"), [(None, "xz"), ("lzo", "lzo")])
def test_growth_in_doubt_leaves_the_budget_undecided(
    declared: str | None, stays: str
) -> None:
    advice = advise(
        start(SLOW, FAST),
        saved=PAYS,
        declared=declared,
        policy=Policy(max_growth_bytes=10 * MB),
        added_mb=Interval(low=9, mid=10, high=11),
    )
    assert (advice.compression, advice.verdict) == (stays, "undecided")
    assert "whether the image grows by more than allowed" in sentences(advice)[1]


def test_the_settings_say_which_starts_have_a_budget() -> None:
    budgets = {"hdd": "2s", "nvme": {"app": "500ms"}}
    policy = Settings.model_validate({"max-cold-start": budgets}).to_policy()
    assert policy.cold_start_limit_s("app", "hdd") == 2.0
    assert policy.cold_start_limit_s("other", "hdd") == 2.0
    assert policy.cold_start_limit_s("app", "nvme") == 0.5
    assert policy.cold_start_limit_s("other", "nvme") is None
    assert policy.cold_start_limit_s("app", "sbc") is None


def test_the_rule_names_the_budget_that_decides() -> None:
    context = make_context()
    advice = advise(start(SLOW, FAST), saved=TOO_LITTLE)
    context = replace(
        context, analysis=replace(context.analysis, recommendation=advice)
    )
    (finding,) = found_by(lzo_would_gain, context)
    assert finding.message.startswith(
        "lzo meets the cold-start budget; xz exceeds it. With lzo, a cold launch"
    )
