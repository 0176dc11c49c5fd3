"""Directories of files, and deep ones."""

import os
from collections.abc import Mapping
from pathlib import Path


def fill(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a directory; the programs among them can be executed."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(raw)
        if raw.startswith((b"#!", b"\x7fELF")):
            path.chmod(0o755)
    return root


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
