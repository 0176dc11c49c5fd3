"""SCA201 and SCA301: whether the snap keeps within the project's budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.core.units import (
    Interval,
    format_bytes,
    format_seconds,
)
from snapcraft_compression_advisor.lint.figures import (
    bytes_text,
    seconds_text,
    size_origin,
)
from snapcraft_compression_advisor.lint.finding import Evidence, Finding, Fix
from snapcraft_compression_advisor.lint.places import current_codec, image_place
from snapcraft_compression_advisor.payload.component_yaml import COMPONENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.analysis import Analysis, LaunchAnalysis
    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity

RECORD = Fix(description="Record a launch, and name it as 'launch-profile'")


class ColdStartBudget:
    """A cold start takes longer than the project allows."""

    id: ClassVar[str] = "SCA201"
    name: ClassVar[str] = "cold-start-budget"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "A cold start takes longer than its budget."
    fails_if: ClassVar[str] = (
        "A cold start of an app on a device takes longer than `budgets.cold-start` "
        "allows, even at the low end of the interval. A cold start is the app's own "
        "time, known from a recorded launch, and what reading and decompressing add "
        "to it. Without a record, only what is added is known: that alone may break "
        "the budget, and where it doesn't, the finding is undecided. It is undecided "
        "too where the budget lies within the interval."
    )
    why: ClassVar[str] = (
        "A cold start is the first thing that users see of a snap. It grows slowly, "
        "with each release, until somebody sets a limit."
    )
    how_to_fix: ClassVar[str] = (
        "Look at SCA101 (codec), SCA202 (files that dominate the launch) and SCA21x "
        "(caches that save work), or raise the budget. Where it is undecided, record "
        "a launch with `compression-advisor record` and name it as `launch-profile`."
    )
    options: ClassVar[Mapping[str, str]] = {
        "budgets.cold-start": "by device profile a duration, or durations by app",
        "apps": "whose launch counts, the deciding one first",
        "launch-profile": "recorded launches",
    }

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding for each app and device."""
        for launch in context.analysis.launches:
            app = launch.launch_set.app
            for device, budget in context.policy.budgets.cold_start.items():
                limit_s = budget.get(app) if isinstance(budget, dict) else budget
                if limit_s is not None and device in launch.estimates:
                    yield from self._judge(context, launch, device, limit_s)

    def _judge(
        self, context: Context, launch: LaunchAnalysis, device: str, limit_s: float
    ) -> Iterator[Finding]:
        codec = current_codec(context)
        app = launch.launch_set.app
        where = f"A cold start of {app} on {device}"
        budget = f"the budget is {format_seconds(limit_s)}"
        cold = _cold_start(launch, device, codec)
        if cold is None:
            what = f"What {where[0].lower()}{where[1:]} takes isn't known"
            yield self._finding(
                context, f"{what}: {_unknown(launch, codec)}; {budget}.", undecided=True
            )
            return
        evidence = tuple(_evidence(launch, device, codec, limit_s))
        known = _warm_s(launch) is not None
        if cold.low > limit_s:
            least = "" if known else ", the app's own time not counted"
            message = (
                f"{where} takes an estimated {seconds_text(cold)} with {codec}{least}; "
                f"{budget}."
            )
            yield self._finding(context, message, evidence=evidence)
        elif not known:
            message = (
                f"Reading and decompressing add an estimated {seconds_text(cold)} to "
                f"{where[0].lower()}{where[1:]} with {codec}; how long the app itself "
                f"takes isn't known without a recorded launch; {budget}."
            )
            yield self._finding(
                context, message, evidence=evidence, undecided=True, fix=RECORD
            )
        elif cold.high > limit_s:
            message = (
                f"{where} takes an estimated {seconds_text(cold)} with {codec}; "
                f"{budget}, which lies within that."
            )
            yield self._finding(context, message, evidence=evidence, undecided=True)

    def _finding(
        self,
        context: Context,
        message: str,
        *,
        evidence: tuple[Evidence, ...] = (),
        undecided: bool = False,
        fix: Fix | None = None,
    ) -> Finding:
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=message,
            location=image_place(context),
            evidence=evidence,
            fix=fix,
            undecided=undecided,
        )


