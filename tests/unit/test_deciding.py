"""What decides: devices, budgets, limits."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyses import CHANGE, KEEP, UNDECIDED, interval, make_evidence
from snapcraft_compression_advisor.advice.evidence import (
    ColdStart,
    Evidence,
    Policy,
    Saving,
)
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.recommendation import Decides, Recommendation
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.settings.settings import Settings
from snapcraft_compression_advisor.wording import sentences, verdict_words


def advise(
    seconds: Mapping[str, Interval],
    *,
    declared: str | None = None,
    cold_starts: tuple[ColdStart, ...] = (),
    added_mb: float = 10,
) -> Recommendation:
    """Judge an xz image of 100 MB by what lzo saves on each device."""
    savings = (
        Saving(app="app", device=device, seconds=each)
        for device, each in seconds.items()
    )
    evidence = make_evidence(*savings, declared=declared, added_mb=added_mb)
    return recommend(replace(evidence, cold_starts=cold_starts), Policy())


def decides(advice: Recommendation) -> Decides:
    assert advice.decides is not None
    return advice.decides


def by_device(advice: Recommendation) -> list[str]:
    return [verdict_words(each) for each in decides(advice).by_device]


MUCH, LESS, NOTHING = map(Interval.exactly, (2.0, 1.0, 0.1))
WIDE = interval(0.1, 1.5, 3.0)


def test_device_on_which_lzo_saves_least_decides() -> None:
    advice = advise({"nvme": MUCH, "hdd": LESS})
    assert (decides(advice).saving.device, decides(advice).why) == (
        "hdd",
        "least-saving",
    )
    assert sentences(advice)[0].endswith(", even on hdd.")


def test_device_with_the_widest_interval_can_decide_though_lzo_saves_more_there() -> (
    None
):
    advice = advise({"nvme": LESS, "sbc": WIDE})
    assert advice.verdict == "undecided"
    assert decides(advice).saving.device == "sbc"
    assert sentences(advice)[0].endswith(" on sbc; 0.25 s is needed.")
    assert by_device(advice) == [CHANGE, UNDECIDED]


def test_device_on_which_the_share_is_too_small_decides() -> None:
    savings = [
        Saving(
            app="app",
            device=device,
            seconds=Interval.exactly(saved),
            xz_added_s=Interval.exactly(whole),
        )
        for device, saved, whole in (("nvme", 0.5, 1.0), ("hdd", 0.6, 6.0))
    ]
    evidence = make_evidence(*savings, added_mb=0)
    advice = recommend(evidence, Policy(min_saving_share=0.3))
    assert (decides(advice).saving.device, decides(advice).why) == (
        "hdd",
        "not-worth-there",
    )
    assert "Less than 30 % of what xz adds isn't worth it here" in sentences(advice)[0]


def test_verdicts_name_the_codec_where_it_would_change_or_stay() -> None:
    advice = advise({"nvme": MUCH, "hdd": NOTHING, "ssd": MUCH}, declared="lzo")
    keep = KEEP.replace("xz", "lzo")
    assert by_device(advice) == [keep, CHANGE.replace("lzo", "xz"), keep]


def test_one_device_is_not_said_to_decide() -> None:
    advice = advise({"nvme": MUCH})
    assert decides(advice).why == "only-device"
    assert "nvme" not in " ".join(sentences(advice))


def test_budget_decides_in_place_of_any_device_and_counts_on_its_own_device() -> None:
    start = ColdStart(
        app="app",
        device="hdd",
        limit_s=3.0,
        seconds={"xz": Interval.exactly(4.0), "lzo": Interval.exactly(2.0)},
        own_time_known=True,
    )
    advice = advise({"nvme": NOTHING, "hdd": NOTHING}, cold_starts=(start,))
    assert (advice.verdict, decides(advice).why) == ("change", "budget")
    assert by_device(advice) == [KEEP, CHANGE]


def test_apps_that_decide_together_count_on_each_device() -> None:
    savings = [
        Saving(app=app, device=device, seconds=each)
        for app, device, each in (
            ("first", "nvme", MUCH),
            ("first", "hdd", MUCH),
            ("second", "nvme", LESS),
            ("second", "hdd", NOTHING),
        )
    ]
    evidence = make_evidence(*savings, added_mb=0)
    advice = recommend(evidence, Policy(deciding_apps="every"))
    nvme, hdd = decides(advice).by_device
    assert (nvme.verdict, nvme.saving.app) == ("change", "second")
    assert (hdd.verdict, hdd.saving.app) == ("no-benefit", "second")
    first_alone = decides(recommend(evidence, Policy())).by_device
    assert {each.verdict for each in first_alone} == {"change"}


ends = st.tuples(*[st.floats(min_value=-2, max_value=4)] * 3)


@given(
    st.lists(ends, min_size=1, max_size=4),
    st.sampled_from([None, "xz", "lzo"]),
    st.floats(min_value=-50, max_value=400),
)
def test_deciding_device_gives_the_verdict_by_itself(
    figures: list[tuple[float, float, float]], declared: str | None, added_mb: float
) -> None:
    advice = advise(
        {f"d{n}": Interval.around(*each) for n, each in enumerate(figures)},
        declared=declared,
        added_mb=added_mb,
    )
    device = decides(advice).saving.device
    here = next(each for each in decides(advice).by_device if each.device == device)
    assert (here.verdict, here.compression) == (advice.verdict, advice.compression)


ANY = Policy(min_saving_s=0.001, max_launches=1_000_000)


def evidence(
    *,
    declared: str | None = None,
    added_mb: Interval | float = 20,
    launched: bool = True,
) -> Evidence:
    saving = Saving(
        app="app",
        device="device",
        seconds=interval(0.4, 0.5, 1.2),
        xz_added_s=interval(1.0, 2.0, 4.0),
    )
    savings = [saving] if launched else []
    found = make_evidence(*savings, declared=declared, added_mb=added_mb)
    return replace(found, launched=launched)


def policy(**advice: object) -> Policy:
    given = {
        "min-saving": "1ms",
        "max-launches": 1_000_000,
        **{name.replace("_", "-"): value for name, value in advice.items()},
    }
    return Settings.model_validate(given).to_policy()


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


TINY = Interval.exactly(0.001)


@pytest.mark.parametrize(("xz_s", "verdict"), [(TINY, "change"), (None, "undecided")])
def test_a_gain_in_percent_takes_the_place_of_seconds_if_it_is_known(
    xz_s: Interval | None, verdict: str
) -> None:
    saving = Saving(app="app", device="device", seconds=TINY, xz_added_s=xz_s)
    found = make_evidence(saving, added_mb=0)
    assert recommend(found, policy(min_saving="50%")).verdict == verdict


@pytest.mark.parametrize("limit", ["20%", "20MB"])
def test_growth_within_the_limit_speaks_for_lzo(limit: str) -> None:
    assert recommend(evidence(), policy(max_size_growth=limit)).compression == "lzo"


@pytest.mark.parametrize("limit", ["19%", "19MB"])
def test_growth_beyond_the_limit_speaks_against_lzo(limit: str) -> None:
    advice = recommend(evidence(), policy(max_size_growth=limit))
    assert (advice.compression, advice.verdict) == ("xz", "keep")
    assert "more to the image than the 19" in sentences(advice)[1]
    declared = recommend(evidence(declared="lzo"), policy(max_size_growth=limit))
    assert (declared.compression, declared.verdict) == ("xz", "change")


def test_growth_that_may_or_may_not_be_beyond_the_limit_is_undecided() -> None:
    found = evidence(added_mb=Interval(low=18, mid=20, high=22))
    advice = recommend(found, policy(max_size_growth="20MB"))
    assert advice.verdict == "undecided"
    assert "whether the image grows by no more than 20.0 MB" in sentences(advice)[1]


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
    assert "No known launch reads these files." in sentences(advice)[0]


def test_files_that_no_launch_reads_stay_as_they_are_where_the_size_is_in_doubt() -> (
    None
):
    found = evidence(
        declared="lzo", added_mb=Interval(low=0.5, mid=1.1, high=2), launched=False
    )
    advice = recommend(found, ANY)
    assert (advice.compression, advice.verdict) == ("lzo", "undecided")
