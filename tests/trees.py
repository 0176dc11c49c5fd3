"""Deep directories."""

from __future__ import annotations

import os
from pathlib import Path


def make_deep(root: Path, depth: int) -> Path:
    """Make nested directories with a file in the last one."""
    root.mkdir(exist_ok=True)
    folder = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("a", dir_fd=folder)
        below = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    return root
