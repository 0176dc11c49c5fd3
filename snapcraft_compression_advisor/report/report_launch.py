"""The JSON report's part on launches: what they read, what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ..codecs import CodecName  # pydantic reads it at run time
from ..launch.launch_set import (
    BlindReason,  # pydantic reads it at run time
    Method,  # likewise
    Source,  # likewise
)
from ..launch.profile import LaunchPart  # likewise
from .contract import Count, Interval, Part, Text, filled
from .launch_files import (
    HeavyFileReport,
    LaunchDirectoryReport,
    heavy_files,
    launch_directories,
)
from .launch_groups import LaunchGroupReport, launch_groups
from .report_stack import StackSnapReport, StackWholeReport, stack_snap, stack_whole

if TYPE_CHECKING:
    from ..advice.evidence import Saving
    from ..analysis import Analysis
    from ..launch.fit import FittedProfile
    from ..launch.model import LaunchEstimate
    from ..launches import LaunchAnalysis


class GuessReport(Part):
    """What a guess of a launch rests on."""

    kind: str = Field(description="of application, by its toolkit or run time")
    expected_blocks: float = Field(
        description="data blocks expected to be read of those named"
    )
    read_share: Interval = Field(
        description="bytes actually read per byte expected, in nine of ten launches"
    )
    recorded: dict[str, float] = Field(
        description="applications of this kind whose launches were recorded, and what "
        "each read per byte that was expected without it; measured"
    )
    blind_spots: list[BlindSpotReport] = Field(
        default=[],
        description="what the guess could not follow; the interval is wider for it",
    )
    reference: dict[str, float] = Field(
        default={},
        description="recorded applications that stand in for what could not be "
        "followed, and what each read per byte that was expected likewise; measured",
    )


class BlindSpotReport(Part):
    """What a guess could not follow."""

    reason: BlindReason
    where: Text = Field(description="a file, relative to the payload, or a name")
    what: Text = Field(
        description="the interpreter, limit or plug in question, else empty"
    )


class NarrowingReport(Part):
    """What would narrow the interval of the seconds that lzo saves."""

    device_name: Text = Field(
        description="the one that decides, or 'average' if that over the users' "
        "devices does; of other apps the one on which lzo saves least"
    )
    seconds_saved: Interval
    if_recorded: Interval = Field(
        description="seconds saved, were it known that it reads what is expected"
    )
    if_calibrated: Interval = Field(
        description="seconds saved, were the device known to be as in the middle"
    )


class SavingReport(Part):
    """What lzo saves over xz in a cold launch on one device; estimated."""

    seconds_saved: Interval
    share_saved: Interval | None = Field(
        description="of the seconds that xz adds; null if these may be none"
    )


class TraceReport(Part):
    """What a launch that was recorded by trace leaves open."""

    expected_blocks: float = Field(
        description="data blocks expected to be read of those named, which a process "
        "read or mapped"
    )
    read_share: Interval = Field(
        description="bytes actually read per byte expected, in nine of ten launches; "
        "measured by residency"
    )


class FitReport(Part):
    """How far a recorded launch fits a payload that has changed since."""

    blocks_share: float = Field(description="of the launch profile's blocks, 0 to 1")
    gone: list[Text] = Field(description="files that the payload doesn't contain")
    changed: list[Text] = Field(description="files of another size")


class UnresolvedReport(Part):
    """What a launch needs and the payload doesn't hold."""

    name: Text
    needed_by: Text
    supplier: Literal["base", "base or content snap", "missing", "unreadable"]


class CostReport(Part):
    """What a cold launch costs with one codec on one device."""

    added_s: Interval = Field(
        description="seconds that a cold launch takes longer than a warm one"
    )
    io_s: float = Field(
        description="seconds of the middle estimate: waiting for storage"
    )
    copy_s: float = Field(
        description="seconds of the middle estimate: requesting blocks and copying "
        "them; the same for every codec"
    )
    decompress_s: float = Field(
        description="seconds of the middle estimate: decompressing data blocks"
    )
    metadata_s: float = Field(
        default=0.0,
        description="seconds of the middle estimate: reading and decompressing "
        "metadata blocks, that is inodes and directories",
    )
    warm_s: float | None = Field(description="only from a recorded launch")
    cold_s: float | None = Field(description="only from a recorded launch")


class LaunchPartReport(Part):
    """A part of a recorded launch of an installed snap."""

    part: LaunchPart = Field(description="program that runs, or the command-chain")
    cold_s: float = Field(description="measured seconds of the cold launch")


