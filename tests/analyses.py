"""Analyses and evidence without files or tools, for tests of advice and outputs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from snapcraft_compression_advisor.advice.evidence import (
    Evidence,
    Habits,
    Policy,
    Saving,
)
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.month import usual_downloads
from snapcraft_compression_advisor.analysis import Analysis, PayloadSummary
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import default_devices
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.model import LaunchEstimate
from snapcraft_compression_advisor.launches import LaunchAnalysis
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.trial.result import CodecTrial, TrialResult
from snapcraft_compression_advisor.wording import VERDICT_WORDS

CHANGE, KEEP, UNDECIDED = (
    VERDICT_WORDS["change"].format("lzo"),
    VERDICT_WORDS["keep"].format("xz"),
    VERDICT_WORDS["undecided"],
)
MB = 1_000_000
SIZES_MB = {
    "xz": 44.1,
    "lzo": 57.2,
    "gzip": 52.5,
    "zstd": 48.5,
    "lz4": None,
    "none": 136,
}
DECOMPRESS_S = {"xz": 1.2, "lzo": 0.2, "gzip": 0.3, "zstd": 0.15, "none": 0.0}


def make_analysis(*, apps: int = 1) -> Analysis:
    """Return an analysis of a calculator; lz4 isn't available."""
    trial = TrialResult(
        mode="exact",
        tool="mksquashfs 4.5.1",
        codecs={codec: _codec_trial(codec) for codec in SIZES_MB},
        lzo_less_xz_bytes=Interval.exactly(13.1 * MB),
    )
    launches = tuple(_launch(f"app{number}") for number in range(apps))
    savings = [saving for launch in launches for saving in launch.savings()]
    return Analysis(
        payload=PayloadSummary(
            path=Path("prime/\udcff"),
            kind="prime",
            name="calculator",
            base="core24",
            files=8668,
            raw_bytes=137_300_000,
            data_blocks=9270,
            declared_compression="xz",
        ),
        trial=trial,
        devices=default_devices(),
        app_choice="all apps of the snap",
        launches=launches,
        policy=Policy(),
        recommendation=recommend(evidence_of(trial, savings), Policy()),
    )


def evidence_of(
    trial: TrialResult, savings: Sequence[Saving], *, declared: str | None = "xz"
) -> Evidence:
    """Return the evidence that a trial and these savings are."""
    return Evidence(
        declared=declared,
        xz_bytes=trial.codecs["xz"].image_bytes,
        lzo_bytes=trial.codecs["lzo"].image_bytes,
        bytes_added=trial.lzo_less_xz_bytes,
        savings=savings,
    )


def with_month(analysis: Analysis, habits: Habits) -> Analysis:
    """Return an analysis by a policy that says what refreshes are like."""
    codecs = analysis.trial.codecs
    images = {
        codec: size
        for codec in ("xz", "lzo")
        if (size := codecs[codec].image_bytes) is not None
    }
    savings = [saving for launch in analysis.launches for saving in launch.savings()]
    evidence = evidence_of(analysis.trial, savings)
    assert evidence.bytes_added is not None
    downloads = usual_downloads(habits, images, evidence.bytes_added)
    evidence = replace(evidence, downloads=downloads)
    policy = Policy(habits=habits)
    return replace(analysis, policy=policy, recommendation=recommend(evidence, policy))


def _codec_trial(codec: str) -> CodecTrial:
    size = SIZES_MB[codec]
    return CodecTrial(
        codec=codec, image_bytes=None if size is None else Interval.exactly(size * MB)
    )


def _launch(app: str) -> LaunchAnalysis:
    share = Interval(low=0.5, mid=1.0, high=3.0)
    libraries = ("libc.so.6", "libm.so.6", "liba.so", "libb.so", "libd.so", "libe.so")
    return LaunchAnalysis(
        launch_set=LaunchSet(
            app=app,
            source="static",
            files=(LaunchFile(path="bin/x", size_bytes=300_000, blocks=((0, 2),)),),
            read_share=share,
            seek_share=share,
            unresolved=(
                *(
                    Unresolved(name=name, needed_by="bin/x", supplier="base")
                    for name in (*libraries, "libf.so")
                ),
                Unresolved(name="\x1b[31mbin/y", needed_by="bin/x", supplier="missing"),
            ),
        ),
        estimates={
            device.name: {
                codec: LaunchEstimate(
                    seeks=Interval(low=0.05, mid=0.1, high=0.2),
                    transfer=Interval(low=0.05, mid=0.1, high=0.1),
                    fill=Interval.exactly(0.0),
                    decompress=Interval(low=cost / 2, mid=cost, high=cost * 2),
                    read_share=share,
                    seek_share=share,
                    waited_share=Interval.exactly(1.0),
                )
                for codec, cost in DECOMPRESS_S.items()
            }
            for device in default_devices()
        },
    )


def interval(low: float, mid: float, high: float) -> Interval:
    return Interval(low=low, mid=mid, high=high)


def make_evidence(
    *savings: Saving, declared: str | None = None, added_mb: float | Interval = 10.0
) -> Evidence:
    """Return evidence on what lzo saves, and on what it adds to the image."""
    added = added_mb if isinstance(added_mb, Interval) else Interval.exactly(added_mb)
    return Evidence(
        declared=declared,
        xz_bytes=Interval.exactly(100 * MB),
        lzo_bytes=added.map(lambda size: (100 + size) * MB),
        bytes_added=added.map(lambda size: size * MB),
        savings=savings,
    )