class ImageSizeBudget:
    """The image is larger than the project allows."""

    id: ClassVar[str] = "SCA301"
    name: ClassVar[str] = "image-size-budget"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image is larger than its budget."
    fails_if: ClassVar[str] = (
        "The `.snap` is larger than `budgets.image-size`. A built snap's size is "
        "measured. A prime directory's is estimated with the codec that snapcraft.yaml "
        "names, else xz: the rule fires where even the low end of the interval is "
        "larger, and is undecided where the budget lies within the interval. A "
        "component's image has no budget."
    )
    why: ClassVar[str] = (
        "Users download the image, and its deltas grow with it. It grows slowly, with "
        "each release, until somebody sets a limit."
    )
    how_to_fix: ClassVar[str] = (
        "Look at the other SCA3xx findings for what needn't ship and at SCA102 for "
        "the codec, or raise the budget."
    )
    options: ClassVar[Mapping[str, str]] = {
        "budgets.image-size": "bytes with a unit, as in `300MB`"
    }

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where the budget is broken, or may be."""
        limit = context.policy.budgets.image_size
        if limit is None or context.snap.type == COMPONENT_TYPE:
            return
        codec = current_codec(context)
        size = _image_bytes(context.analysis, codec)
        if size is not None and size.high <= limit:
            return
        budget = f"the budget is {format_bytes(limit)}"
        undecided = size is None or size.low <= limit
        if size is None:
            message = f"The image's size with {codec} isn't known; {budget}."
        else:
            verb = "has" if size.known else "would have an estimated"
            within = ", which lies within that" if undecided else ""
            message = (
                f"The image {verb} {bytes_text(size)} with {codec}; {budget}{within}."
            )
        yield Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=message,
            location=image_place(context),
            evidence=tuple(_size_evidence(context.analysis, codec, size, limit)),
            undecided=undecided,
        )


def _warm_s(launch: LaunchAnalysis) -> float | None:
    return launch.profile.warm_s if launch.profile else None


def _cold_start(launch: LaunchAnalysis, device: str, codec: str) -> Interval | None:
    """Return what a cold start takes, or what is known of it to be added."""
    estimate = launch.estimates[device].get(codec)
    if estimate is None or not launch.launch_set.files:
        return None
    warm_s = _warm_s(launch)
    return estimate.added_s + Interval.exactly(0.0 if warm_s is None else warm_s)


def _unknown(launch: LaunchAnalysis, codec: str) -> str:
    if not launch.launch_set.files:
        return "the payload holds no file that its launch is known to read"
    return f"nothing is known of {codec} here"


def _evidence(
    launch: LaunchAnalysis, device: str, codec: str, limit_s: float
) -> Iterator[Evidence]:
    app = launch.launch_set.app
    yield Evidence(
        label=f"budget of {app} on {device}",
        text=format_seconds(limit_s),
        origin="declared",
    )
    for name in dict.fromkeys((codec, "xz", "lzo")):
        estimate = launch.estimates[device].get(name)
        if estimate is not None:
            yield Evidence(
                label=f"added to a cold start with {name}",
                text=seconds_text(estimate.added_s),
                origin="estimated",
            )
    warm_s = _warm_s(launch)
    if warm_s is not None:
        yield Evidence(
            label="a warm start, where the launch was recorded",
            text=format_seconds(warm_s),
            origin="measured",
        )


def _image_bytes(analysis: Analysis, codec: str) -> Interval | None:
    built = analysis.payload.image_bytes
    if built is not None:
        return Interval.exactly(built)
    trial = analysis.trial.codecs.get(codec)
    return None if trial is None else trial.image_bytes


def _size_evidence(
    analysis: Analysis, codec: str, size: Interval | None, limit: float
) -> Iterator[Evidence]:
    yield Evidence(
        label="budget of the image's size", text=format_bytes(limit), origin="declared"
    )
    if size is not None:
        yield Evidence(
            label=f"image with {codec}",
            text=bytes_text(size),
            origin=size_origin(size, analysis),
        )


RULES = (ColdStartBudget(), ImageSizeBudget())
