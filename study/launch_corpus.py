#!/usr/bin/env python3
"""Build real applications that start from a read-only squashfs mount.

    sudo .venv/bin/python study/launch_corpus.py -o corpus
    sudo .venv/bin/python study/launch_corpus.py chromium gimp -o corpus --cache ~/debs
    .venv/bin/python study/launch_corpus.py --list

Each application becomes a system tree DIR/NAME (see ``corpus_tree``). The advisor takes
it as a prime directory and starts it with ``record --chroot``. A tree is built beside
its place and moved there when it is complete, so an existing tree isn't built again.
The cache keeps downloads, the minimal system and those of each kind; remove its
``base-*`` to build them again.

The script needs root, debootstrap, apt, the network, and about 1 GB of disk space for a
tree. Exit status: 0; 64 wrong arguments, 69 a program is missing or fails, 73 DIR is in
the way or the disk is too full, 74 reading or writing failed, 75 no network, 77 not
root.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

from corpus_applications import APPLICATIONS, CHECKED, KIND_PACKAGES, Application
from corpus_tree import build_base, copy_tree, finish, install
from prime_error import PrimeError, UsageParser, end_by_sigterm, note, run_script
from prime_tree import file_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROGRAMS = ("debootstrap", "setpriv", "unshare", "mount", "cp", "dpkg-query")
_ENDS_ALL = (os.EX_CANTCREAT, os.EX_IOERR)
FREE_BYTES = 4_000_000_000
"""Room that a build wants: the largest tree (1.2 GB), its packages, and a reserve."""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, checked against one another."""
    parser = UsageParser(
        prog="launch_corpus.py",
        description="Build real applications that start from a squashfs mount.",
    )
    add = parser.add_argument
    add("names", metavar="NAME", nargs="*", help="applications (all of the table)")
    add("-o", "--output", metavar="DIR", type=Path, help="where the trees go")
    add("--cache", metavar="DIR", type=Path, default=default_cache(), help="downloads")
    add("--list", action="store_true", help="list the applications, build nothing")
    parsed = parser.parse_args(arguments)
    if parsed.output is None and not parsed.list:
        parser.error("say where the trees go: -o DIR")
    known = {application.name for application in (*APPLICATIONS, *CHECKED)}
    if unknown := [name for name in parsed.names if name not in known]:
        parser.error(f"unknown: {', '.join(unknown)}; --list prints the table")
    return parsed


def default_cache() -> Path:
    """Return the folder for downloads in the user's cache directory."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "launch-corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder:
    """What builds trees: all that needs root, the network and room.

    :param is_root: whether this process may.
    :param path: where programs are looked for; ``None`` for ``PATH``.
    :param free_bytes: tells the room that a directory's disk has left.
    """

    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)
    path: str | None = None
    free_bytes: Callable[[Path], int] = lambda directory: disk_usage(directory).free
    build_base: Callable[[Path, str], None] = build_base
    copy_tree: Callable[[Path, Path], None] = copy_tree
    install: Callable[[Path, Application, Path], None] = install
    finish: Callable[[Path, Application], None] = finish


def check_machine(builder: Builder) -> None:
    """Make sure that trees can be built here.

    :raises PrimeError: if not root: status 77; if a program is missing: 69.
    """
    if not builder.is_root:
        message = "Building system trees needs root: run it with sudo."
        raise PrimeError(message, exit_status=os.EX_NOPERM)
    for program in PROGRAMS:
        if shutil.which(program, path=builder.path) is None:
            message = f"'{program}' isn't on this machine: apt-get install debootstrap."
            raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)


def check_space(directory: Path, builder: Builder) -> None:
    """Make sure that a tree will fit.

    :raises PrimeError: if it may not: status 73.
    """
    free_bytes = builder.free_bytes(directory)
    if free_bytes < FREE_BYTES:
        message = (
            f"{directory} has {free_bytes / 1e9:.1f} GB left, and a tree may need "
            f"{FREE_BYTES / 1e9:.0f} GB: free some space, or name another directory."
        )
        raise PrimeError(message, exit_status=os.EX_CANTCREAT)


def is_finished(tree: Path) -> bool:
    """Return whether a tree is there already.

    :raises PrimeError: if something else is in the way: status 73.
    """
    if not os.path.lexists(tree):
        return False
    if (tree / "meta" / "snap.yaml").is_file():
        return True
    message = f"{tree} is in the way: it has no meta/snap.yaml. Move it elsewhere."
    raise PrimeError(message, exit_status=os.EX_CANTCREAT)


@contextlib.contextmanager
def locked(cache: Path) -> Iterator[None]:
    """Keep other builds from the cache; wait for one that is under way."""
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def scratch_beside(place: Path) -> Iterator[Path]:
    """Give a directory on the same file system; it goes, whatever happens."""
    prefix = f".{place.name}."
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place.parent) as directory:
        yield Path(directory)


def make_base(suite: str, cache: Path, builder: Builder) -> Path:
    """Build the minimal system ``base-SUITE`` in the cache, if it isn't there."""
    base = cache / f"base-{suite}"
    if base.is_dir():
        return base
    check_space(cache, builder)
    note(f"building the minimal system {base}")
    with scratch_beside(base) as scratch:
        builder.build_base(scratch / "base", suite)
        (scratch / "base").rename(base)
    return base


