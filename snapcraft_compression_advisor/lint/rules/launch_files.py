"""SCA202 to SCA205: what dominates a launch, wasn't recorded, is made, or missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.units import Interval, format_bytes, join_ends, seconds_text
from ...payload.paths import PathResolver
from ...payload.snap_yaml import COMPONENT_TYPE
from ...payload.stack import place_of
from ..finding import Evidence, Finding, Fix, Gain, Location
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

_CODECS = ("xz", "lzo")

_MADE_FOR_BASES = frozenset({"core26", "bare"})
"""For which ``snap pack`` asks for targets (snapd#16828), so snapcraft makes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dominance:
    """The heaviest files of a launch.

    :param files: the heaviest first.
    :param seconds: that they add, together.
    :param share: of all that the launch adds.
    """

    files: tuple[LaunchFile, ...]
    seconds: Interval
    share: Interval


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


@Rule(
    id="SCA202",
    severity="info",
    summary="A few files take most of a cold launch's added time.",
    fails_if="On one of the devices, at most three files take at least half of what "
    "reading and decompressing add to a cold launch, and at least 0.25 s. Both are "
    "judged at the low end of their intervals; if only the high end reaches the "
    "threshold, the finding is undecided. A guessed launch set may lack files that the "
    "launch reads, which makes the share uncertain; a recorded one is complete.",
    why="These are the files to look into first: making one of them smaller, or "
    "reading it later, changes the launch more than anything else except the codec.",
    how_to_fix="Strip the files, leave out what isn't used, link or bundle code in the "
    "order in which the start needs it, or load the files after the window appears. "
    "`compression-advisor trim` prints filters for what isn't needed, and "
    "`compression-advisor prefetch` reads the rest ahead. The evidence also shows what "
    "the files cost with lzo.",
    options={
        "apps": "target apps",
        "devices": "devices to estimate for",
        "launch-profile": "recorded launches, which make the shares certain",
    },
    blocked=_no_costs,
    remedy="Leave out what 'compression-advisor trim' lists, make these files smaller, "
    "or read them later",
)
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
            (device, _dominance(launch, trial, device, largest))
            for device in context.analysis.devices
            if largest and codec in launch.estimates.get(device.name, {})
        ]
        sure = [
            each for each in found if _dominates(each[1].seconds.low, each[1].share.low)
        ]
        fitting = sure or [
            each
            for each in found
            if _dominates(each[1].seconds.high, each[1].share.high)
        ]
        if not fitting:
            continue
        device, dominance = max(fitting, key=lambda each: each[1].share.mid)
        files = dominance.files
        verb = "takes" if len(files) == 1 else "take"
        yield rule.finding(
            context,
            _message(
                launch, device.name, codec, dominance, verb if sure else "may take"
            ),
            location=Location("payload", files[0].path),
            subject={"app": launch.launch_set.app},
            evidence=_evidence(context, launch, device, files),
            files=[file.path for file in files],
            fix=None if sure else RECORD,
            gain=Gain(
                seconds=dominance.seconds,
                of="cold launch",
                where=f"{launch.launch_set.app} on {device.name}",
            ),
            undecided=not sure,
        )


def _message(
    launch: LaunchAnalysis, device: str, codec: str, found: _Dominance, verb: str
) -> str:
    names = ", ".join(repr(file.path) for file in found.files)
    low, share, high = (f"{end:.0%}" for end in found.share.ends)
    if not found.share.known:
        share = f"{share} ({join_ends(low, high)})"
    return (
        f"{names} {verb} an estimated {share} of what reading and decompressing add to "
        f"a cold launch of {launch.launch_set.app} on {device} with {codec}: "
        f"{seconds_text(found.seconds)}."
    )


