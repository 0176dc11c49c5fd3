"""The change that the benchmark of kept results makes to a payload."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_files_of_one_percent_of_all_bytes_become_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import second_advice  # noqa: PLC0415 # a script beside the package

    files = [tmp_path / f"file{number}" for number in range(300)]
    for number, file in enumerate(files):
        file.write_bytes(bytes([number % 256]) * 1000)
    (tmp_path / "link").symlink_to("file1")
    second_advice.change(tmp_path, random.Random(1))
    longer = [file for file in files if file.stat().st_size > 1000]
    assert len(longer) == 3
    for file in longer:
        assert 0 < file.stat().st_size - 1000 < second_advice.MOST_ADDED_BYTES
        assert file.read_bytes().endswith(bytes([int(file.name[4:]) % 256]) * 1000)
    assert (tmp_path / "link").is_symlink()
