"""The memory that a benchmark's command takes, without that of the benchmark."""

from __future__ import annotations

import sys

import pytest

from measured_process import run_measured

_MIB = 1024**2


def test_memory_of_the_benchmark_itself_is_not_the_commands() -> None:
    ballast = bytearray(b"x" * (256 * _MIB))
    small = run_measured([sys.executable, "-I", "-S", "-c", "pass"])
    large = run_measured([sys.executable, "-c", f"bytearray(b'x' * {100 * _MIB})"])
    assert len(ballast) > small.peak_bytes + 100 * _MIB
    assert large.peak_bytes > small.peak_bytes + 90 * _MIB
    assert 0 < small.cpu_s < 60


def test_command_that_fails_ends_the_benchmark_with_what_it_said() -> None:
    with pytest.raises(SystemExit, match="nothing to do"):
        run_measured([sys.executable, "-c", "import sys; sys.exit('nothing to do')"])
