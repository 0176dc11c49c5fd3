"""Which squashfs decompressors a kernel has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs import CODECS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snapcraft_compression_advisor.settings.lint_policy import Target

Version = tuple[int, int]

FIRST_KERNEL: Mapping[str, Version] = {
    codec.name: codec.first_kernel for codec in CODECS.values() if codec.first_kernel
}
"""Since when mainline decompresses each; releases 2.6.x stand as (2, x)."""

OLDEST_KERNEL: Version = (4, 4)
"""Of Ubuntu 16.04 and Ubuntu Core 16: the oldest that snapd runs on."""


def kernel_has(codec: str, kernel: Version) -> bool:
    """Tell whether mainline of that release decompresses a codec; ``none`` always."""
    first = FIRST_KERNEL.get(codec)
    return codec == "none" or (first is not None and kernel >= first)


def target_has(target: Target, codec: str) -> bool:
    """Tell whether a system that the policy names can mount an image."""
    if target.codecs is not None and codec not in (*target.codecs, "none"):
        return False
    return target.kernel is None or kernel_has(codec, _version(target.kernel))


def version_text(version: Version) -> str:
    """Return a release as people write it."""
    major, minor = version
    return f"2.6.{minor}" if major < 3 else f"{major}.{minor}"  # noqa: PLR2004 # 2.6


def _version(text: str) -> Version:
    parts = [int(part) for part in text.split(".")]
    if parts[0] < 3:  # noqa: PLR2004 # 2.6.38 stands as (2, 38)
        return 2, parts[-1]
    return parts[0], parts[1]
