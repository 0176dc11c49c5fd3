"""What lzo saves over xz: the difference that decides, of each app on each device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.frozen import frozen
from ..core.units import Interval, format_seconds
from .page.texts import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..advice.reasons import Verdict
    from .json_report import Report
    from .measure_json import MeasurementReport
    from .report_launch import LaunchReport, SavingReport

_MOST_SHOWN = 12
"""Savings that are shown; of more, only those of the apps that matter most."""

_EXTREMES = 2
"""Apps that gain most, and as many that gain least, if not all are shown."""

_NARROWER = 0.95
"""Of an interval's width, so much at most is worth saying."""

_AVERAGE = "average of users"
_PLACES = {"memory": "measured in memory", "disk": "measured on a disk"}


@frozen
class Gain:
    """What lzo saves over xz in an app's cold launch.

    :param place: the device's name; where launches were measured, where the images lay.
    :param saved_s: seconds.
    :param share: likewise, of the seconds that xz adds; ``None`` where those may be
        none.
    :param estimate: whose figures these are; ``None`` where launches were measured.
    :param verdict: of this app and device by themselves, as far as they may decide.
    :param decides: whether the verdict on the payload follows from this one.
    """

    app: str
    place: str
    saved_s: Interval
    share: Interval | None
    estimate: SavingReport | None = None
    verdict: Verdict | None = None
    decides: bool = False


@frozen
class Gains:
    """What lzo saves, and what the policy asks for.

    :param every: of all apps, the deciding one first; never empty.
    :param shown: those to show where there's no room for all.
    :param least_s: seconds to save, ``None`` where the policy asks for a share of what
        xz adds, or isn't known.
    :param least_share: that share.
    """

    every: tuple[Gain, ...]
    shown: tuple[Gain, ...]
    least_s: float | None
    least_share: float | None

    @property
    def decisive(self) -> Gain | None:
        """The one from which the verdict follows."""
        return next((gain for gain in self.every if gain.decides), None)

    def of_first_app(self) -> Gains:
        """Return the same with only the first app shown, which decides."""
        first = self.apps[0]
        return replace(self, shown=tuple(g for g in self.shown if g.app == first))

    @property
    def apps(self) -> tuple[str, ...]:
        """Apps of those shown, each once."""
        return tuple(dict.fromkeys(gain.app for gain in self.shown))

    @property
    def limit(self) -> float | None:
        """What the policy asks for, of what is judged; ``None`` if not known."""
        return self.least_s if self.least_share is None else self.least_share

    def judged(self, gain: Gain) -> Interval | None:
        """Return the figure that the policy asks for: seconds or the share."""
        return gain.saved_s if self.least_share is None else gain.share

    @property
    def asked(self) -> str:
        """What the policy asks for; empty where that isn't known."""
        if self.least_share is not None:
            return f"{100 * self.least_share:g}% of what xz adds"
        return "" if self.least_s is None else format_seconds(self.least_s)


def gains(report: Report, measurement: MeasurementReport | None = None) -> Gains | None:
    """Return what lzo saves; ``None`` where that isn't known.

    :param measurement: of the first app's launches.
    """
    every = tuple(_estimated(report))
    if not every:
        return None
    measured = tuple(_measured(every[0].app, measurement))
    policy = report.method.policy if report.method else None
    share = policy.min_saving_share if policy else None
    return Gains(
        every=(*every, *measured),
        shown=_shown(every, measured),
        least_s=policy.min_saving_s if policy and share is None else None,
        least_share=share,
    )


def _estimated(report: Report) -> Iterator[Gain]:
    advice = report.recommendation
    deciding = advice.decides and (advice.decides.app, advice.decides.device)
    alone = {(each.app, each.device): each.verdict for each in advice.by_device}
    for launch in report.launches:
        for device, saving in launch.savings.items():
            yield replace(
                _gain(launch.app, device, saving),
                verdict=alone.get((launch.app, device)),
                decides=(launch.app, device) == deciding,
            )
        if launch.average is not None:
            average = _gain(launch.app, _AVERAGE, launch.average)
            yield replace(average, verdict=advice.verdict, decides=True)


