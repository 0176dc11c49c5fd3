"""SCA201 and SCA301: whether the snap keeps within the project's budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.units import (
    Interval,
    bytes_text,
    format_bytes,
    format_seconds,
    seconds_text,
)
from ...payload.snap_yaml import COMPONENT_TYPE
from ..finding import Evidence, Finding, declared, estimated, measured
from ..rule import RECORD, Context, Rule, current_codec, size_origin

if TYPE_CHECKING:
    from ...analysis import Analysis
    from ...launches import LaunchAnalysis

NO_BUDGET = "compression-advisor.yaml sets no such budget"


def _unknown_starts(context: Context) -> str | None:
    """Return the app with a budget whose launch is unknown, if any."""
    if context.snap.type == COMPONENT_TYPE:
        return None
    known = {launch.launch_set.app for launch in context.analysis.launches}
    for budget in context.settings.max_cold_start.values():
        lacking = set(budget) - known if isinstance(budget, dict) else set()
        if lacking or not known:
            return f"no launch of {min(lacking, default='the snap')} is known"
    return None


@Rule(
    id="SCA201",
    severity="error",
    blocked=_unknown_starts,
    unasked=lambda context: None if context.settings.max_cold_start else NO_BUDGET,
)
def cold_start_budget(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each cold start that is over its budget, or may be."""
    codec = current_codec(context)
    for launch in context.analysis.launches:
        app = launch.launch_set.app
        for device, budget in context.settings.max_cold_start.items():
            limit_s = budget.get(app) if isinstance(budget, dict) else budget
            if limit_s is None or device not in launch.estimates:
                continue
            cold, known = launch.cold_start(device, codec), launch.warm_s is not None
            if cold is not None and known and cold.high <= limit_s:
                continue
            yield rule.finding(
                context,
                _cold_start_message(launch, device, codec, limit_s),
                subject={"app": app, "device": device},
                evidence=()
                if cold is None
                else _evidence(launch, device, codec, limit_s),
                undecided=cold is None or cold.low <= limit_s,
                fix=RECORD
                if cold is not None and cold.low <= limit_s and not known
                else None,
            )


def _cold_start_message(
    launch: LaunchAnalysis, device: str, codec: str, limit_s: float
) -> str:
    start = f"cold start of {launch.launch_set.app} on {device}"
    budget = f"the budget is {format_seconds(limit_s)}"
    cold, known = launch.cold_start(device, codec), launch.warm_s is not None
    if cold is None:
        return (
            f"How long a {start} takes isn't known: {_unknown(launch, codec)}; "
            f"{budget}."
        )
    takes = f"A {start} takes an estimated {seconds_text(cold)} with {codec}"
    if cold.low > limit_s:
        least = "" if known else ", excluding the app's own time"
        return f"{takes}{least}; {budget}."
    if known:
        return f"{takes}; {budget}, which lies within that interval."
    return (
        f"Reading and decompressing add an estimated {seconds_text(cold)} to a "
        f"{start} with {codec}; how long the app itself takes isn't known without a "
        f"recorded launch; {budget}."
    )


@Rule(
    id="SCA301",
    severity="error",
    unasked=lambda context: None if context.settings.max_image_size else NO_BUDGET,
)
def image_size_budget(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image is larger than its budget, or may be."""
    limit = context.settings.max_image_size
    if limit is None or context.snap.type == COMPONENT_TYPE:
        return
    codec = current_codec(context)
    size = context.analysis.image_bytes(codec)
    if size is not None and size.high <= limit:
        return
    budget = f"the budget is {format_bytes(limit)}"
    undecided = size is None or size.low <= limit
    if size is None:
        message = f"The image's size with {codec} isn't known; {budget}."
    else:
        verb = "takes" if size.known else "would take an estimated"
        within = ", which lies within that interval" if undecided else ""
        message = f"The image {verb} {bytes_text(size)} with {codec}; {budget}{within}."
    yield rule.finding(
        context,
        message,
        evidence=_size_evidence(context.analysis, codec, size, limit),
        undecided=undecided,
    )


def _unknown(launch: LaunchAnalysis, codec: str) -> str:
    if not launch.launch_set.files:
        return "the payload contains no file that its launch is known to read"
    return f"{codec} isn't available here"


def _evidence(
    launch: LaunchAnalysis, device: str, codec: str, limit_s: float
) -> Iterator[Evidence]:
    app = launch.launch_set.app
    yield declared(f"budget of {app} on {device}", format_seconds(limit_s))
    for name in dict.fromkeys((codec, "xz", "lzo")):
        estimate = launch.estimates[device].get(name)
        if estimate is not None:
            what = f"added to a cold start with {name}"
            yield estimated(what, seconds_text(estimate.added_s))
    if launch.warm_s is not None:
        yield measured("a warm start, as recorded", format_seconds(launch.warm_s))


def _size_evidence(
    analysis: Analysis, codec: str, size: Interval | None, limit: float
) -> Iterator[Evidence]:
    yield declared("budget of the image's size", format_bytes(limit))
    if size is not None:
        yield Evidence(
            f"image with {codec}", bytes_text(size), size_origin(size, analysis)
        )


RULES = (cold_start_budget, image_size_budget)