def _dominates(seconds: float, share: float) -> bool:
    return seconds >= LEAST_S and share >= DOMINATING_SHARE


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
    from ...launch.model import cost_of_files  # noqa: PLC0415 # numpy

    launch_set = launch.launch_set
    costs = sorted(
        (
            (cost_of_files(launch_set, (file,), trial, device).mid, file)
            for file in largest
        ),
        key=lambda pair: (-pair[0], pair[1].path),
    )
    heaviest = tuple(file for _, file in costs[:FEW])
    total = launch.estimates[device.name][trial.codec].added_s
    for count in range(1, len(heaviest) + 1):
        seconds = cost_of_files(launch_set, heaviest[:count], trial, device)
        share = _share(seconds, total)
        if share.mid >= DOMINATING_SHARE:
            break
    return _Dominance(files=heaviest[:count], seconds=seconds, share=share)


def _share(part: Interval, whole: Interval) -> Interval:
    """Return a part's share of a whole, both on the same device and launch."""
    ends = (
        (part.low, whole.low),
        (part.mid, whole.mid),
        (part.high, whole.high),
    )
    low, mid, high = (min(1.0, one / all_) if all_ else 0.0 for one, all_ in ends)
    return Interval(low=min(low, mid, high), mid=mid, high=max(low, mid, high))


def _evidence(
    context: Context,
    launch: LaunchAnalysis,
    device: DeviceProfile,
    files: tuple[LaunchFile, ...],
) -> Iterator[Evidence]:
    from ...launch.model import cost_of_files  # noqa: PLC0415 # numpy

    codecs = context.analysis.trial.codecs
    for file in files:
        yield Evidence(
            f"length of {file.path!r}", format_bytes(file.size_bytes), "measured"
        )
        for name in dict.fromkeys((current_codec(context), *_CODECS)):
            trial = codecs.get(name)
            if trial is not None and trial.available:
                cost = cost_of_files(launch.launch_set, (file,), trial, device)
                yield Evidence(
                    f"it adds with {name} on {device.name}",
                    seconds_text(cost),
                    "estimated",
                )


@Rule(
    id="SCA203",
    severity="info",
    summary="A launch that has to be recorded was only guessed.",
    fails_if="The policy has `record` with `required: true` for a target app, and its "
    "launch is guessed because of `--no-record`. The finding is always undecided: "
    "nothing was started, so whether the app starts, and what it reads, isn't known.",
    why="In CI on pull requests of strangers, nothing of the snap may be started. A "
    "guess doesn't show that the app still starts, so it can't pass for a recording.",
    how_to_fix="Nothing in the snap has to change. Record where the snap is trusted, "
    "as on the main branch: leave out `--no-record`, or specify a recording as "
    "`launch-profile`.",
    options={"record": "launches to record", "launch-profile": "recorded launches"},
)
def launch_not_recorded(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each required recording that wasn't made."""
    launches = context.analysis.launches
    required = {each.app for each in context.policy.record if each.required}
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


@Rule(
    id="SCA204",
    severity="warning",
    summary="The directory that a content snap is shown in is missing.",
    fails_if="The target of a `content` plug (`$SNAP/gnome`, `gnome` and `/gnome` are "
    "the same) isn't in the snap. The rule skips prime directories of the bases "
    "`core26` and `bare`, for which snapcraft makes the directory while it packs.",
    why="snapd has to cover the snap's root directory with a writable copy of it (a "
    "mimic) to make the directory, before the app starts. No compression saves that. "
    "With base `core26` or `bare`, `snap pack` refuses the snap.",
    how_to_fix="Make the directory in a part: `mkdir -p $CRAFT_PART_INSTALL/gnome`.",
)
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


@Rule(
    id="SCA205",
    severity="warning",
    summary="An app's program is missing.",
    fails_if="The first word of an app's `command`, or a path of its `command-chain`, "
    "isn't in the snap. The rule looks at all apps, not only at target apps. Where a "
    "link leads out of the snap, it doesn't fire.",
    why="The app doesn't start, and `snap pack` refuses the snap.",
    how_to_fix="Correct the path in snapcraft.yaml, or ship the program.",
    remedy="Correct the path in snapcraft.yaml, or ship the program",
)
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


RULES = (launch_dominated, launch_not_recorded, target_missing, program_missing)
