"""What launches of a payload read, of it and of the snaps that it runs with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from .advice.evidence import AVERAGE, Saving
from .core.errors import UsageError
from .core.units import Interval, combined
from .devices.device import DeviceProfile
from .launch.launch_set import LaunchFile, LaunchSet, select_apps
from .launch.model import (
    ExpectedBlocks,
    LaunchEstimate,
    average_figures,
    average_saving,
    cost_of_blocks,
    expect_blocks,
    total_s,
)
from .launch.stack import StackPart, average, find_parts
from .payload.inventory import block_count
from .payload.snap_yaml import split_component_name
from .payload.source import Payload, open_payload
from .payload.stack import stack_of
from .trial.result import Progress, TrialResult
from .trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from .launch.fit import FittedProfile
    from .launch.profile import LaunchProfile
    from .payload.snap_yaml import SnapMetadata


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchAnalysis:
    """One app's launch.

    :param launch_set: what it reads.
    :param estimates: by device and codec; available codecs only.
    :param profile: the launch profile that it comes from.
    :param stack: what it reads of each snap, the app's own first; empty if only this
        one is known.
    :param weight: of a consumer's launch among those of all consumers; ``None`` if
        the app is the payload's own, and of their average.
    """

    launch_set: LaunchSet
    estimates: Mapping[str, Mapping[str, LaunchEstimate]]
    profile: FittedProfile | None = None
    stack: tuple[StackPart, ...] = ()
    weight: float | None = None

    @property
    def warm_s(self) -> float | None:
        """What a warm start took when it was recorded."""
        return self.profile.warm_s if self.profile else None

    def cold_start(self, device: str, codec: str) -> Interval | None:
        """Return the seconds of a cold start, or those that are known to be added.

        :returns: ``None`` if the codec isn't available or no file is known.
        """
        estimate = self.estimates[device].get(codec)
        if estimate is None or not self.launch_set.files:
            return None
        return Interval.exactly(self.warm_s or 0.0) + estimate.added_s

    def savings(self, shares: Mapping[str, float] | None = None) -> Iterator[Saving]:
        """Yield what lzo saves over xz on each device, as far as both are available.

        :param shares: of the users, by device: then it is the average over these.
        """
        each_alone = {device: {device: 1.0} for device in self.estimates}
        for device, users in ({AVERAGE: shares} if shares else each_alone).items():
            costs = [(share, self.estimates[name]) for name, share in users.items()]
            if all({"xz", "lzo"} <= each.keys() for _, each in costs):
                seconds, narrowing = average_saving(
                    [(share, each["xz"], each["lzo"]) for share, each in costs]
                )
                with_xz = [(share, each["xz"].figures) for share, each in costs]
                yield Saving(
                    app=self.launch_set.app,
                    device=device,
                    shares=shares or {},
                    seconds=seconds,
                    xz_added_s=combined(total_s, average_figures(with_xz)),
                    narrowing=narrowing,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The snaps that a payload runs with, as far as they are at hand.

    :param bases: base snaps; each snap is launched with its own.
    :param contents: content snaps; each snap is launched with those that it asks for.
    :param consumers: snaps that run with the base or content snap to advise on, whose
        launches count in place of its own, all alike.
    """

    bases: tuple[Payload, ...] = ()
    contents: tuple[Payload, ...] = ()
    consumers: tuple[Payload, ...] = ()

    @classmethod
    def opened(
        cls,
        until: ExitStack,
        bases: Iterable[str | Path],
        contents: Iterable[str | Path],
    ) -> Surroundings:
        """Open snaps by their paths; the stack closes them."""
        opened, others = (
            tuple(until.enter_context(open_payload(Path(each))) for each in paths)
            for paths in (bases, contents)
        )
        return cls(bases=opened, contents=others)

    def suppliers(self, snap: SnapMetadata) -> tuple[Payload, ...]:
        """Return whose files a snap finds beside its own."""
        bases = (base for base in self.bases if base.snap.name == snap.base_name)
        return (*bases, *self.contents)

    def stack_of(self, payload: Payload, *, below: Sequence[Payload] = ()) -> Payload:
        """Return a snap over those that it runs with.

        :param below: further base or content snaps, which go before these.
        """
        return stack_of(
            payload, bases=(*below, *self.bases), contents=(*below, *self.contents)
        )


def find_launches(
    payload: Payload,
    apps: Sequence[str],
    profiles: Sequence[LaunchProfile],
    surroundings: Surroundings,
) -> tuple[LaunchAnalysis, ...]:
    """Return the launches of a payload with their reads, without costs.

    :param apps: of the payload; its consumers' count if there are any.
    """
    if surroundings.consumers:
        return tuple(_consumers_launches(payload, profiles, surroundings))
    stacked = surroundings.stack_of(payload)
    by_app = {profile.app: profile for profile in profiles}
    return tuple(
        _launch(payload, stacked, app, by_app.get(app), label=app) for app in apps
    )


