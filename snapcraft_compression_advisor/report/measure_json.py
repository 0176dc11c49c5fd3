"""Measured launches as JSON: a contract, versioned by its ``schema`` key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.codecs import (
    CodecName,  # noqa: TC001 # pydantic reads it at run time
)
from snapcraft_compression_advisor.report.names import printable

if TYPE_CHECKING:
    from snapcraft_compression_advisor.capture import timings
    from snapcraft_compression_advisor.capture.measure import (
        CodecMeasurement,
        Measurement,
    )

Seconds = Annotated[float, Field(ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SampleReport(_Model):
    """Measured seconds."""

    median: Seconds
    stdev: Seconds | None = Field(
        description="sample standard deviation; null where there is one run only"
    )
    n: Annotated[int, Field(ge=1)]
    runs: list[Seconds] = Field(description="each run, in their order")


class CodecMeasurementReport(_Model):
    """What was measured with one codec."""

    image_bytes: Annotated[int, Field(ge=0)]
    cold_s: SampleReport = Field(description="caches dropped right before")
    warm_s: SampleReport = Field(description="right after the cold one")
    walk_s: SampleReport | None = Field(
        description="reading every file, caches dropped before; null where it "
        "wasn't asked for"
    )


class MeasurementReport(_Model):
    """The report of ``compression-advisor measure --format json``; all measured."""

    model_config = ConfigDict(title="compression-advisor measurement")

    schema_version: Literal[1] = Field(alias="schema", default=1)
    advisor_version: str
    codecs: dict[CodecName, CodecMeasurementReport]
    unavailable: dict[CodecName, str] = Field(
        description="why a codec isn't among them"
    )
    method: Literal["launch", "replay"] = Field(
        description="whether the app was started, or what a recorded launch read was "
        "read"
    )
    mount: Literal["kernel", "squashfuse"]
    storage: Literal["memory", "disk"] = Field(
        description="memory where the images stayed there throughout, so that cold "
        "launches waited for decompression alone"
    )
    dropped: Literal["system", "payload"] = Field(
        description="whose caches were dropped before a cold launch"
    )
    read_ahead_kb: int | None = Field(description="of the mounts, where known")
    runs: Annotated[int, Field(ge=1)]
    kernel: str
    processor: str


def build_measurement_report(measurement: Measurement) -> MeasurementReport:
    """Return a measurement in the shape of the contract."""
    return MeasurementReport.model_validate(
        {
            "advisor_version": __version__,
            "codecs": {
                name: _codec(codec) for name, codec in measurement.codecs.items()
            },
            "unavailable": {
                codec: printable(reason)
                for codec, reason in measurement.unavailable.items()
            },
            "method": measurement.method,
            "mount": measurement.mount,
            "storage": measurement.storage,
            "dropped": measurement.dropped,
            "read_ahead_kb": measurement.read_ahead_kb,
            "runs": measurement.runs,
            "kernel": measurement.kernel,
            "processor": measurement.processor,
        }
    )


def render_measurement_json(measurement: Measurement) -> str:
    """Return a measurement as JSON text."""
    report = build_measurement_report(measurement)
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def measurement_schema_text() -> str:
    """Return the JSON Schema of the report, as ``docs`` keeps it."""
    schema = MeasurementReport.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _codec(codec: CodecMeasurement) -> CodecMeasurementReport:
    return CodecMeasurementReport(
        image_bytes=codec.image_bytes,
        cold_s=_sample(codec.cold_s),
        warm_s=_sample(codec.warm_s),
        walk_s=None if codec.walk_s is None else _sample(codec.walk_s),
    )


def _sample(sample: timings.Sample) -> SampleReport:
    return SampleReport(
        median=sample.median,
        stdev=sample.stdev,
        n=sample.n,
        runs=list(sample.runs_s),
    )
