"""How a device's kernel reads squashfs: options that are chosen when it is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FileMode = Literal["cache", "direct", "unknown"]
"""If a block is decompressed: into a buffer of squashfs (``SQUASHFS_FILE_CACHE``),
from which its pages are copied, or into the pages (``SQUASHFS_FILE_DIRECT``)."""

Decompressors = Literal["single", "multi", "percpu", "unknown"] | int
"""Of a mount: one, as many as are busy (at most twice the processors), one for each
processor, or a number that was asked for with ``threads=``."""

FIRST_WITH_CHOICE = (6, 2)
"""Linux 6.2 brought ``threads=`` (commit 80f784098ff4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProfile:
    """A kernel, as far as it matters to squashfs.

    :param versions: as ``6.8``, or ``4.15 to 6.8`` for devices of a kind; ``unknown``
        if nothing is known of them.
    :param decompressors: of a mount that doesn't ask for a number, as those of snapd.
    :param source: where this is known from; or why it isn't known.
    """

    versions: str
    file_mode: FileMode
    decompressors: Decompressors
    source: str


def unknown_kernel(reason: str) -> KernelProfile:
    """Return a kernel of which nothing is known.

    :param reason: why.
    """
    return KernelProfile(
        versions="unknown",
        file_mode="unknown",
        decompressors="unknown",
        source=f"kernel: unknown; {reason}",
    )


NOT_IN_PROFILE = unknown_kernel("the profile doesn't name it")
"""Of a profile that was written before kernels were in them."""
