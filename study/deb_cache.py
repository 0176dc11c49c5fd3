"""Downloaded .deb files, checked against apt's hashes and used again."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from apt_closure import Package
    from apt_tools import Apt

# One line per file of apt-get --print-uris: address, name, bytes, hash.
_URI_LINE = re.compile(
    r"^'[^']*' (?P<name>[^\s/]+) (?P<size>\d+) (?P<hash>\w+):(?P<digest>[0-9a-f]+)$"
)
_PACKAGES_AT_ONCE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """One .deb: its package, its file, and what apt says of it."""

    package: Package
    path: Path
    size_bytes: int
    hash_name: str
    digest: str

    def is_intact(self) -> bool:
        """Return whether the file is there with the size and hash that apt expects."""
        try:
            if self.path.stat().st_size != self.size_bytes:
                return False
            with self.path.open("rb") as file:
                return _hash_of(file.read, self.hash_name) == self.digest
        except FileNotFoundError:
            return False


def _hash_of(read: Callable[[int], bytes], name: str) -> str:
    hashed = hashlib.new(name, usedforsecurity=False)
    while piece := read(1 << 20):
        hashed.update(piece)
    return hashed.hexdigest()


def fetch_archives(
    packages: Sequence[Package],
    cache: Path,
    *,
    apt: Apt,
    note: Callable[[str], None],
) -> list[Archive]:
    """Have the .deb of each package in the cache directory.

    :param packages: what to fetch; the result has the same order.
    :param cache: a directory, made if it isn't there; intact files in it are kept. Of
        several builds, one at a time looks there and downloads.
    :param apt: apt, whatever counts as installed there.
    :param note: gets a progress line now and then.
    :raises PrimeError: if apt can't download (status 69), the disk is full (74), or a
        download isn't what apt's index says (65).
    """
    cache.mkdir(parents=True, exist_ok=True)
    lines = _uri_lines(packages, apt)
    archives = [_archive(*pair, cache) for pair in _paired(packages, lines)]
    with (cache / ".lock").open("w") as lock:
        # Else another build may lose an archive that it has begun to read.
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [archive for archive in archives if not archive.is_intact()]
        for start in range(0, len(missing), _PACKAGES_AT_ONCE):
            left = missing[start:]
            left_bytes = sum(archive.size_bytes for archive in left)
            note(f"{len(left)} packages to download, {left_bytes / 1e6:.1f} MB")
            _download(left[:_PACKAGES_AT_ONCE], cache, apt)
    return archives


def _uri_lines(packages: Sequence[Package], apt: Apt) -> list[str]:
    wanted = [package.apt_argument for package in packages]
    # apt says nothing of files that the current directory has already.
    with tempfile.TemporaryDirectory(prefix="prime-from-debs.") as empty:
        output = apt.run(
            "apt-get", "--print-uris", "download", *wanted, directory=Path(empty)
        )
    return [line for line in output.splitlines() if line.startswith("'")]


def _paired(
    packages: Sequence[Package], lines: Sequence[str]
) -> list[tuple[Package, str]]:
    """Pair packages with their lines by the file's name, NAME_VERSION_ARCH.deb."""
    by_file = {_name_and_architecture(line): line for line in lines}
    keys = [(it.name.split(":")[0], it.architecture) for it in packages]
    missing = [
        name for name, architecture in keys if (name, architecture) not in by_file
    ]
    if missing:
        message = f"apt names no file to download for {', '.join(missing)}."
        raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)
    return [
        (package, by_file[key]) for package, key in zip(packages, keys, strict=True)
    ]


def _name_and_architecture(line: str) -> tuple[str, str]:
    file_name = line.split("' ", 1)[-1].split(" ", 1)[0].removesuffix(".deb")
    return file_name.partition("_")[0], file_name.rpartition("_")[2]


def _archive(package: Package, line: str, cache: Path) -> Archive:
    match = _URI_LINE.match(line)
    if match is None:
        message = f"apt's line for {package.name} has no size and hash: {line}"
        raise PrimeError(message, exit_status=os.EX_DATAERR)
    return Archive(
        package=package,
        path=cache / match["name"],
        size_bytes=int(match["size"]),
        hash_name=match["hash"].removesuffix("Sum").lower(),
        digest=match["digest"],
    )


def _download(archives: Sequence[Archive], cache: Path, apt: Apt) -> None:
    for archive in archives:
        archive.path.unlink(missing_ok=True)
    wanted = [archive.package.apt_argument for archive in archives]
    apt.run("apt-get", "--quiet", "download", *wanted, directory=cache)
    for archive in archives:
        if not archive.is_intact():
            message = (
                f"{archive.path} isn't what apt's index says. "
                "Run 'apt-get update' as root and try again."
            )
            raise PrimeError(message, exit_status=os.EX_DATAERR)
