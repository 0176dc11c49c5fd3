"""Measured launches as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AliasChoices, ConfigDict, Field

from .. import __version__
from ..capture.paired import CONFIDENCE, difference
from ..capture.samples import PlainCopy  # likewise
from ..codecs import CodecName  # pydantic reads it at run time
from .contract import Count, Document, IntervalReport, Part, Share, Text, filled

if TYPE_CHECKING:
    from ..capture.measure import CodecMeasurement, Measurement

Seconds = Annotated[float, Field(ge=0)]
_BASELINE: CodecName = "xz"


class SampleReport(Part):
    """Measured seconds."""

    median: Seconds
    stdev: Seconds | None = Field(
        description="sample standard deviation; null if there is only one run"
    )
    n: Annotated[int, Field(ge=1)]
    runs: list[Seconds] = Field(
        description="all runs, in order",
        validation_alias=AliasChoices("runs", "runs_s"),
    )
    outliers: list[Count] = Field(
        default=[],
        description="runs more than three interquartile ranges beyond the quartiles "
        "(Tukey), counted from 1",
    )
    user_s: list[Seconds] | None = Field(
        default=None,
        description="processor time of each run's processes in user mode; null if not "
        "known",
    )
    system_s: list[Seconds] | None = Field(
        default=None,
        description="likewise in the kernel, which decompresses for the process that "
        "reads",
    )


class DifferenceReport(Part):
    """How much faster cold launches are than with another codec."""

    than: CodecName = Field(description="the other codec")
    rounds: Count = Field(description="pairs of launches")
    confidence: Share = Field(description="of the intervals")
    saved_s: IntervalReport = Field(
        description="mean of the rounds' differences in seconds; negative if slower"
    )
    times_faster: IntervalReport | None = Field(
        description="geometric mean of the rounds' ratios; below 1 if slower"
    )


class FirstRunReport(Part):
    """What launches in a new home directory took, and on what: medians."""

    cold_s: SampleReport = Field(description="caches dropped right before")
    warm_s: SampleReport = Field(description="in another new home, right after")
    own_s: Seconds = Field(description="the app's own work: a warm launch")
    caches_s: Seconds = Field(
        description="making caches and settings in the new home: a warm first run less "
        "a warm launch; 0 if that is negative"
    )
    reading_s: Seconds = Field(
        description="reading and decompressing: a cold first run less a warm one; 0 if "
        "that is negative"
    )
    decompression_s: Seconds | None = Field(
        description="of reading_s: what an uncompressed image doesn't take; null "
        "without one"
    )


class MadeCacheReport(Part):
    """Caches of a kind that a first run made in its home."""

    kind: str = Field(
        description="as in the names of lint's rules on caches, or another"
    )
    files: Count
    size_bytes: Count
    program_s: Seconds | None = Field(
        description="what programs that make such caches took; null if none was seen: "
        "a library makes it in the app's own process, or the kernel doesn't trace"
    )


class CodecMeasurementReport(Part):
    """What was measured with one codec."""

    image_bytes: Annotated[int, Field(ge=0)]
    cold_s: SampleReport = Field(description="caches dropped right before")
    warm_s: SampleReport = Field(description="right after the cold one")
    walk_s: SampleReport | None = Field(
        description="reading every file with cold caches; null if not requested"
    )
    difference: DifferenceReport | None = Field(
        default=None,
        description="cold launches against those with xz; null for xz itself, without "
        "it, or with a single run",
    )
    first_run: FirstRunReport | None = Field(
        default=None, description="null if not requested"
    )


class PrecisionReport(Part):
    """Whether the interval of xz against lzo came to be narrow enough."""

    wanted_s: Seconds = Field(description="how far it was to go to each side at most")
    reached: bool
    checks: Count = Field(
        description="planned checks whether to stop, for which the intervals of all "
        "differences are widened"
    )


class MeasurementReport(Document):
    """The report of ``compression-advisor measure --format json``; all measured."""

    model_config = ConfigDict(title="compression-advisor measurement")

    codecs: dict[CodecName, CodecMeasurementReport]
    unavailable: dict[CodecName, Text] = Field(description="why a codec is missing")
    method: Literal["launch", "replay"] = Field(
        description="whether the app was started or the reads of a recorded launch "
        "were replayed"
    )
    mount: Literal["kernel", "squashfuse"]
    storage: Literal["memory", "disk"] = Field(
        description="memory if the images stayed in memory, so that cold launches "
        "waited for decompression alone"
    )
    dropped: Literal["system", "payload"] = Field(
        description="which caches were dropped before a cold launch"
    )
    read_ahead_kb: int | None = Field(description="of the mounts, if known")
    runs: Annotated[int, Field(ge=1)]
    kernel: str
    processor: str
    precision: PrecisionReport | None = Field(
        default=None, description="null if the number of runs was fixed"
    )
    compared: dict[PlainCopy, CodecMeasurementReport] = Field(
        default={},
        description="the same files without squashfs, where image_bytes are those on "
        "the disk",
    )
    made_caches: list[MadeCacheReport] = Field(
        default=[], description="by a first run, in its new home directory"
    )

    @property
    def everything(self) -> dict[str, CodecMeasurementReport]:
        """What was measured, by name: the codecs, then the files without squashfs."""
        found = dict[str, CodecMeasurementReport](self.codecs.items())
        found.update(self.compared.items())
        return found


def build_measurement_report(measurement: Measurement) -> MeasurementReport:
    """Return a measurement in the shape of the contract."""
    xz = measurement.codecs.get(_BASELINE)
    checks = measurement.precision.checks if measurement.precision else 1
    plain = measurement.codecs.get("none")
    return filled(
        MeasurementReport,
        measurement,
        advisor_version=__version__,
        made_caches=[filled(MadeCacheReport, each) for each in measurement.made_caches],
        **{
            key: {
                name: filled(
                    CodecMeasurementReport,
                    codec,
                    difference=_difference(xz, codec, checks=checks),
                    first_run=_first_run(codec, plain),
                )
                for name, codec in measured.items()
            }
            for key, measured in (
                ("codecs", measurement.codecs),
                ("compared", measurement.compared),
            )
        },
    )


def _difference(
    xz: CodecMeasurement | None, codec: CodecMeasurement, *, checks: int
) -> DifferenceReport | None:
    if xz is None or codec is xz:
        return None
    found = difference(xz.cold_s, codec.cold_s, checks=checks)
    if found is None:
        return None
    return filled(DifferenceReport, found, than=xz.codec, confidence=CONFIDENCE)


def _first_run(
    codec: CodecMeasurement, plain: CodecMeasurement | None
) -> FirstRunReport | None:
    if codec.first_s is None or codec.first_warm_s is None:
        return None
    reading_s = _reading_s(codec)
    plain_s = None if plain is None else _reading_s(plain)
    return filled(
        FirstRunReport,
        codec,
        cold_s=codec.first_s,
        warm_s=codec.first_warm_s,
        own_s=codec.warm_s.median,
        caches_s=max(0.0, codec.first_warm_s.median - codec.warm_s.median),
        reading_s=reading_s,
        decompression_s=None if plain_s is None else max(0.0, reading_s - plain_s),
    )


def _reading_s(codec: CodecMeasurement) -> float:
    """Return what a cold first run takes more than a warm one."""
    if codec.first_s is None or codec.first_warm_s is None:
        return 0.0
    return max(0.0, codec.first_s.median - codec.first_warm_s.median)


def render_measurement_json(measurement: Measurement) -> str:
    """Return a measurement as JSON text."""
    return build_measurement_report(measurement).text()
