"""The JSON report of an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from pydantic import ConfigDict, Field

from .. import __version__
from ..codecs import CodecName
from ..devices.kernel import Decompressors, FileMode
from ..lint.figures import size_origin
from ..lint.finding import LintReport
from ..wording import sentences
from .advise_month import MonthReport, month_report
from .contract import Count, Document, Interval, Part, Text, filled
from .installation import InstallationReport, installation_report
from .lint_formats.json import FindingReport, build_lint_document
from .report_files import (
    FileSizesReport,
    IncompressibleReport,
    KindReport,
    file_sizes_report,
    incompressible_report,
    kind_reports,
)
from .report_launch import LaunchReport, launch_report
from .undecided import what_decides

if TYPE_CHECKING:
    from collections.abc import Container

    from ..advice.recommendation import Recommendation
    from ..analysis import Analysis
    from ..capture.snapd_timings import SnapdTimings
    from ..lint.finding import LintedPayload
    from ..trial.result import CodecTrial
    from ..trial.stored import StoredSizes


class PayloadReport(Part):
    """What was analysed."""

    path: Text
    kind: Literal["prime", "snap"]
    name: str
    base: str
    files: Count = Field(description="regular files, hard links counted once")
    raw_bytes: Count = Field(description="their length")
    data_blocks: Count = Field(description="their blocks of 128 KiB, tails included")
    declared_compression: str | None = Field(
        description="of snapcraft.yaml or the built snap; null if neither is known"
    )
    image_bytes: Count | None = Field(
        default=None, description="of a built snap; null for a prime directory"
    )
    stack_options: list[str] = Field(
        default_factory=list,
        description="those that named the base and content snaps it runs with",
    )


class CodecReport(Part):
    """One codec's image."""

    image_bytes: Interval | None = Field(description="null if not available")
    origin: Literal["measured", "estimated"] | None = Field(
        default=None,
        description="of that size: measured for a built snap's own codec, and for all "
        "codecs if the payload was packed with each",
    )
    available: bool = Field(description="whether this machine can pack with it")
    shippable: bool = Field(description="whether snapcraft and the store accept it")


class TrialReport(Part):
    """Every codec's image."""

    mode: Literal["exact", "sampled"]
    tool: str = Field(description="source of the sizes")
    notes: list[str] = Field(description="remarks on the sizes")
    codecs: dict[CodecName, CodecReport]


class DeviceVerdictReport(Part):
    """The verdict were there no other device."""

    device: Text
    verdict: Literal["change", "keep", "no-benefit", "undecided"]
    compression: Literal["xz", "lzo"]
    app: str = Field(description="deciding app that gains least there")
    seconds_saved: Interval = Field(description="by lzo over xz in its cold launch")


class DecidesReport(Part):
    """The saving that the verdict follows from."""

    app: str
    device: Text | None = Field(description="null for the average over the shares")
    shares: dict[Text, float] = Field(
        default={}, description="of the users, by device, where the average decides"
    )
    why: Literal[
        "only-device", "least-saving", "not-worth-there", "average", "budget"
    ] = Field(
        description="no other device was chosen; lzo saves least there; lzo saves less "
        "elsewhere, but only there it isn't worth its size, or not certainly; the "
        "average over the users' devices decides; a budget of cold starts decides, "
        "whatever lzo saves"
    )


class NextStepReport(Part):
    """Something to do that would decide an advice."""

    text: str
    commands: list[str] = Field(description="to run in turn; none for a remark")


class RecommendationReport(Part):
    """What to ship, and why."""

    compression: Literal["xz", "lzo"]
    verdict: Literal["change", "keep", "no-benefit", "undecided"]
    reasons: list[str]
    seconds_saved: Interval | None = Field(
        description="by lzo over xz in a cold launch of the deciding app, on the "
        "deciding device or on average over the users' devices; null if it can't be "
        "estimated"
    )
    decides: DecidesReport | None = Field(
        default=None, description="null if the saving can't be estimated"
    )
    by_device: list[DeviceVerdictReport] = Field(
        default=[], description="in the order in which the devices were chosen"
    )
    bytes_added: Interval | None = Field(
        description="by lzo over xz to the image; null if either is not available"
    )
    next_steps: list[str] = Field(
        default=[], description="what would decide it; only if it is undecided"
    )
    steps: list[NextStepReport] = Field(
        default=[], description="the same, with the commands by themselves"
    )
    break_even_launches: float | None = Field(
        description="cold launches after which the larger download has paid for "
        "itself; null if it never does"
    )


class KernelReport(Part):
    """How a machine's kernel reads squashfs."""

    versions: Text = Field(description="as 6.8, or 4.15 to 6.8; or unknown")
    file_mode: FileMode
    decompressors: Decompressors = Field(description="of a mount")
    source: Text


class DeviceReport(Part):
    """A machine that costs were estimated for."""

    name: Text
    description: Text
    sources: list[Text] = Field(description="measured or published, as each one states")
    kernel: KernelReport | None = Field(
        default=None, description="missing in reports of older versions"
    )


class PolicyReport(Part):
    """When lzo is worth its bytes."""

    min_saving_s: float
    min_saving_share: float | None
    max_launches: float
    link_mbit_per_s: float
    deciding_apps: str
    device_shares: dict[Text, float] = Field(
        default={},
        description="of the users, by device: lzo must be worth its size on average "
        "over them; if none are given, on each device",
    )
    max_growth_bytes: float | None
    max_growth_share: float | None


