"""The stages composed: from a payload to a recommendation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .advice.evidence import ColdStart, Downloads, Evidence, Policy
from .advice.judging import recommend
from .advice.month import usual_downloads
from .advice.recommendation import Recommendation
from .codecs import CODECS, SHIPPABLE
from .core.errors import BadDataError, ToolError, UsageError
from .core.units import Interval
from .devices.device import DeviceProfile
from .launch.launch_set import select_apps
from .launches import (
    LaunchAnalysis,
    Surroundings,
    find_launches,
    price_launches,
    whole_read,
)
from .payload.snap_yaml import COMPONENT_TYPE, split_component_name
from .payload.source import Payload, PayloadKind, SnapPayload, open_payload
from .settings.load import LoadedSettings
from .settings.parts import RefreshSettings
from .settings.settings import Settings
from .trial.result import Progress, TrialResult
from .trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from .launch.profile import LaunchProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadSummary:
    """What was analysed.

    :param declared_compression: of snapcraft.yaml, or the codec of a built snap;
        ``None`` if neither is known.
    :param image_bytes: size of a built snap; ``None`` for a prime directory.
    """

    path: Path
    kind: PayloadKind
    name: str
    base: str
    files: int
    raw_bytes: int
    data_blocks: int
    declared_compression: str | None
    image_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All that is known of a payload.

    :param app_choice: why these are the target apps, in words.
    :param launches: of the target apps, the deciding one first.
    :param no_deltas: why the deltas that the policy asks for aren't known.
    :param options: of the command that asked for it, for commands to copy.
    """

    payload: PayloadSummary
    trial: TrialResult
    devices: tuple[DeviceProfile, ...]
    app_choice: str
    launches: tuple[LaunchAnalysis, ...]
    policy: Policy
    recommendation: Recommendation
    no_deltas: str | None = None
    options: tuple[tuple[str, ...], ...] = ()

    @property
    def missing_programs(self) -> Mapping[str, str]:
        """What apps start and the payload should hold, but doesn't, by app."""
        sets = [launch.launch_set for launch in self.launches]
        found = {each.app: each.missing_program for each in sets}
        return {app: program for app, program in found.items() if program is not None}

    def image_bytes(self, codec: str) -> Interval | None:
        """Return the size of a built snap, else of the image with a codec."""
        if self.payload.image_bytes is not None:
            return Interval.exactly(self.payload.image_bytes)
        trial = self.trial.codecs.get(codec)
        return None if trial is None else trial.image_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user wants to know.

    :param apps: names of apps; none leaves the choice to the advisor.
    :param devices: profiles to estimate for.
    :param profiles: recorded launches; their apps are taken if none is named.
    :param policy: when lzo is worth its bytes.
    :param declared_compression: of snapcraft.yaml, if one was found.
    :param exact: whether to pack with every codec rather than try some blocks.
    :param codecs: names of those that are tried.
    :param surroundings: the snaps that it runs with, as far as they are at hand.
    :param prices_stacks: whether to try the codecs on these snaps as well.
    :param read: what is read of a component; ``None`` if that isn't known. Launches
        tell of a snap.
    :param deltas: sizes of the deltas from the previous build, by codec, or why they
        aren't known; none if the policy has a typical one.
    """

    devices: tuple[DeviceProfile, ...]
    apps: tuple[str, ...] = ()
    profiles: tuple[LaunchProfile, ...] = ()
    policy: Policy = field(default_factory=Policy)
    declared_compression: str | None = None
    exact: bool = False
    codecs: Sequence[str] = tuple(CODECS)
    surroundings: Surroundings = field(default_factory=Surroundings)
    prices_stacks: bool = False
    read: Literal["all", "none"] | None = "all"
    deltas: Mapping[str, Interval] | str = field(default_factory=dict)


def analysis_request(
    payload: Payload,
    loaded: LoadedSettings,
    surroundings: Surroundings,
    *,
    declared: str | None = None,
) -> Request:
    """Return the request that settings make of a payload's analysis.

    A built snap is judged as it is, not by what snapcraft.yaml has by now.

    :param declared: compression of snapcraft.yaml, if one is at hand.
    """
    settings = loaded.settings
    request = Request(
        devices=loaded.devices,
        policy=settings.to_component_policy(),
        declared_compression=declared if payload.kind == "prime" else None,
        surroundings=surroundings,
    )
    if payload.snap.type == COMPONENT_TYPE:  # no launch and no budget counts
        snap, component = split_component_name(payload.snap.name)
        return replace(request, read=settings.read_of(component or snap))
    return replace(
        request,
        apps=_apps(payload, settings),
        profiles=loaded.profiles,
        policy=settings.to_policy([each.name for each in loaded.devices]),
        deltas=_previous_deltas(payload, settings.refresh),
    )


def _previous_deltas(
    payload: Payload, refresh: RefreshSettings | None
) -> Mapping[str, Interval] | str:
    """Return the deltas from the build that the settings name, or why none is known.

    :raises AdvisorError: if that is of another snap, or broken.
    """
    if refresh is None or refresh.previous is None or refresh.deltas == "none":
        return {}
    from .refresh.estimate import DeltaMaker  # few projects name one

    try:
        with open_payload(Path(refresh.previous)) as previous:
            maker = DeltaMaker(previous, payload)
            found = {
                codec: maker.plain(codec)
                if refresh.deltas == "xdelta3"
                else maker.snap_aware
                for codec in SHIPPABLE
            }
    except ToolError as error:
        return f"{error}, and launches and downloads of a month aren't compared"
    return {codec: each.size_bytes for codec, each in found.items()}


def check_apps(payload: Payload, loaded: LoadedSettings) -> None:
    """Refuse names of apps that the snap doesn't have.

    :raises BadDataError: if they are in the policy file.
    :raises UsageError: if the user named them.
    """
    if payload.snap.type == COMPONENT_TYPE:
        return
    try:
        recorded = (each.app for each in loaded.settings.record if each.app)
        wanted = (*_apps(payload, loaded.settings), *recorded)
        select_apps(payload.snap, payload.inventory, requested=wanted)
    except UsageError as error:
        if loaded.policy_path is None:
            raise
        message = f"{loaded.policy_path}: {error}"
        raise BadDataError(message, resolution=error.resolution) from error


def _apps(payload: Payload, settings: Settings) -> tuple[str, ...]:
    """Return the apps that the settings name, those with a budget last."""
    budgets = settings.max_cold_start.values()
    with_budget = [app for each in budgets if isinstance(each, dict) for app in each]
    if settings.apps or not with_budget:
        return settings.apps
    chosen, _ = select_apps(payload.snap, payload.inventory)
    return tuple(dict.fromkeys((*chosen, *with_budget)))


def analyse(payload: Payload, request: Request, *, progress: Progress) -> Analysis:
    """Run all stages on a payload.

    :raises AdvisorError: see the stages.
    """
    apps, app_choice = _choose_apps(payload, request)
    progress("Finding what a launch reads")
    # Codecs leave Python's lock, so the search takes hardly any time beside the trial.
    with ThreadPoolExecutor(1, thread_name_prefix="launch") as beside:
        found = beside.submit(
            find_launches, payload, apps, request.profiles, request.surroundings
        )
        trial = _try_codecs(payload, request, progress=progress)
    if isinstance(request.deltas, str):
        trial = replace(trial, notes=(*trial.notes, request.deltas))
    # No app's start names the files of a component: what reads it may read all.
    reads_all = payload.snap.type == COMPONENT_TYPE and request.read != "none"
    launches = price_launches(
        (whole_read(payload),) if reads_all else found.result(),
        trial,
        request.devices,
        stacks=request.prices_stacks,
        progress=progress,
    )
    evidence = _evidence(payload, request, trial, launches)
    return Analysis(
        payload=_summary(payload, evidence.declared),
        trial=trial,
        devices=request.devices,
        app_choice=app_choice,
        launches=launches,
        policy=request.policy,
        recommendation=recommend(evidence, request.policy),
        no_deltas=request.deltas if isinstance(request.deltas, str) else None,
    )


def _try_codecs(
    payload: Payload, request: Request, *, progress: Progress
) -> TrialResult:
    """Pack with every codec, or try some blocks."""
    if request.exact:
        from .trial.exact import run_exact_trial

        return run_exact_trial(payload, progress=progress, names=request.codecs)
    return run_sampled_trial(payload, progress=progress, names=request.codecs)


def _choose_apps(payload: Payload, request: Request) -> tuple[tuple[str, ...], str]:
    """Return the target apps, and why.

    :raises BadDataError: if a profile is of an app that the snap doesn't have.
    """
    if request.surroundings.consumers:
        return (), "of the consumers"
    recorded = tuple(dict.fromkeys(profile.app for profile in request.profiles))
    for app in recorded:
        if app not in payload.snap.apps:
            message = (
                f"The launch profile is for app {app!r}, which the snap doesn't have"
            )
            apps = ", ".join(sorted(payload.snap.apps)) or "none"
            raise BadDataError(
                message,
                resolution=f"Record a launch of this snap. Its apps: {apps}.",
            )
    if recorded and not request.apps:
        return recorded, "with a recorded launch"
    return select_apps(payload.snap, payload.inventory, requested=request.apps)


def _evidence(
    payload: Payload,
    request: Request,
    trial: TrialResult,
    launches: tuple[LaunchAnalysis, ...],
) -> Evidence:
    sets = [launch.launch_set for launch in launches]
    shares = request.policy.device_shares
    return Evidence(
        declared=request.declared_compression or payload.packed_with,
        xz_bytes=trial.codecs["xz"].image_bytes,
        lzo_bytes=trial.codecs["lzo"].image_bytes,
        bytes_added=trial.lzo_less_xz_bytes,
        savings=tuple(each for launch in launches for each in launch.savings()),
        averages=tuple(
            each for launch in launches if shares for each in launch.savings(shares)
        ),
        nothing_found=tuple(each.app for each in sets if not each.files),
        without_program=tuple(each.app for each in sets if each.missing_program),
        # A budget is of an app's whole start, of which a platform snap is a part.
        cold_starts=()
        if request.surroundings.consumers
        else tuple(_cold_starts(launches, request.policy)),
        launched=request.read != "none",
        reader_known=request.read is not None,
        downloads=_downloads(request, trial),
    )


def _downloads(request: Request, trial: TrialResult) -> Downloads | None:
    """Return the downloads of a refresh, if the project describes refreshes."""
    habits, deltas = request.policy.habits, request.deltas
    sizes = {codec: trial.codecs[codec].image_bytes for codec in SHIPPABLE}
    images = {codec: size for codec, size in sizes.items() if size is not None}
    added = trial.lzo_less_xz_bytes  # known if both sizes are
    if habits is None or added is None or isinstance(deltas, str):
        return None
    return usual_downloads(habits, images, added, deltas)


def _cold_starts(
    launches: tuple[LaunchAnalysis, ...], policy: Policy
) -> Iterator[ColdStart]:
    """Yield the cold starts that have a budget, as far as their files are known."""
    for launch in launches:
        app = launch.launch_set.app
        for device in launch.estimates:
            limit_s = policy.cold_start_limit_s(app, device)
            if limit_s is not None and launch.launch_set.files:
                starts = {each: launch.cold_start(device, each) for each in SHIPPABLE}
                yield ColdStart(
                    app=app,
                    device=device,
                    limit_s=limit_s,
                    seconds={each: s for each, s in starts.items() if s is not None},
                    own_time_known=launch.warm_s is not None,
                )


def _summary(payload: Payload, declared: str | None) -> PayloadSummary:
    return PayloadSummary(
        path=payload.path,
        kind=payload.kind,
        name=payload.snap.name,
        base=payload.snap.base_name,
        files=payload.inventory.file_count,
        raw_bytes=payload.inventory.raw_bytes,
        data_blocks=payload.inventory.data_blocks,
        declared_compression=declared,
        image_bytes=(
            payload.image.image_bytes if isinstance(payload, SnapPayload) else None
        ),
    )
