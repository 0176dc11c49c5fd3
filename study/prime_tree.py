"""The files of a prime directory: .deb files unpacked and made fit for a snap.

What craft-parts does to unpacked stage packages (``packages/normalize.py``) is done
where it changes what a launch reads or whether ``snap pack`` accepts the tree:

- an absolute symbolic link whose target is in the tree becomes a relative one;
- set-user-id and set-group-id bits go, and everything becomes readable;
- a ``sitecustomize.py`` of a Python goes, as it would act on another interpreter.

Left alone: shebangs, ``.pc`` files, merged ``/usr`` (files stay where the .deb has
them), and what maintainer scripts would do: no alternatives, no byte-code.
``prime_triggers`` does what triggers would, and ``prime_alternatives`` makes the links
of alternatives if that is asked for.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

from apt_tools import run_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SET_ID_BITS = stat.S_ISUID | stat.S_ISGID
_READ_BITS = 0o444
_SEARCH_BITS = 0o111
_OWNER_WRITE_BIT = 0o200
# Absolute links may point through one another; each pass settles at least one.
_LINK_PASSES = 8
DOCUMENTATION = (
    "usr/share/doc",
    "usr/share/doc-base",
    "usr/share/gtk-doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/man",
)


def unpack(archives: Sequence[Path], root: Path) -> None:
    """Unpack .deb files into a directory, one after the other.

    :param archives: .deb files; where two carry the same path, the later one wins.
    :param root: the directory, made if it isn't there.
    :raises PrimeError: if ``dpkg-deb`` is missing or fails, or the disk is full.
    """
    root.mkdir(exist_ok=True)
    root.chmod(0o755)
    for archive in archives:
        run_tool(["dpkg-deb", "--extract", str(archive), str(root)])


def make_fit_for_snap(root: Path) -> None:
    """Settle modes and symbolic links, and drop what acts on another Python."""
    for path in _all_below(root):
        _settle_mode(path)
    for python in sorted(root.glob("usr/lib/python3*/sitecustomize.py")):
        python.unlink()
    for _ in range(_LINK_PASSES):
        if not sum(_make_relative(path, root) for path in _all_below(root)):
            break


def strip_documentation(root: Path) -> None:
    """Remove manual pages, info and ``usr/share/doc``, copyright files included."""
    for name in DOCUMENTATION:
        shutil.rmtree(root / name, ignore_errors=True)


def settle_times(root: Path, generated: Sequence[Path]) -> None:
    """Give generated files and all directories times that follow from the packages.

    :param generated: files whose time becomes that of the newest other file.
    """
    files = [path for path in _all_below(root) if path not in set(generated)]
    times = [path.lstat().st_mtime_ns for path in files if not _is_directory(path)]
    newest_ns = max(times, default=0)
    for path in generated:
        os.utime(path, ns=(newest_ns, newest_ns))
    directories = [path for path in _all_below(root) if _is_directory(path)]
    for directory in [*reversed(directories), root]:
        inside = [path.lstat().st_mtime_ns for path in directory.iterdir()]
        time_ns = max(inside, default=newest_ns)
        os.utime(directory, ns=(time_ns, time_ns))


def file_figures(root: Path) -> tuple[int, int]:
    """Return how many regular files a tree has, and their bytes.

    Hard links, as Mesa's drivers are, count once, as they do in squashfs.
    """
    found = (path.lstat() for path in _all_below(root))
    sizes = {it.st_ino: it.st_size for it in found if stat.S_ISREG(it.st_mode)}
    return len(sizes), sum(sizes.values())


def _all_below(root: Path) -> Iterator[Path]:
    """Yield what is in a directory, in a fixed order, directories before content."""
    for entry in sorted(root.iterdir()):
        yield entry
        if _is_directory(entry):
            yield from _all_below(entry)


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _settle_mode(path: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return
    settled = (stat.S_IMODE(mode) & ~_SET_ID_BITS) | _READ_BITS | _OWNER_WRITE_BIT
    if stat.S_ISDIR(mode) or mode & stat.S_IXUSR:
        settled |= _SEARCH_BITS
    path.chmod(settled)


def _make_relative(path: Path, root: Path) -> bool:
    """Make an absolute link into the tree relative; return whether it was one."""
    if not path.is_symlink():
        return False
    target = path.readlink()
    if not target.is_absolute():
        return False
    inside = root / os.path.normpath(target).lstrip("/")
    if not os.path.lexists(inside) or inside == path:
        return False
    times = path.lstat()
    path.unlink()
    path.symlink_to(os.path.relpath(inside, start=path.parent))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns), follow_symlinks=False)
    return True
