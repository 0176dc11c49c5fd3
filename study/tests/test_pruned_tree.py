"""A system tree of which only what a launch reads has contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus_tree import SMALL_BYTES, prune_tree

if TYPE_CHECKING:
    from pathlib import Path

LARGE = bytes([1]) * (SMALL_BYTES + 1)


def test_what_is_read_and_what_is_small_keeps_its_contents(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "lib").mkdir(parents=True)
    for name in ("read", "unread"):
        (tree / "lib" / name).write_bytes(LARGE)
    (tree / "lib/small").write_bytes(b"small")
    (tree / "lib/unread").chmod(0o750)
    (tree / "link").symlink_to("lib/read")
    pruned = tmp_path / "pruned"
    prune_tree(tree, pruned, {"lib/read", "lib/gone"})
    assert (pruned / "lib/read").read_bytes() == LARGE
    assert (pruned / "lib/small").read_bytes() == b"small"
    assert (pruned / "lib/unread").read_bytes() == bytes(len(LARGE))
    assert (pruned / "lib/unread").stat().st_mode & 0o777 == 0o750
    assert (pruned / "link").readlink().as_posix() == "lib/read"
    assert (tree / "lib/unread").read_bytes() == LARGE


def test_other_name_of_a_file_that_is_read_keeps_its_contents(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "driver").write_bytes(LARGE)
    (tree / "other").hardlink_to(tree / "driver")
    prune_tree(tree, tmp_path / "pruned", {"driver"})
    assert (tmp_path / "pruned/other").read_bytes() == LARGE
