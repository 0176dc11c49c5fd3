"""Copies of a payload, to be changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.scratch import scratch_directory
from ..payload.source import Payload
from ..squashfs.mksquashfs import unpack


@contextmanager
def payload_copy(payload: Payload, scratch: Path | None) -> Iterator[Path]:
    """Give a directory with a payload's files; removed at the end.

    Its files are hard links where that is possible: one that is to be changed is
    unlinked first.

    :param scratch: where it goes; the system's temporary directory by default.
    :raises AdvisorError: where there is no room.
    """
    advice = "Set TMPDIR to a directory on a larger disk."
    with scratch_directory(scratch, resolution=advice) as folder:
        tree = folder / "prime"
        if payload.kind == "snap":
            unpack(payload.path, tree)
        else:
            shutil.copytree(
                payload.path, tree, symlinks=True, copy_function=_link_or_copy
            )
        yield tree


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or a file of somebody else
        shutil.copy2(source, target, follow_symlinks=False)
