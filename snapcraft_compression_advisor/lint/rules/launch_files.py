"""SCA202 to SCA205: what dominates a launch, wasn't recorded, is made, or missing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...codecs import SHIPPABLE
from ...core.units import Interval, format_bytes, join_ends, seconds_text
from ...payload.inventory import PathResolver
from ...payload.snap_yaml import COMPONENT_TYPE
from ...payload.stack import place_of
from ..finding import Evidence, Finding, Fix, Gain, Location, estimated, measured
from ..rule import RECORD, Context, Rule, current_codec

if TYPE_CHECKING:
    from ...devices.device import DeviceProfile
    from ...launch.launch_set import LaunchFile, LaunchSet
    from ...launches import LaunchAnalysis
    from ...trial.result import CodecTrial

FEW = 3
"""Files that a reader can look into one by one."""

CANDIDATES = 16
"""Files whose costs are compared, those of which most is read. A file that little is
read of costs as much only where it lies in many pieces, which few do."""

DOMINATING_SHARE = 0.5
LEAST_S = 0.25
"""So much of what a launch adds, and so many seconds, are worth a finding."""

_MADE_FOR_BASES = frozenset({"core26", "bare"})
"""For which ``snap pack`` asks for targets (snapd#16828), so snapcraft makes them."""


class _Dominance(NamedTuple):
    """The heaviest files of a launch, their seconds, and their share of all it adds."""

    device: DeviceProfile
    files: tuple[LaunchFile, ...]
    seconds: Interval
    share: Interval

    def is_worth_a_look(self, end: int) -> bool:
        """Return whether that is much at one end of the intervals."""
        share, seconds = self.share.ends[end], self.seconds.ends[end]
        return seconds >= LEAST_S and share >= DOMINATING_SHARE


def _no_costs(context: Context) -> str | None:
    """Return why it isn't known what a launch reads, or what that costs."""
    codec, launches = current_codec(context), context.analysis.launches
    if context.snap.type == COMPONENT_TYPE:
        return None
    for launch in launches:
        if not launch.launch_set.files:
            return f"what a launch of {launch.launch_set.app} reads isn't known"
        if not any(codec in each for each in launch.estimates.values()):
            return f"what a launch costs with {codec} isn't known"
    return None


@Rule(id="SCA202", severity="info", blocked=_no_costs)
def launch_dominated(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if few files take most of a launch's added time."""
    if context.snap.type == COMPONENT_TYPE:
        return
    codec = current_codec(context)
    trial = context.analysis.trial.codecs.get(codec)
    if trial is None or not trial.available:
        return
    for launch in context.analysis.launches:
        largest = _largest(launch.launch_set, trial)
        found = [
            _dominance(launch, trial, device, largest)
            for device in context.analysis.devices
            if largest and codec in launch.estimates.get(device.name, {})
        ]
        sure = [each for each in found if each.is_worth_a_look(0)]
        fitting = sure or [each for each in found if each.is_worth_a_look(-1)]
        if not fitting:
            continue
        heavy = max(fitting, key=lambda each: each.share.mid)
        names = ", ".join(repr(file.path) for file in heavy.files)
        verb = ("adds" if len(heavy.files) == 1 else "add") if sure else "may add"
        low, share, high = (f"{end:.0%}" for end in heavy.share.ends)
        if not heavy.share.known:
            share = f"{share} ({join_ends(low, high)})"
        where = f"{launch.launch_set.app} on {heavy.device.name}"
        yield rule.finding(
            context,
            f"{names} {verb} an estimated {seconds_text(heavy.seconds)} to a cold "
            f"start of {where} with {codec}, {share} of what all files add.",
            location=Location("payload", heavy.files[0].path),
            subject={"app": launch.launch_set.app},
            evidence=_evidence(context, launch, heavy),
            files=[file.path for file in heavy.files],
            fix=None if sure else RECORD,
            gain=Gain(seconds=heavy.seconds, of="cold launch", where=where),
            undecided=not sure,
        )


def _largest(launch_set: LaunchSet, trial: CodecTrial) -> tuple[LaunchFile, ...]:
    """Return the files of which most is read, as it is stored."""
    from ...launch.model import expect_blocks  # noqa: PLC0415 # numpy

    expected = expect_blocks(launch_set, trial.blocks.places)
    sizes = expected.stored_bytes_by_file(trial.blocks)
    pairs = zip(sizes, launch_set.files, strict=True)
    largest = sorted(pairs, key=lambda pair: (-pair[0], pair[1].path))
    return tuple(file for _, file in largest[:CANDIDATES])


def _dominance(
    launch: LaunchAnalysis,
    trial: CodecTrial,
    device: DeviceProfile,
    largest: tuple[LaunchFile, ...],
) -> _Dominance:
    """Return the fewest files that take most, or else the few heaviest."""
    heaviest = sorted(
        largest, key=lambda file: (-_cost(launch, [file], trial, device).mid, file.path)
    )[:FEW]
    whole = launch.estimates[device.name][trial.codec].added_s
    for count in range(1, len(heaviest) + 1):
        seconds = _cost(launch, heaviest[:count], trial, device)
        ends = zip(seconds.ends, whole.ends, strict=True)
        shares = [min(1.0, part / all_) if all_ else 0.0 for part, all_ in ends]
        share = Interval(low=min(shares), mid=shares[1], high=max(shares))
        if share.mid >= DOMINATING_SHARE:
            break
    return _Dominance(device, tuple(heaviest[:count]), seconds, share)


def _cost(
    launch: LaunchAnalysis,
    files: Sequence[LaunchFile],
    trial: CodecTrial,
    device: DeviceProfile,
) -> Interval:
    from ...launch.model import cost_of_files  # noqa: PLC0415 # numpy

    return cost_of_files(launch.launch_set, tuple(files), trial, device)


def _evidence(
    context: Context, launch: LaunchAnalysis, heavy: _Dominance
) -> Iterator[Evidence]:
    codecs = context.analysis.trial.codecs
    for file in heavy.files:
        yield measured(f"length of {file.path!r}", format_bytes(file.size_bytes))
        for name in dict.fromkeys((current_codec(context), *SHIPPABLE)):
            trial = codecs.get(name)
            if trial is not None and trial.available:
                cost = _cost(launch, [file], trial, heavy.device)
                what = f"it adds with {name} on {heavy.device.name}"
                yield estimated(what, seconds_text(cost))


@Rule(id="SCA203", severity="info")
def launch_not_recorded(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each required recording that wasn't made."""
    launches = context.analysis.launches
    required = {each.app for each in context.settings.record if each.required}
    for number, launch in enumerate(launches):
        app = launch.launch_set.app
        wanted = app in required or (None in required and number == 0)
        if wanted and launch.launch_set.source != "recorded":
            yield rule.finding(
                context,
                f"The policy requires a recorded launch of {app}, but it was guessed: "
                "nothing was started, so whether the app starts wasn't checked.",
                subject={"app": app},
                fix=RECORD,
                undecided=True,
            )


@Rule(id="SCA204", severity="warning")
def target_missing(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each plug whose target isn't there."""
    is_prime = context.analysis.payload.kind == "prime"
    if is_prime and context.snap.base_name in _MADE_FOR_BASES:
        return
    entries = context.inventory.entries
    for name, plug in context.snap.plugs.items():
        place = place_of(plug) if plug.interface == "content" else ""
        if place and not place.startswith("$") and place not in entries:
            yield rule.finding(
                context,
                f"The snap has no directory {place!r}, in which plug {name} shows a "
                "content snap: snapd makes it before the app starts.",
                subject={"plug": name},
                fix=Fix(
                    f"Make {place!r} in a part: mkdir -p $CRAFT_PART_INSTALL/{place}"
                ),
            )


@Rule(id="SCA205", severity="warning")
def program_missing(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each app that starts what isn't there."""
    resolver = PathResolver(context.inventory, snap_name=context.snap.name)
    for app, keys in context.snap.apps.items():
        words = (keys.command or "").split()
        for path in (*words[:1], *keys.command_chain):
            inside = re.sub(r"\A\$\{?SNAP\}?/", "", path)
            found = resolver.locate(inside)
            if found.entry is None and found.outside is None and "$" not in inside:
                yield rule.finding(
                    context,
                    f"App {app} starts {path!r}, which the snap doesn't have.",
                    subject={"app": app},
                )
    for launch in context.analysis.launches:
        interpreter = launch.launch_set.missing_program
        if interpreter is not None and interpreter.startswith("/"):
            app = launch.launch_set.app
            yield rule.finding(
                context,
                f"App {app} starts a script for {interpreter!r}, which the snap "
                "doesn't have.",
                subject={"app": app},
                fix=Fix(
                    "Begin the script with '#!/usr/bin/env "
                    f"{posixpath.basename(interpreter)}'"
                ),
            )


RULES = (launch_dominated, launch_not_recorded, target_missing, program_missing)
