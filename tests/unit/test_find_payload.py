"""What a path on the command line stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.source import named_payloads

if TYPE_CHECKING:
    from pathlib import Path


def make(directory: Path, *names: str) -> list[Path]:
    paths = [directory / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


def test_directory_stands_for_the_snaps_and_components_in_it(tmp_path: Path) -> None:
    made = make(tmp_path, "a+x.comp", "a.snap", "b.snap", "log.txt", "below/c.snap")
    assert named_payloads([tmp_path]) == made[:3]


def test_prime_directory_stands_for_itself_whatever_it_ships(tmp_path: Path) -> None:
    make(tmp_path, "meta/snap.yaml", "shipped.snap")
    assert named_payloads([tmp_path]) == [tmp_path]


def test_what_holds_no_snap_is_left_to_its_reader(tmp_path: Path) -> None:
    paths = [tmp_path, tmp_path / "nothing.snap", tmp_path / "a\0b"]
    assert named_payloads(paths) == paths


def test_each_payload_counts_once_in_the_order_given(tmp_path: Path) -> None:
    a, b = make(tmp_path, "a.snap", "b.snap")
    assert named_payloads([b, tmp_path, a]) == [b, a]