def _gain(app: str, place: str, saving: SavingReport) -> Gain:
    return Gain(
        app=app,
        place=place,
        saved_s=saving.seconds_saved.interval(),
        share=saving.share_saved.interval() if saving.share_saved else None,
        estimate=saving,
    )


def _measured(app: str, measurement: MeasurementReport | None) -> Iterator[Gain]:
    """Yield the mean difference of the rounds, of one round without an interval."""
    codecs = measurement.codecs if measurement else {}
    if measurement is None or not {"xz", "lzo"} <= codecs.keys():
        return
    xz, lzo = codecs["xz"], codecs["lzo"]
    saved_s = Interval.exactly(xz.cold_s.median - lzo.cold_s.median)
    if lzo.difference is not None and lzo.difference.than == "xz":
        saved_s = lzo.difference.saved_s.interval()
    added_s = xz.cold_s.median - xz.warm_s.median
    yield Gain(
        app=app,
        place=_PLACES[measurement.storage],
        saved_s=saved_s,
        share=saved_s.map(lambda end: end / added_s) if added_s > 0 else None,
    )


def _shown(every: Sequence[Gain], measured: Sequence[Gain]) -> tuple[Gain, ...]:
    """Return all, or those of the deciding app and of the ones at both ends."""
    chosen = [gain.app for gain in every]
    if len(every) > _MOST_SHOWN:
        least: dict[str, float] = {}
        for gain in every:
            least[gain.app] = min(
                gain.saved_s.mid, least.get(gain.app, gain.saved_s.mid)
            )
        apps = sorted(least, key=lambda app: -least[app])
        deciding = [gain.app for gain in every if gain.decides] or chosen[:1]
        chosen = [*deciding, *apps[:_EXTREMES], *apps[-_EXTREMES:]]
    first = every[0].app
    return tuple(
        gain
        for app in dict.fromkeys(chosen)
        for gain in (*every, *(measured if app == first else ()))
        if gain.app == app
    )


def why_narrow(report: Report) -> str | None:
    """Return why the difference of two wide intervals is narrow, in a sentence.

    :returns: ``None`` where the intervals of the deciding launch don't overlap.
    """
    found = gains(report)
    if found is None:
        return None
    costs = {
        (launch.app, device): costs
        for launch in report.launches
        for device, costs in launch.devices.items()
        if {"xz", "lzo"} <= costs.keys()
    }
    known = [gain for gain in found.every if (gain.app, gain.place) in costs]
    if not known:
        return None
    gain = next((gain for gain in known if gain.decides), known[0])
    both = costs[gain.app, gain.place]
    xz, lzo = both["xz"].added_s, both["lzo"].added_s
    if lzo.high <= xz.low or xz.high - xz.low <= gain.saved_s.high - gain.saved_s.low:
        return None
    return (
        f"On {gain.place}, xz adds {seconds(xz)} and lzo {seconds(lzo)}, and yet the "
        f"difference is {seconds(gain.saved_s)}: both codecs run on the same device "
        "and load the same data blocks, so errors in these figures move both times in "
        "the same direction."
    )


def narrowing_text(launch: LaunchReport) -> str | None:
    """Return what would narrow a saving's interval, in a clause.

    :returns: None if nothing would.
    """
    known = launch.narrowing
    if known is None:
        return None
    ways = [("a calibrated device", known.if_calibrated)]
    if launch.source != "recorded":
        ways.insert(0, ("a recording", known.if_recorded))
    width = known.seconds_saved.high - known.seconds_saved.low
    steps = [
        f"{way} would narrow it to {seconds(interval)}"
        for way, interval in ways
        if interval.high - interval.low < _NARROWER * width
    ]
    if not steps:
        return None
    where = f"on {known.device_name}" if launch.average is None else "on average"
    return (
        f"interval of the time saved {where}, {seconds(known.seconds_saved)}: "
        f"{', '.join(steps)}"
    )
