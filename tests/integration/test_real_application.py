"""The main job on a real application of more than 100 MB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.output.json_report import Report

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_advice_on_a_calculator_with_its_closure(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    directory = tmp_path_factory.mktemp("calculator")
    prime = directory / "prime"
    subprocess.run(
        [sys.executable, BENCHMARKS / "prime_from_debs.py", "gnome-calculator",
         "--output", prime, "--cache", directory / "debs"],
        check=True,
    )  # fmt: skip
    report, sampled = (
        Report.model_validate_json(
            advisor("advise", prime, "--format", "json", *options).stdout
        )
        for options in (["--exact"], [])
    )

    assert report.payload.raw_bytes > 100_000_000
    for compression in ("xz", "lzo"):
        snap = snap_pack(prime, directory / compression, compression=compression)
        size = report.trial.codecs[compression].image_bytes
        estimate = sampled.trial.codecs[compression].image_bytes
        assert size is not None
        assert estimate is not None
        assert size.mid == snap.stat().st_size
        # Twice the interval: with other versions in the archive, one draw in twenty
        # would miss it.
        off = abs(snap.stat().st_size - estimate.mid)
        assert off <= estimate.high - estimate.low
    assert sampled.recommendation.verdict == report.recommendation.verdict

    (launch,) = report.launches
    assert launch.app == "gnome-calculator"
    assert launch.files > 10
    assert {"libc.so.6"} <= {item.name for item in launch.unresolved}
    costs = launch.devices["nvme-laptop"]
    assert costs["xz"].added_s.mid > costs["lzo"].added_s.mid
