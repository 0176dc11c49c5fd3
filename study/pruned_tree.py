"""A system tree of which only what a launch reads has contents.

Packing takes most of the time that measuring takes, and most of what is packed isn't
read. So every file that no recorded launch reads, and that is no small one, becomes a
hole of the same length: names, sizes and modes stay, so the application finds all that
it looks for, and an image's blocks that are read stay the same, byte for byte.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

SMALL_BYTES = 65_536
"""Files up to this length are kept: a launch may read another one each time."""


def prune_tree(tree: Path, pruned: Path, read: Collection[str]) -> None:
    """Make a pruned copy of a tree on the same file system.

    :param tree: left as it is; the copy shares the contents of files that it keeps.
    :param pruned: a directory that isn't there yet.
    :param read: paths of the files that launches read, relative to the tree.
    """
    kept = {(tree / path).stat().st_ino for path in read if (tree / path).is_file()}

    def copy(source: str, destination: str) -> None:
        status = os.lstat(source)
        if status.st_size <= SMALL_BYTES or status.st_ino in kept:
            os.link(source, destination, follow_symlinks=False)
            return
        with Path(destination).open("wb") as file:
            file.truncate(status.st_size)
        shutil.copystat(source, destination)

    shutil.copytree(tree, pruned, symlinks=True, copy_function=copy)
