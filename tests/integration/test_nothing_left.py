"""Nothing is left or damaged by what is interrupted."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "benchmarks/reliability_signals.py"

ALONE = ("unshare", "--mount")
"""A mount namespace that another test makes would copy a mount, and keep it."""


def run_moments(*arguments: str, within: tuple[str, ...] = ()) -> None:
    """Run the trial at a small size; it fails if anything is left."""
    result = subprocess.run(
        [*within, sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("command", ["advise", "exact", "resquash"])
def test_interrupted_command_leaves_nothing(command: str) -> None:
    run_moments("--moments", "6", command)


@pytest.mark.mounts
@pytest.mark.bubblewrap
@pytest.mark.parametrize("command", ["record", "measure"])
def test_interrupted_launch_leaves_no_mount_and_no_process(command: str) -> None:
    run_moments("--delays", "--moments", "4", command, within=ALONE)


@pytest.mark.mounts
@pytest.mark.bubblewrap
def test_next_run_cleans_up_after_one_that_was_killed() -> None:
    run_moments("--delays", "--moments", "4", "--kill", "measure", within=ALONE)
