"""Payloads of many files, of one huge sparse file, and many snaps in one call."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/reliability_scale.py"
PEAK_MB = 300
"""Of any run. Four thousand files take some 5 MB, interpreter and numpy 70 MB."""


@pytest.mark.parametrize(
    ("files", "sparse_gb", "snaps"), [(4_000, 0, 0), (0, 12, 0), (0, 0, 20)]
)
def test_memory_stays_small(
    files: int, sparse_gb: int, snaps: int, tmp_path: Path
) -> None:
    options = {"files": files, "sparse-gb": sparse_gb, "snaps": snaps}
    words = [f"--{name}={number}" for name, number in options.items()]
    result = subprocess.run(
        [sys.executable, SCRIPT, *words, "--scratch", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    rows = [line.strip("| ").split("|") for line in result.stdout.splitlines()[2:]]
    assert len(rows) == (1 if snaps else 2)
    assert all(0 < int(row[-1]) < PEAK_MB for row in rows), result.stdout
