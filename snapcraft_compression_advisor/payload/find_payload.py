"""What to analyse where the user named nothing, or a directory of snaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import NoInputError, UsageError
from snapcraft_compression_advisor.payload.source import is_prime_directory

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SUFFIXES = (".snap", ".comp")


def find_payload(directory: Path) -> Path:
    """Return a directory's ``prime``, else the one ``.snap`` in it.

    :returns: the directory itself where it is a prime directory.
    :raises NoInputError: where there is neither.
    :raises UsageError: where there are several snaps.
    """
    prime, where = directory / "prime", str(directory.absolute())
    for place in (directory, prime):
        if is_prime_directory(place):
            return place
    snaps = sorted(directory.glob("*.snap"))
    if len(snaps) == 1:
        return snaps[0]
    if snaps:
        names = ", ".join(snap.name for snap in snaps)
        message = f"Several snaps in {where!r}: {names}"
        raise UsageError(message, resolution="Name the one to analyse.")
    if prime.is_dir():  # its reader says what it lacks
        return prime
    message = f"Nothing to analyse: neither 'prime' nor a .snap in {where!r}"
    raise NoInputError(message, resolution="Name a prime directory or a built .snap.")


def named_payloads(paths: Iterable[Path]) -> list[Path]:
    """Return what the paths stand for, each once.

    A directory without ``meta``, which a prime directory has, stands for the ``.snap``
    and ``.comp`` files in it, by name. What has none stays, for its reader to refuse.
    """
    found = [each for path in paths for each in _images_in(path) or [path]]
    return list(dict.fromkeys(found))


def _images_in(path: Path) -> list[Path]:
    try:
        if not path.is_dir() or (path / "meta").exists():
            return []
        return sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES)
    except OSError:  # whoever opens it says what is wrong
        return []
