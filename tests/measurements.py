"""Measurements without mounts, for tests of outputs."""

from snapcraft_compression_advisor.capture.measure import (
    CodecMeasurement,
    Measurement,
)
from snapcraft_compression_advisor.capture.samples import Sample

COLD_S = {
    "xz": (6.61, 6.58, 6.7, 6.55, 6.62),
    "lzo": (0.81, 0.8, 0.86, 0.79, 0.82),
    "none": (0.5, 0.52, 0.49, 0.51, 0.5),
}
IMAGE_BYTES = {"xz": 44_100_000, "lzo": 57_200_000, "none": 136_000_000}


def cpu_s(cold_s: tuple[float, ...], scale: float) -> dict[str, tuple[float, ...]]:
    """Return processor times: an application's own, and the kernel's."""
    return {
        "user_s": tuple(0.25 + s / 1000 for s in cold_s),
        "system_s": tuple(s * scale * 0.8 for s in cold_s),
    }


def make_measurement(
    *,
    runs: int = 5,
    seconds_of_xz: float = 6.61,
) -> Measurement:
    """Return a measurement of three codecs; lz4 isn't available.

    :param seconds_of_xz: the median cold launch; the others' are in proportion.
    """
    scale = seconds_of_xz / 6.61
    return Measurement(
        codecs={
            codec: CodecMeasurement(
                codec=codec,
                image_bytes=IMAGE_BYTES[codec],
                cold_s=Sample(
                    runs_s=tuple(s * scale for s in cold_s[:runs]),
                    **cpu_s(cold_s[:runs], scale),
                ),
                warm_s=Sample(runs_s=tuple(0.3 + s / 1000 for s in cold_s[:runs])),
            )
            for codec, cold_s in COLD_S.items()
        },
        unavailable={"lz4": "This mksquashfs cannot pack with it"},
        method="launch",
        storage="disk",
        read_ahead_kb=128,
        runs=runs,
        kernel="6.8.0-31-generic",
        processor="Some Processor (4 in use)",
    )
