"""How the running kernel reads squashfs, as its configuration tells.

Names of options are those of Linux's ``fs/squashfs/Kconfig``. Kernels from 6.2 on can
choose their decompressors at mount: then ``threads=`` asks for some, and a mount
without it, as of snapd, has one (``squashfs_fill_super`` in ``fs/squashfs/super.c``).
"""

from __future__ import annotations

import gzip
import platform
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..core.units import MIB
from ..devices.device import Decompressors, FileMode, KernelProfile
from ..launch.profile import RecordedKernel

_MOST_BYTES = 8 * MIB
"""Configurations have about 300 KB."""
_OPTION = re.compile(r"^CONFIG_(SQUASHFS\w*)=([ym])$", re.MULTILINE)
_VERSION = re.compile(r"\d+\.\d+")


def running_kernel(root: Path = Path("/")) -> KernelProfile:
    """Return what can be known of the running kernel, from files below a root."""
    release = platform.release()
    version = _VERSION.match(release)
    options, where = _options(root, release)
    return KernelProfile(
        versions=version[0] if version else "unknown",
        file_mode=_file_mode(options),
        decompressors=_decompressors(options),
        source=f"kernel: measured; Linux {release}, its options from {where}"
        if where
        else f"kernel: Linux {release}; its options are unknown: neither "
        "/proc/config.gz nor a file in /boot or /lib/modules names them",
    )


def recorded_kernel() -> RecordedKernel:
    """Return of the running kernel what a recording keeps."""
    kernel = running_kernel()
    return RecordedKernel(
        file_mode=kernel.file_mode, decompressors=kernel.decompressors
    )


def _options(root: Path, release: str) -> tuple[Mapping[str, str], str]:
    """Return squashfs's options of the first readable configuration that has some."""
    places = (
        "proc/config.gz",
        f"boot/config-{release}",
        f"lib/modules/{release}/config",
        f"usr/lib/modules/{release}/config",
        f"lib/modules/{release}/build/.config",
    )
    for place in places:
        options = dict(_OPTION.findall(_text(root / place)))
        if options:
            return options, f"/{place}"
    return {}, ""


def _text(path: Path) -> str:
    """Return a configuration's text; nothing if it can't be read."""
    opener = gzip.open if path.suffix == ".gz" else open
    with suppress(OSError, EOFError, zlib.error), opener(path, "rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    return ""


def _file_mode(options: Mapping[str, str]) -> FileMode:
    if "SQUASHFS_FILE_DIRECT" in options:
        return "direct"
    return "cache" if "SQUASHFS_FILE_CACHE" in options else "unknown"


def _decompressors(options: Mapping[str, str]) -> Decompressors:
    """Return those of a mount that asks for none.

    Where mounts choose, all kinds are built in, and one decompressor is the default.
    """
    if "SQUASHFS_CHOICE_DECOMP_BY_MOUNT" in options:
        return "single"
    if "SQUASHFS_DECOMP_MULTI_PERCPU" in options:
        return "percpu"
    if "SQUASHFS_DECOMP_MULTI" in options:
        return "multi"
    return "single" if "SQUASHFS_DECOMP_SINGLE" in options else "unknown"
