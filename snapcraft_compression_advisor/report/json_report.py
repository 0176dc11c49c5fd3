"""The JSON report: a contract, versioned by its ``schema`` key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import ConfigDict, Field

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.codecs import (
    CodecName,  # noqa: TC001 # pydantic reads it at run time
)
from snapcraft_compression_advisor.launch.launch_set import (
    Method,  # noqa: TC001 # pydantic reads it at run time
    Source,  # noqa: TC001 # likewise
)
from snapcraft_compression_advisor.lint.figures import size_origin
from snapcraft_compression_advisor.lint.finding import LintReport
from snapcraft_compression_advisor.report.lint_formats.json import (
    FindingReport,
    build_lint_document,
)
from snapcraft_compression_advisor.report.names import printable
from snapcraft_compression_advisor.report.report_files import (
    FileSizesReport,
    IncompressibleReport,
    KindReport,
    file_sizes_report,
    incompressible_report,
    kind_reports,
)
from snapcraft_compression_advisor.report.report_launch_basis import (
    FitReport,
    GuessReport,
    TraceReport,
    fit_report,
    guess_report,
    trace_report,
)
from snapcraft_compression_advisor.report.report_launch_files import (
    HeavyFileReport,
    LaunchDirectoryReport,
    heavy_files,
    launch_directories,
)
from snapcraft_compression_advisor.report.report_method import (
    BreakEvenReport,
    MethodReport,
    break_even_reports,
    method_report,
)
from snapcraft_compression_advisor.report.report_model import (
    Count,
    Interval,
    ReportPart,
    interval,
    optional_interval,
)
from snapcraft_compression_advisor.report.undecided import what_decides

if TYPE_CHECKING:
    from collections.abc import Container

    from snapcraft_compression_advisor.analysis import Analysis, LaunchAnalysis
    from snapcraft_compression_advisor.launch.model import LaunchEstimate
    from snapcraft_compression_advisor.launch.profile import FittedProfile
    from snapcraft_compression_advisor.lint.finding import LintedPayload
    from snapcraft_compression_advisor.trial.result import CodecTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a report tells beside the analysis.

    :param linted: findings on the same payload; ``None`` where it wasn't linted.
    :param executables: paths of files that somebody may run, for the kinds of files.
    :param command: that made the numbers, as it was given.
    """

    linted: LintedPayload | None = None
    executables: Container[str] = ()
    command: str = ""


class PayloadReport(ReportPart):
    """What was analysed."""

    path: str
    kind: Literal["prime", "snap"]
    name: str
    base: str
    files: Count = Field(description="regular files, hard links counted once")
    raw_bytes: Count = Field(description="their length")
    data_blocks: Count = Field(description="their blocks of 128 KiB, tails included")
    declared_compression: str | None = Field(
        description="of snapcraft.yaml or the built snap; null where neither is known"
    )
    image_bytes: Count | None = Field(
        default=None, description="of a built snap; null for a prime directory"
    )


class CodecReport(ReportPart):
    """One codec's image."""

    image_bytes: Interval | None = Field(description="null where not available")
    origin: Literal["measured", "estimated"] | None = Field(
        default=None,
        description="of that size: measured for a built snap's own, and for all where "
        "the payload was packed with every codec",
    )
    available: bool = Field(description="whether this machine can pack with it")
    shippable: bool = Field(description="whether snapcraft and the store accept it")


class TrialReport(ReportPart):
    """Every codec's image."""

    mode: Literal["exact", "sampled"]
    tool: str = Field(description="what the sizes come from")
    notes: list[str] = Field(description="what else to know of the sizes")
    codecs: dict[CodecName, CodecReport]


class UnresolvedReport(ReportPart):
    """What a launch needs and the payload doesn't hold."""

    name: str
    needed_by: str
    supplier: Literal["base", "base or content snap", "missing", "unreadable"]


class CostReport(ReportPart):
    """What a cold launch costs with one codec on one device."""

    added_s: Interval = Field(
        description="seconds that a cold launch takes longer than a warm one"
    )
    io_s: float = Field(description="of its middle: waiting for storage")
    copy_s: float = Field(
        description="of its middle: asking for blocks and copying them; the same for "
        "every codec"
    )
    decompress_s: float = Field(description="of its middle: decompressing")
    warm_s: float | None = Field(description="only from a recorded launch")
    cold_s: float | None = Field(description="only from a recorded launch")


class LaunchReport(ReportPart):
    """One app's launch."""

    app: str
    source: Source
    method: Method | None = Field(
        default=None,
        description="by which means the launch was recorded; null where it was guessed "
        "or the profile doesn't say",
    )
    files: Count
    data_blocks: Count
    raw_bytes: Count
    guess: GuessReport | None = Field(
        default=None, description="only where the launch was guessed from files"
    )
    trace: TraceReport | None = Field(
        default=None, description="only where the launch was recorded by trace"
    )
    fit: FitReport | None = Field(
        default=None,
        description="only where the launch was recorded and the payload has changed",
    )
    unresolved: list[UnresolvedReport]
    directories: list[LaunchDirectoryReport] = Field(
        default=[], description="where its blocks lie, most of them first"
    )
    heaviest: list[HeavyFileReport] = Field(
        default=[], description="the files that add most with xz"
    )
    devices: dict[str, dict[CodecName, CostReport]]