class LaunchReport(Part):
    """One app's launch."""

    app: str
    source: Source
    method: Method | None = Field(
        default=None,
        description="how the launch was recorded; null if it was guessed or the "
        "profile doesn't say",
    )
    files: Count
    data_blocks: Count
    raw_bytes: Count
    metadata_blocks: float | None = Field(
        default=None,
        description="metadata blocks (8 KiB of inodes or directories) that the launch "
        "reads, each as often as it is read; null if they weren't counted",
    )
    guess: GuessReport | None = Field(
        default=None, description="only if the launch was guessed from files"
    )
    trace: TraceReport | None = Field(
        default=None, description="only if the launch was recorded by trace"
    )
    fit: FitReport | None = Field(
        default=None,
        description="only if the launch was recorded and the payload has changed",
    )
    unresolved: list[UnresolvedReport]
    directories: list[LaunchDirectoryReport] = Field(
        default=[],
        description="directories of its blocks, the one with the most blocks first",
    )
    groups: list[LaunchGroupReport] = Field(
        default=[],
        description="all files by what they belong to, the group with the most data "
        "blocks first; small groups are the parts of the last one",
    )
    heaviest: list[HeavyFileReport] = Field(
        default=[], description="the files that add most with xz"
    )
    devices: dict[str, dict[CodecName, CostReport]]
    savings: dict[str, SavingReport] = Field(
        default={}, description="by device; what lzo saves over xz"
    )
    average: SavingReport | None = Field(
        default=None,
        description="over the users' devices, if their shares decide by this app",
    )
    narrowing: NarrowingReport | None = Field(
        default=None, description="null if there is no estimate for both xz and lzo"
    )
    weight: float | None = Field(
        default=None, description="of a consumer among all; null for an own app"
    )
    recorded_parts: list[LaunchPartReport] = Field(
        default=[],
        description="of the recorded cold launch of an installed snap, in their order",
    )
    stack: list[StackSnapReport] = Field(
        default=[],
        description="what the launch reads of each snap, the app's own first; empty if "
        "no other snap is available",
    )
    stack_whole: dict[str, StackWholeReport] = Field(
        default={}, description="by device; of the available snaps together"
    )


def launch_report(
    analysis: Analysis, launch: LaunchAnalysis, *, in_full: bool = True
) -> LaunchReport:
    """Return what is known of a launch.

    :param in_full: whether also its files and directories.
    """
    launch_set, profile = launch.launch_set, launch.profile
    blocks, basis = round(launch_set.expected_blocks, 1), launch_set.basis
    return filled(
        LaunchReport,
        launch_set,
        files=len(launch_set.files),
        guess=filled(
            GuessReport,
            launch_set,
            kind=basis.kind,
            expected_blocks=blocks,
            recorded=dict(basis.recorded),
            blind_spots=[filled(BlindSpotReport, spot) for spot in basis.blind_spots],
            reference=dict(basis.reference),
        )
        if basis
        else None,
        trace=filled(TraceReport, launch_set, expected_blocks=blocks)
        if launch_set.method == "trace"
        else None,
        fit=filled(FitReport, profile, blocks_share=profile.fitting_share)
        if profile and (profile.gone or profile.changed)
        else None,
        directories=launch_directories(launch_set) if in_full else [],
        groups=launch_groups(launch_set.files) if in_full else [],
        heaviest=heavy_files(analysis, launch_set) if in_full else [],
        devices={
            device: {codec: _cost(cost, profile) for codec, cost in estimates.items()}
            for device, estimates in launch.estimates.items()
        },
        savings=_savings(launch),
        average=_average(analysis, launch),
        narrowing=_narrowing(analysis, launch),
        weight=launch.weight,
        recorded_parts=[
            LaunchPartReport(part=part, cold_s=taken_s)
            for part, taken_s in (profile.part_seconds if profile else ())
        ],
        stack=[stack_snap(analysis, part) for part in launch.stack],
        stack_whole=stack_whole(analysis, launch),
    )


def _savings(launch: LaunchAnalysis) -> dict[str, SavingReport]:
    """Return what lzo saves by device, as the advice judges it."""
    if not launch.launch_set.files:  # nothing is known of it
        return {}
    return {saving.device: _saving(saving) for saving in launch.savings()}


def _average(analysis: Analysis, launch: LaunchAnalysis) -> SavingReport | None:
    decisive = _decisive(analysis, launch)
    return _saving(decisive) if decisive is not None and decisive.shares else None


def _saving(saving: Saving) -> SavingReport:
    return filled(
        SavingReport,
        None,
        seconds_saved=saving.seconds,
        share_saved=saving.share,
    )


def _decisive(analysis: Analysis, launch: LaunchAnalysis) -> Saving | None:
    """Return what decides, where it's a launch of this app."""
    saving = analysis.recommendation.decisive
    return saving if saving and saving.app == launch.launch_set.app else None


def _narrowing(analysis: Analysis, launch: LaunchAnalysis) -> NarrowingReport | None:
    """Return what would narrow what decides, else what is saved least."""
    saving = _decisive(analysis, launch) or min(
        launch.savings(), key=lambda each: each.seconds.mid, default=None
    )
    if saving is None or saving.narrowing is None:
        return None
    return filled(
        NarrowingReport,
        saving.narrowing,
        device_name=saving.device,
        seconds_saved=saving.seconds,
    )


def _cost(estimate: LaunchEstimate, profile: FittedProfile | None) -> CostReport:
    warm_s = profile.warm_s if profile else None
    return filled(
        CostReport,
        estimate,
        io_s=estimate.io.mid,
        copy_s=estimate.copying.mid,
        decompress_s=estimate.decompression.mid,
        metadata_s=estimate.look_up.mid,
        warm_s=warm_s,
        cold_s=None if warm_s is None else warm_s + estimate.added_s.mid,
    )