def make_kind_base(application: Application, cache: Path, builder: Builder) -> Path:
    """Build ``base-SUITE-KIND``: the minimal system and the packages of a kind."""
    plain = make_base(application.suite, cache, builder)
    base = plain.with_name(f"{plain.name}-{application.kind}")
    if KIND_PACKAGES[application.kind] and not base.is_dir():
        note(f"building the system {base}")
        with scratch_beside(base) as scratch:
            builder.copy_tree(plain, scratch / "base")
            of_kind = replace(application, packages=())
            builder.install(scratch / "base", of_kind, cache / "archives")
            (scratch / "base").rename(base)
    return base if KIND_PACKAGES[application.kind] else plain


def build(
    application: Application, output: Path, cache: Path, builder: Builder
) -> None:
    """Build one application's tree, if it isn't there."""
    tree = output / application.name
    if is_finished(tree):
        note(f"{tree}: is there")
        return
    check_space(output, builder)
    base = make_kind_base(application, cache, builder)
    note(f"{tree}: installing {' '.join(application.packages)}")
    with scratch_beside(tree) as scratch:
        root = scratch / "root"
        builder.copy_tree(base, root)
        builder.install(root, application, cache / "archives")
        builder.finish(root, application)
        root.rename(tree)
    files, size_bytes = file_figures(tree)
    note(f"{tree}: {files:,} files, {size_bytes / 1e6:.1f} MB")


def is_built(
    application: Application, output: Path, cache: Path, builder: Builder
) -> bool:
    """Build one application's tree; print why where apt can't.

    :raises PrimeError: if no other could be built either, as on a full disk.
    """
    try:
        build(application, output, cache, builder)
    except PrimeError as error:
        if error.exit_status in _ENDS_ALL:
            raise
        note(f"{application.name}: {error}")
        return False
    return True


def build_all(
    applications: Sequence[Application], output: Path, cache: Path, builder: Builder
) -> None:
    """Build the trees of all that can be built.

    :raises PrimeError: if some failed, in the end: status 69.
    """
    failed = [
        it.name for it in applications if not is_built(it, output, cache, builder)
    ]
    if failed:
        message = f"Not built: {', '.join(failed)}. The reasons are above."
        raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)


def print_table() -> None:
    """Print the applications: name, kind, event and command."""
    for application in APPLICATIONS:
        columns = (
            f"{application.name:18}",
            f"{application.kind:12}",
            f"{application.event:8}",
            *application.command,
        )
        print(*columns)


def run(arguments: argparse.Namespace, builder: Builder) -> None:
    """Do what the arguments ask for."""
    if arguments.list:
        print_table()
        return
    check_machine(builder)
    os.umask(0o022)
    names = set(arguments.names)
    output, cache = arguments.output.absolute(), arguments.cache.absolute()
    for directory in (output, cache / "archives" / "partial"):
        directory.mkdir(parents=True, exist_ok=True)
    chosen = [it for it in (*APPLICATIONS, *CHECKED) if it.name in names]
    with locked(cache):
        build_all(chosen or APPLICATIONS, output, cache, builder)


def main(arguments: Sequence[str] | None = None, builder: Builder | None = None) -> int:
    """Run the script.

    :returns: the exit status, as the module's docstring lists it.
    """
    parsed = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    return run_script("launch_corpus.py", lambda: run(parsed, builder or Builder()))


if __name__ == "__main__":
    end_by_sigterm()
    sys.exit(main())
