"""Of a snap in a store, few bytes are read, however large it is."""

from __future__ import annotations

import random
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from elf_files import make_elf
from fleets import make_request
from image_sources import pack_as_snap
from snapcraft_compression_advisor.fleet.sources import Snap
from snapcraft_compression_advisor.fleet.task import SnapTask
from snapcraft_compression_advisor.payload.copies import COMPARED_FAR_BYTES
from snapcraft_compression_advisor.trial import census

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

if shutil.which("mksquashfs") is None:
    pytest.skip("mksquashfs is not installed", allow_module_level=True)

LIBRARIES = 90
NOISE = random.Random(1)


def half_noise(length: int) -> bytes:
    """Return what compresses to half of its length, and nowhere to less."""
    digits = bytes(range(16)) * 16
    return NOISE.randbytes(length).translate(digits)


def pack(folder: Path, files: Mapping[str, bytes], codec: str) -> bytes:
    tree = folder / "tree"
    for path, content in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
    return pack_as_snap(tree, folder / "one.snap", codec=codec).read_bytes()


def row_of(content: bytes) -> dict[str, Any]:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/one.snap", content)
    with ExitStack() as until:
        task = SnapTask(make_request(), until)
        return {**task.row(Snap(path="memory://one.snap"))}


def snap_yaml() -> bytes:
    return b"name: one\nversion: '1'\nbase: core24\napps: {one: {command: bin/one}}\n"


def test_a_large_snap_costs_a_sample_of_its_blocks(tmp_path: Path) -> None:
    files = {f"data/{n}.bin": NOISE.randbytes(1 << 20) for n in range(12)}
    files |= {"bin/one": b"#!/bin/sh\n", "meta/snap.yaml": snap_yaml()}
    content = pack(tmp_path, files, "xz")
    row = row_of(content)
    assert row.get("error") is None
    assert len(content) > 12_000_000
    # The sample, and two files that may be the same.
    assert row["read_bytes"] < census.FAR_BYTES + COMPARED_FAR_BYTES + 200_000
    assert row["added_bytes_low"] <= row["added_bytes_mid"] <= row["added_bytes_high"]


@pytest.mark.parametrize("codec", ["xz", "lzo"])
def test_of_libraries_only_the_beginnings_are_read(
    tmp_path: Path, codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"lib{number}.so.1" for number in range(LIBRARIES)]
    files = {
        f"lib/{name}": make_elf(soname=name) + half_noise(60_000) for name in names
    }
    files |= {"bin/one": make_elf(needed=names), "meta/snap.yaml": snap_yaml()}
    content = pack(tmp_path, files, codec)
    monkeypatch.setattr(census, "FAR_BYTES", 1)
    row = row_of(content)
    assert row.get("error") is None
    assert row["launches"]
    assert row["read_bytes"] < len(content) * 0.6
