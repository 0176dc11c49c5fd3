"""The corpus of hostile images, and a short run of the fuzzer."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from image_bombs import bombs
from image_corpus import corpus, small_images
from image_mutation import mutate_image
from image_probe import probe
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.payload.source import open_payload

TESTS = Path(__file__).resolve().parents[1]
EXECUTIONS = 3000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("mksquashfs") is None, reason="squashfs-tools isn't installed"
    ),
]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a process says that read every image of the corpus."""
    scratch = tmp_path_factory.mktemp("corpus")
    images = scratch / "images"
    images.mkdir()
    for name, raw in corpus(scratch):
        (images / name).write_bytes(raw)
    (images / "gzip-right").rename(images / "0")  # what the others are compared with
    run = subprocess.run(
        [sys.executable, TESTS / "probe_corpus.py", images],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}"},
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_no_image_ends_in_anything_but_our_errors(result: dict[str, Any]) -> None:
    assert result["images"] > 1000
    assert result["faults"] == {}  # more than five seconds would be one


def test_no_image_takes_more_than_256_mib(result: dict[str, Any]) -> None:
    assert result["peak_bytes"] < 256 * MIB


def test_right_images_are_read_to_their_end(result: dict[str, Any]) -> None:
    right = {name for name in result["right"] if name.endswith("-right")}
    assert len(right) == 13
    allowed = {name for name, _ in bombs() if name.endswith("-just-allowed")}
    assert allowed <= set(result["right"])


def test_bombs_are_refused(result: dict[str, Any]) -> None:
    claims = ("holes-", "links", "paths", "overlapping")
    refused = {
        name
        for name, _ in bombs()
        if name.startswith(claims) and not name.endswith("-just-allowed")
    }
    assert len(refused) == 11
    assert not refused & set(result["right"])


def test_changes_upon_changes_end_in_our_errors(tmp_path: Path) -> None:
    random = Random(1)
    images = small_images(tmp_path)
    path, other = tmp_path / "x.snap", tmp_path / "other.snap"
    other.write_bytes(images["xz"])
    kept = list(images.values())
    with open_payload(other) as payload:
        for _ in range(EXECUTIONS):
            changed = mutate_image(random.choice(kept), random)
            path.write_bytes(changed)
            if probe(path, payload):
                kept.append(changed)


@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="atheris isn't installed (pip install atheris; Python 3.11 to 3.13)",
)
def test_the_fuzzer_finds_nothing_in_a_short_run(tmp_path: Path) -> None:
    run = subprocess.run(
        [
            *(sys.executable, TESTS.parent / "fuzz/fuzz_image.py", tmp_path / "corpus"),
            *("-runs=3000", "-seed=1", f"-artifact_prefix={tmp_path}/"),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert "Done 3000 runs" in run.stderr
