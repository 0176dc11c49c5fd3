"""The tutorial and what can be run of the how-to guides, as a reader runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from doc_commands import (
    ROOT,
    shell_script,
    shown_commands,
    shown_outputs,
    without_figures,
)
from image_sources import pack_as_snap
from real_payloads import advisor, fill_prime
from trees import fill

BOOKWORM = "VERSION_CODENAME=bookworm" in Path("/etc/os-release").read_text()
"""Where the tutorial's output was made; another Python may decide otherwise."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.bubblewrap,
    pytest.mark.skipif(
        not Path("/usr/bin/python3").exists(), reason="needs the system's Python"
    ),
]


@pytest.fixture
def path_with_advisor(tmp_path: Path) -> str:
    """Return a PATH on which the advisor is found."""
    text = f'#!/bin/sh\nexec {sys.executable} -m snapcraft_compression_advisor "$@"\n'
    folder = fill(tmp_path / "on-path", {"compression-advisor": text})
    return f"{folder}:{os.environ['PATH']}"


def test_the_tutorial_runs_from_its_first_line_to_its_last(
    tmp_path: Path, path_with_advisor: str
) -> None:
    page = ROOT / "docs/tutorial.md"
    run = subprocess.run(
        ["bash", "-euxc", shell_script(page)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path_with_advisor},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "What the app reads is guessed; " in run.stdout
    assert "What the app reads was recorded." in run.stdout
    assert (tmp_path / "counter/launch.json").exists()
    text = (tmp_path / "counter/snap/snapcraft.yaml").read_text()
    assert text.count("compression: lzo") == 1
    if BOOKWORM:
        printed = without_figures(run.stdout.replace(f"{tmp_path}/", ""))
        for block in shown_outputs(page):
            static = (
                "warning SCA0 lib/python0/config"  # only with Python's own .a files
            )
            if static in printed or static not in without_figures(block):
                assert without_figures(block) in printed


def test_commands_of_the_baseline_guide_run_in_their_order(tmp_path: Path) -> None:
    fill_prime(tmp_path / "prime")
    for name in ("published", "old", "new"):
        pack_as_snap(tmp_path / "prime", tmp_path / f"{name}.snap")
    commands = list(shown_commands(ROOT / "docs/how-to/baseline.md"))
    assert len(commands) >= 4
    for words in commands:
        advisor(*words, cwd=tmp_path, status=0)