class MethodReport(Part):
    """How the figures were obtained."""

    command: Text = Field(description="empty if it isn't known")
    app_choice: str = Field(description="why these apps count")
    distinct_blocks: Count = Field(
        description="distinct data blocks, as an image stores them"
    )
    blocks_known: dict[CodecName, Count] = Field(
        description="of these, those whose size with a codec is measured"
    )
    devices: list[DeviceReport]
    policy: PolicyReport


class Report(Document):
    """The report of ``compression-advisor advise --format json``."""

    model_config = ConfigDict(title="compression-advisor report")

    payload: PayloadReport
    trial: TrialReport
    launches: list[LaunchReport] = Field(
        description="of the target apps, the deciding one first"
    )
    recommendation: RecommendationReport
    file_sizes: FileSizesReport | None = None
    kinds: list[KindReport] = Field(default=[], description="the largest kind first")
    incompressible: IncompressibleReport | None = None
    findings: list[FindingReport] | None = Field(
        default=None, description="of 'lint'; null if the payload wasn't linted"
    )
    method: MethodReport | None = None
    month: MonthReport | None = Field(
        default=None,
        description="of a user, if the policy has 'refresh'; else null",
    )
    installation: InstallationReport | None = Field(
        default=None, description="of '--timings'; null if none were given"
    )


def build_report(
    analysis: Analysis,
    *,
    linted: LintedPayload | None = None,
    executables: Container[str] = (),
    command: str = "",
    timings: SnapdTimings | None = None,
) -> Report:
    """Return an analysis in the shape of the contract.

    :param linted: findings on the same payload; ``None`` where it wasn't linted.
    :param executables: paths of files that somebody may run, for the kinds of files.
    :param command: that made the numbers, as it was given.
    :param timings: of snapd, where they were given.
    """
    stored = analysis.trial.stored
    return _report(
        analysis,
        timings,
        launches=[launch_report(analysis, launch) for launch in analysis.launches],
        file_sizes=file_sizes_report(stored.layout) if stored else None,
        kinds=kind_reports(stored, executables) if stored else [],
        incompressible=incompressible_report(stored, "xz") if stored else None,
        findings=None if linted is None else _findings(linted),
        method=_method(analysis, command),
    )


def short_report(analysis: Analysis, *, timings: SnapdTimings | None = None) -> Report:
    """Return an analysis without what only pages list.

    That is files and directories, and kinds of files. To find it takes up to a
    tenth of the time of an advice whose sizes are known from an earlier run.

    :param timings: of snapd, where they were given.
    """
    return _report(
        analysis,
        timings,
        launches=[
            launch_report(analysis, launch, in_full=False)
            for launch in analysis.launches
        ],
        method=_method(analysis, ""),
    )


def _report(
    analysis: Analysis, timings: SnapdTimings | None, **others: object
) -> Report:
    """Return what short and full reports share, with the others of its fields."""
    trial, month = analysis.trial, analysis.recommendation.month
    return filled(
        Report,
        analysis,
        advisor_version=__version__,
        trial=filled(
            TrialReport,
            trial,
            codecs={
                name: filled(CodecReport, codec, origin=_origin(analysis, codec))
                for name, codec in trial.codecs.items()
            },
        ),
        recommendation=_recommendation(analysis),
        month=month_report(month) if month else None,
        installation=installation_report(timings) if timings else None,
        **others,
    )


def _recommendation(analysis: Analysis) -> RecommendationReport:
    advice, steps = analysis.recommendation, what_decides(analysis)
    return filled(
        RecommendationReport,
        advice,
        reasons=sentences(advice.reasons),
        next_steps=[step.sentence for step in steps],
        steps=steps,
        seconds_saved=advice.decisive.seconds if advice.decisive else None,
        **_decides(advice),
    )


def _method(analysis: Analysis, command: str) -> MethodReport:
    stored = analysis.trial.stored
    return filled(
        MethodReport,
        analysis,
        command=command,
        distinct_blocks=stored.layout.block_count if stored else 0,
        blocks_known=_blocks_known(stored) if stored else {},
    )


def render_json(analysis: Analysis) -> str:
    """Return the report as JSON text."""
    return build_report(analysis).text()


def _decides(advice: Recommendation) -> dict[str, object]:
    """Return which saving decides, and what each device gives by itself."""
    decides = advice.decides
    if decides is None:
        return {"decides": None}
    return {
        "decides": filled(
            DecidesReport,
            decides.saving,
            device=None if decides.saving.shares else decides.saving.device,
            why=decides.why,
        ),
        "by_device": [
            filled(
                DeviceVerdictReport,
                each,
                app=each.saving.app,
                seconds_saved=each.saving.seconds,
            )
            for each in decides.by_device
        ],
    }


def _origin(analysis: Analysis, codec: CodecTrial) -> str | None:
    size = codec.image_bytes
    return None if size is None else size_origin(size, analysis)


def _findings(linted: LintedPayload) -> list[FindingReport]:
    report = LintReport(version=__version__, payloads=(linted,))
    return build_lint_document(report).payloads[0].findings


def _blocks_known(stored: StoredSizes) -> dict[str, int]:
    return {
        name: int(np.count_nonzero(stored.codecs[name].errors == 0))
        for name in get_args(CodecName)
        if name in stored.codecs
    }
