"""Budgets of time and size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from analyses import make_analysis
from lint_contexts import MUCH, found_by, judged, make_context, sized, with_launch
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.fit import FittedProfile
from snapcraft_compression_advisor.lint.rules.budgets import (
    cold_start_budget,
    image_size_budget,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.rule import Context


def budget(**devices: object) -> dict[str, object]:
    limits = {name.replace("_", "-"): limit for name, limit in devices.items()}
    return {"max-cold-start": limits}


def recorded_context(policy: dict[str, object], *, warm_s: float) -> Context:
    analysis = judged(make_analysis(), "xz", MUCH)
    (launch,) = analysis.launches
    launch_set = replace(
        launch.launch_set,
        source="recorded",
        read_share=Interval.exactly(1.0),
        seek_share=Interval.exactly(1.0),
    )
    profile = FittedProfile(
        launch_set=launch_set, fitting_share=1.0, gone=(), changed=(), warm_s=warm_s
    )
    launch = replace(launch, launch_set=launch_set, profile=profile)
    return make_context(policy=policy, analysis=with_launch(analysis, launch))


def test_cold_start_beyond_its_budget_fires_with_its_figures() -> None:
    # 0.10 to 0.40 s of seeks and reads and 0.6 to 2.4 s of decompression around 1.4 s,
    # and a half to thrice for what is read, by squares: 0.51 s at least.
    context = make_context(policy=budget(nvme_laptop="300ms"))
    (finding,) = found_by(cold_start_budget, context)
    assert (finding.severity, finding.undecided) == ("error", False)
    assert (
        "app0 on nvme-laptop takes an estimated 1.40 s (0.51\N{EN DASH}"
        in finding.message
    )
    assert "with xz, excluding the app's own time" in finding.message
    assert finding.message.endswith("the budget is 0.30 s.")
    assert [item.label for item in finding.evidence] == [
        "budget of app0 on nvme-laptop",
        "added to a cold start with xz",
        "added to a cold start with lzo",
    ]


def test_without_a_record_a_budget_that_is_kept_so_far_is_undecided() -> None:
    context = make_context(policy=budget(nvme_laptop="2min"))
    (finding,) = found_by(cold_start_budget, context)
    assert (finding.severity, finding.undecided) == ("info", True)
    assert "isn't known without a recorded launch" in finding.message


def test_recorded_cold_start_within_its_budget_is_no_finding() -> None:
    context = recorded_context(budget(nvme_laptop="1min"), warm_s=2.0)
    assert not found_by(cold_start_budget, context)


def test_recorded_warm_start_counts() -> None:
    context = recorded_context(budget(nvme_laptop="2.2s"), warm_s=2.0)
    (finding,) = found_by(cold_start_budget, context)
    assert not finding.undecided
    assert finding.evidence[-1].origin == "measured"
    assert "takes an estimated 3.40 s (2.51\N{EN DASH}6.27 s)" in finding.message


@pytest.mark.parametrize("limit", ["2.60s", "3.50s", "6.20s"])
def test_budget_within_the_interval_is_undecided(limit: str) -> None:
    context = recorded_context(budget(nvme_laptop=limit), warm_s=2.0)
    (finding,) = found_by(cold_start_budget, context)
    assert finding.undecided
    said = f"the budget is {limit[:-1]} s, which lies within that interval."
    assert finding.message.endswith(said)


def test_launch_of_which_nothing_is_known_is_undecided() -> None:
    analysis = judged(make_analysis(), "xz", MUCH)
    (launch,) = analysis.launches
    launch = replace(launch, launch_set=replace(launch.launch_set, files=()))
    context = make_context(
        policy=budget(nvme_laptop="1s"), analysis=with_launch(analysis, launch)
    )
    (finding,) = found_by(cold_start_budget, context)
    assert finding.undecided
    assert "contains no file" in finding.message


def test_budget_of_another_app_is_not_that_of_this_one() -> None:
    policy = budget(nvme_laptop={"other": "1ms"})
    assert not found_by(cold_start_budget, make_context(policy=policy))
    policy = budget(nvme_laptop={"app0": "1ms"})
    assert found_by(cold_start_budget, make_context(policy=policy))


def test_budget_on_a_device_that_is_not_estimated_for_is_left_alone() -> None:
    assert not found_by(cold_start_budget, make_context(policy=budget(other="1ms")))


def test_no_budget_is_no_finding() -> None:
    assert not found_by(cold_start_budget, make_context())
    assert not found_by(image_size_budget, make_context())


@pytest.mark.parametrize(
    ("size_mb", "found"),
    [
        (Interval(low=40, mid=41, high=43), None),
        (Interval(low=41, mid=43, high=44), "undecided"),
        (Interval(low=43.1, mid=44, high=45), "broken"),
    ],
)
def test_image_size_is_judged_by_its_interval(
    size_mb: Interval, found: str | None
) -> None:
    analysis = sized(judged(make_analysis(), "xz", MUCH), "xz", size_mb)
    context = make_context(analysis=analysis, policy={"max-image-size": "43MB"})
    findings = found_by(image_size_budget, context)
    kinds = ["undecided" if each.undecided else "broken" for each in findings]
    assert kinds == ([] if found is None else [found])
    assert all(
        each.severity == ("info" if each.undecided else "error") for each in findings
    )


def test_built_snap_has_its_own_size_whatever_the_estimate() -> None:
    analysis = judged(make_analysis(), "xz", MUCH)
    analysis = replace(
        analysis, payload=replace(analysis.payload, image_bytes=50_000_000)
    )
    context = make_context(analysis=analysis, policy={"max-image-size": "49 MB"})
    (finding,) = found_by(image_size_budget, context)
    assert "The image takes 50.0 MB with xz" in finding.message
    assert finding.evidence[-1].origin == "measured"


def test_size_with_a_codec_that_is_not_at_hand_is_undecided() -> None:
    context = make_context(declared="lz4", policy={"max-image-size": "20 kB"})
    (finding,) = found_by(image_size_budget, context)
    assert finding.undecided
    assert "size with lz4 isn't known" in finding.message