class RecommendationReport(ReportPart):
    """What to ship, and why."""

    compression: Literal["xz", "lzo"]
    verdict: Literal["change", "keep", "no-benefit", "undecided"]
    reasons: list[str]
    seconds_saved: Interval | None = Field(
        description="by lzo over xz in a cold launch of the deciding app, on the "
        "device where it saves least; null where nothing can be said of it"
    )
    bytes_added: Interval | None = Field(
        description="by lzo over xz to the image; null where either is not available"
    )
    next_steps: list[str] = Field(
        default=[], description="what would decide it; only where it is undecided"
    )
    break_even_launches: float | None = Field(
        description="cold launches after which the larger download has paid for "
        "itself; null where it never does"
    )


class Report(ReportPart):
    """The report of ``compression-advisor advise --format json``."""

    model_config = ConfigDict(title="compression-advisor report")

    schema_version: Literal[1] = Field(alias="schema", default=1)
    advisor_version: str
    payload: PayloadReport
    trial: TrialReport
    launches: list[LaunchReport] = Field(
        description="of the target apps, the deciding one first"
    )
    recommendation: RecommendationReport
    file_sizes: FileSizesReport | None = None
    kinds: list[KindReport] = Field(default=[], description="the largest kind first")
    incompressible: IncompressibleReport | None = None
    break_even: list[BreakEvenReport] = Field(
        default=[], description="by the speed of the link; of the deciding app"
    )
    findings: list[FindingReport] | None = Field(
        default=None, description="of 'lint'; null where the payload wasn't linted"
    )
    method: MethodReport | None = None


def build_report(analysis: Analysis, beside: Beside | None = None) -> Report:
    """Return an analysis in the shape of the contract."""
    beside = beside or Beside()
    payload, trial = analysis.payload, analysis.trial
    stored = trial.stored
    return Report(
        advisor_version=__version__,
        payload=PayloadReport(
            path=printable(str(payload.path)),
            kind=payload.kind,
            name=payload.name,
            base=payload.base,
            files=payload.files,
            raw_bytes=payload.raw_bytes,
            data_blocks=payload.data_blocks,
            declared_compression=payload.declared_compression,
            image_bytes=payload.image_bytes,
        ),
        trial=TrialReport.model_validate(
            {
                "mode": trial.mode,
                "tool": trial.tool,
                "notes": trial.notes,
                "codecs": {
                    name: {
                        "image_bytes": optional_interval(codec.image_bytes),
                        "origin": _origin(analysis, codec),
                        "available": codec.available,
                        "shippable": codec.shippable,
                    }
                    for name, codec in trial.codecs.items()
                },
            }
        ),
        launches=[_launch_report(analysis, launch) for launch in analysis.launches],
        recommendation=_recommendation_report(analysis),
        file_sizes=file_sizes_report(stored.layout) if stored else None,
        kinds=kind_reports(stored, beside.executables) if stored else [],
        incompressible=incompressible_report(stored, "xz") if stored else None,
        break_even=break_even_reports(
            analysis.recommendation, analysis.policy.link_mbit_per_s
        ),
        findings=None if beside.linted is None else _findings(beside.linted),
        method=method_report(analysis, command=beside.command),
    )


def render_json(analysis: Analysis, beside: Beside | None = None) -> str:
    """Return the report as JSON text."""
    return report_text(build_report(analysis, beside))


def report_text(report: Report) -> str:
    """Return a report as JSON text."""
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def schema_text() -> str:
    """Return the JSON Schema of the report, as ``docs`` keeps it."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _origin(analysis: Analysis, codec: CodecTrial) -> str | None:
    size = codec.image_bytes
    return None if size is None else size_origin(size, analysis)


def _recommendation_report(analysis: Analysis) -> RecommendationReport:
    advice = analysis.recommendation
    decisive = advice.decisive
    return RecommendationReport(
        compression=advice.compression,
        verdict=advice.verdict,
        reasons=list(advice.reasons),
        next_steps=[step.sentence for step in what_decides(analysis)],
        seconds_saved=optional_interval(decisive.seconds if decisive else None),
        bytes_added=optional_interval(advice.bytes_added),
        break_even_launches=advice.break_even_launches,
    )


def _findings(linted: LintedPayload) -> list[FindingReport]:
    document = build_lint_document(LintReport(version=__version__, payloads=(linted,)))
    return document.payloads[0].findings


def _launch_report(analysis: Analysis, launch: LaunchAnalysis) -> LaunchReport:
    launch_set = launch.launch_set
    return LaunchReport.model_validate(
        {
            "app": launch_set.app,
            "source": launch_set.source,
            "method": launch_set.method,
            "files": len(launch_set.files),
            "data_blocks": launch_set.data_blocks,
            "raw_bytes": launch_set.raw_bytes,
            "guess": guess_report(launch_set),
            "trace": trace_report(launch_set),
            "fit": fit_report(launch.profile),
            "unresolved": [
                {
                    "name": printable(item.name),
                    "needed_by": printable(item.needed_by),
                    "supplier": item.supplier,
                }
                for item in launch_set.unresolved
            ],
            "directories": launch_directories(launch_set),
            "heaviest": heavy_files(analysis, launch_set),
            "devices": {
                device: {
                    codec: _cost(cost, launch.profile)
                    for codec, cost in estimates.items()
                }
                for device, estimates in launch.estimates.items()
            },
        }
    )


def _cost(estimate: LaunchEstimate, profile: FittedProfile | None) -> CostReport:
    warm_s = profile.warm_s if profile else None
    return CostReport(
        added_s=interval(estimate.added_s),
        io_s=estimate.io.mid,
        copy_s=estimate.copying.mid,
        decompress_s=estimate.decompression.mid,
        warm_s=warm_s,
        cold_s=None if warm_s is None else warm_s + estimate.added_s.mid,
    )