def whole_read(payload: Payload) -> LaunchAnalysis:
    """Return the launch of a program that reads all files of a component."""
    _, component = split_component_name(payload.snap.name)
    whole = LaunchSet(
        app=f"a program that reads all of {component or payload.snap.name}",
        source="static",
        files=tuple(
            LaunchFile(
                path=each.path,
                size_bytes=each.size_bytes,
                blocks=((0, block_count(each.size_bytes) - 1),),
            )
            for each in sorted(payload.inventory.files(), key=attrgetter("path"))
            if each.size_bytes
        ),
        read_share=Interval.exactly(1.0),
        seek_share=Interval.exactly(1.0),
        waited_share=Interval.exactly(1.0),
    )
    return LaunchAnalysis(launch_set=whole, estimates={})


def _launch(
    payload: Payload,
    stacked: Payload,
    app: str,
    profile: LaunchProfile | None,
    *,
    label: str,
) -> LaunchAnalysis:
    """Return a launch with its reads of a payload, and of the snaps beside it.

    :param stacked: the snap that is launched, over those that it runs with.
    :param label: what reports call the app.
    """
    parts, fitted = find_parts(stacked, app, profile)
    parts = tuple(replace(part, judged=part.payload is payload) for part in parts)
    own = next(part.launch_set for part in parts if part.judged)
    return LaunchAnalysis(
        launch_set=replace(own, app=label),
        estimates={},
        profile=fitted if parts[0].judged else None,
        stack=parts if len(parts) > 1 else (),
    )


def _consumers_launches(
    payload: Payload, profiles: Sequence[LaunchProfile], surroundings: Surroundings
) -> Iterator[LaunchAnalysis]:
    """Yield the launches of all consumers, before them what these make together."""
    launches = []
    for consumer in surroundings.consumers:
        stacked = surroundings.stack_of(consumer, below=(payload,))
        app, label = consumer_app(consumer)
        # A recording of one snap alone doesn't name it.
        own = (
            each
            for each in profiles
            if each.app == app
            and (not each.payloads or each.payloads[0].name == consumer.snap.name)
        )
        profile = next(own, None)
        launch = _launch(payload, stacked, app, profile, label=label)
        weight = 1 / len(surroundings.consumers)
        launches.append(replace(launch, weight=weight))
    if len(launches) > 1:
        launch_set = average([each.launch_set for each in launches])
        yield LaunchAnalysis(launch_set=launch_set, estimates={})
    yield from launches


def consumer_app(consumer: Payload) -> tuple[str, str]:
    """Return the app of a consumer whose launch counts, and what reports call it.

    :raises UsageError: if it has no app.
    """
    snap = consumer.snap
    apps, _ = select_apps(snap, consumer.inventory)
    if not apps:
        message = f"Consumer {str(consumer.path)!r} has no app, so nothing is launched"
        raise UsageError(message, resolution="Specify a snap with an app.")
    return apps[0], snap.name if apps[0] == snap.name else f"{snap.name}.{apps[0]}"


def estimates_of(
    launch_set: LaunchSet, trial: TrialResult, devices: Sequence[DeviceProfile]
) -> dict[str, dict[str, LaunchEstimate]]:
    """Return estimates by device and codec; a codec's blocks are summed up once."""
    estimates: dict[str, dict[str, LaunchEstimate]] = {
        each.name: {} for each in devices
    }
    expected: ExpectedBlocks | None = None
    for codec in trial.codecs.values():
        if codec.available:
            places = codec.blocks.places
            if expected is None or expected.places != places:
                expected = expect_blocks(launch_set, places)
            sums = expected.sums(codec.blocks)
            for device in devices:
                estimates[device.name][codec.codec] = cost_of_blocks(
                    sums, launch_set, codec.codec, device
                )
    return estimates


def price_launches(
    launches: Sequence[LaunchAnalysis],
    trial: TrialResult,
    devices: Sequence[DeviceProfile],
    *,
    stacks: bool,
    progress: Progress,
) -> tuple[LaunchAnalysis, ...]:
    """Return launches with what they cost, by device and codec.

    :param trial: of the payload that the advice is about.
    :param stacks: whether to price what they read of the other snaps, too.
    """
    trials = _trials_of_stacks(launches, trial, progress) if stacks else {}
    priced = []
    for launch in launches:
        stack = tuple(
            part
            if (tried := trials.get(id(part.payload))) is None
            else replace(
                part,
                estimates=estimates_of(part.launch_set, tried, devices),
                lzo_less_xz_bytes=tried.lzo_less_xz_bytes,
            )
            for part in launch.stack
        )
        estimates = estimates_of(launch.launch_set, trial, devices)
        priced.append(replace(launch, estimates=estimates, stack=stack))
    return tuple(priced)


def _trials_of_stacks(
    launches: Sequence[LaunchAnalysis], own: TrialResult, progress: Progress
) -> Mapping[int, TrialResult]:
    """Try the codecs on the snaps that the advice isn't about, each once."""
    trials = {}
    for part in (each for launch in launches for each in launch.stack):
        payload = part.payload
        if part.judged:
            trials[id(payload)] = own
        elif payload is not None and id(payload) not in trials:
            progress(f"Compressing a sample of {payload.snap.name}")
            trials[id(payload)] = run_sampled_trial(payload, progress=progress)
    return trials
