"""Measured launches as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AliasChoices, ConfigDict, Field

from .. import __version__
from ..codecs import CodecName  # pydantic reads it at run time
from .contract import Document, Part, Text, filled

if TYPE_CHECKING:
    from ..capture.measure import Measurement

Seconds = Annotated[float, Field(ge=0)]


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


class CodecMeasurementReport(Part):
    """What was measured with one codec."""

    image_bytes: Annotated[int, Field(ge=0)]
    cold_s: SampleReport = Field(description="caches dropped right before")
    warm_s: SampleReport = Field(description="right after the cold one")
    walk_s: SampleReport | None = Field(
        description="reading every file with cold caches; null if not requested"
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


def build_measurement_report(measurement: Measurement) -> MeasurementReport:
    """Return a measurement in the shape of the contract."""
    return filled(MeasurementReport, measurement, advisor_version=__version__)


def render_measurement_json(measurement: Measurement) -> str:
    """Return a measurement as JSON text."""
    return build_measurement_report(measurement).text()
