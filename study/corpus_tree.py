"""A system tree: a minimal Debian system with one application installed in it.

Packages are installed by apt inside of the tree, so maintainer scripts and triggers
run: alternatives, compiled schemas, icon, font and MIME caches, the loader's cache and
Python's byte-code are there, as they are in a built snap. Then what no launch reads and
no snap ships goes: package lists, documentation, logs, the package database.

The tree is a prime directory (``meta/snap.yaml``, base ``bare``) and a root directory
at once: links are relative, set-user-id bits are gone, and ``dev``, ``proc``, ``run``,
``tmp`` and others are empty directories to mount on, so it starts read-only.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from apt_tools import debian_mirror, run_tool
from corpus_applications import KIND_PACKAGES
from corpus_chroot import run_confined, run_in_tree
from prime_tree import DOCUMENTATION, make_fit_for_snap, strip_documentation
from snap_metadata import (
    SnapMetadata,
    check_app,
    snap_version,
    snap_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Protocol

    from corpus_applications import Application

    class RunInTree(Protocol):
        """Runs a program of a tree, as :func:`.corpus_chroot.run_in_tree` does."""

        def __call__(
            self, root: Path, words: Sequence[str], *, binds: Mapping[Path, str]
        ) -> str:
            """Return what it wrote."""


# Packages' scripts ask this file whether they may start a service: 101 says no
# (Debian's invoke-rc.d(8)).
_NO_SERVICES = Path("usr/sbin/policy-rc.d")
_NO_DOCUMENTATION = "etc/dpkg/dpkg.cfg.d/no-documentation"
_NAME_SERVERS = {Path("/etc/resolv.conf"): "etc/resolv.conf"}
_INSTALL = (
    "apt-get",
    "--quiet",
    "--yes",
    "--no-install-recommends",
    "--option=Dpkg::Options::=--force-unsafe-io",
    "--option=Acquire::Retries=3",
    "--option=APT::Sandbox::User=root",
    "install",
)
_ARCHIVES = "var/cache/apt/archives"
_MACHINE_ID = "0123456789abcdef" * 2
_TO_EMPTY = (
    "dev",
    "home",
    "proc",
    "root",
    "run",
    "sys",
    "tmp",
    "var/cache/apt",
    "var/cache/debconf",
    "var/cache/ldconfig",
    "var/lib/apt",
    "var/lib/dpkg",
    "var/log",
    "var/tmp",
)
# No LD_LIBRARY_PATH: the tree has a loader's cache, and the variable would come before
# the run path of programs such as LibreOffice, which need theirs.
_PATH = {
    "PATH": "$SNAP/usr/sbin:$SNAP/usr/bin:$SNAP/sbin:$SNAP/bin:$SNAP/usr/games:$PATH"
}
_TO_REMOVE = (
    "etc/hostname",
    "etc/resolv.conf",
    _NO_DOCUMENTATION,
    str(_NO_SERVICES),
)
_WORTH_SHARING_BYTES = 4096
SMALL_BYTES = 65_536
"""Files up to this length are kept: a launch may read another one each time."""


def build_base(
    root: Path,
    suite: str,
    *,
    run: Callable[[Sequence[str]], str] = run_confined,
    run_inside: RunInTree = run_in_tree,
) -> None:
    """Make a minimal Debian system that packages can be installed in.

    Most documentation isn't unpacked in it, and its package lists are up to date.

    :param root: the directory to make.
    :param suite: the release.
    :param run: runs debootstrap.
    :param run_inside: runs apt in the tree.
    :raises PrimeError: if debootstrap failed or apt knows no mirror: status 69; 74
        where the disk is full.
    """
    mirror, security = debian_mirror(), debian_mirror("Debian-Security")
    run(["debootstrap", "--variant=minbase", suite, str(root), mirror])
    lines = (
        f"deb {mirror} {suite} main",
        f"deb {mirror} {suite}-updates main",
        f"deb {security} {suite}-security main",
        "",
    )
    (root / "etc/apt/sources.list").write_text("\n".join(lines), encoding="utf-8")
    policy = root / _NO_SERVICES
    policy.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    policy.chmod(0o755)
    (root / "etc/machine-id").write_text(f"{_MACHINE_ID}\n", encoding="utf-8")
    # Manual pages stay until the end: some packages' alternatives name theirs.
    names = [name for name in DOCUMENTATION if not name.endswith("/man")]
    excluded = "".join(f"path-exclude=/{name}/*\n" for name in names)
    (root / _NO_DOCUMENTATION).write_text(excluded, encoding="utf-8")
    (root / "etc/resolv.conf").touch()
    run_inside(root, ["apt-get", "--quiet", "update"], binds=_NAME_SERVERS)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a tree with owners, times and links; blocks are shared where they can be."""
    run_tool(["cp", "--archive", "--reflink=auto", str(source), str(target)])


def install(
    root: Path,
    application: Application,
    archives: Path,
    *,
    run_inside: RunInTree = run_in_tree,
) -> None:
    """Install an application's packages in a tree.

    :param archives: where .deb files are kept for the next tree.
    :param run_inside: runs apt in the tree.
    :raises PrimeError: if apt failed: status 69, or 74 where the disk is full.
    """
    binds = {archives: _ARCHIVES, **_NAME_SERVERS}
    packages = (*application.packages, *KIND_PACKAGES[application.kind])
    run_inside(root, [*_INSTALL, *packages], binds=binds)


def finish(root: Path, application: Application) -> None:
    """Make a prime directory of a tree with an application installed.

    :raises PrimeError: if the command isn't in the tree: status 64.
    """
    packages = installed_packages(root)
    strip(root)
    times_ns = {path: path.stat().st_mtime_ns for path in _directories(root)}
    make_fit_for_snap(root)
    for path, time_ns in times_ns.items():
        # A cache of icons or fonts older than its directory would be out of use.
        os.utime(path, ns=(time_ns, time_ns))
    # Only now do links such as those of alternatives stay in the tree.
    metadata = snap_metadata(root, application, packages)
    write_files(root, application, packages, metadata)


def installed_packages(root: Path) -> dict[str, str]:
    """Return the versions of the packages installed in a tree, by name."""
    listed = run_tool(
        [
            "dpkg-query",
            f"--admindir={root / 'var/lib/dpkg'}",
            "--show",
            "--showformat=${db:Status-Abbrev} ${Package} ${Version}\\n",
        ]
    )
    lines = [line.split() for line in listed.splitlines() if line.startswith("ii")]
    return {name: version for _, name, version in sorted(lines)}


def snap_metadata(
    root: Path, application: Application, packages: dict[str, str]
) -> SnapMetadata:
    """Return what ``meta/snap.yaml`` says of an application.

    :param packages: versions by name; the application's first one gives the version.
    :raises PrimeError: if the command isn't in the tree: status 64.
    """
    check_app(application.name, application.command[0], root)
    return SnapMetadata(
        name=application.name,
        version=snap_version(packages[application.packages[0]]),
        summary=f"{application.name} in a minimal Debian system",
        architecture=run_tool(["dpkg", "--print-architecture"]).strip(),
        base="bare",
        apps={application.name: shlex.join(application.command)},
    )


def strip(root: Path) -> None:
    """Remove what no launch reads and no snap ships."""
    for name in _TO_EMPTY:
        directory = root / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, exist_ok=True)
    for name in _TO_REMOVE:
        (root / name).unlink(missing_ok=True)
    strip_documentation(root)


def write_files(
    root: Path,
    application: Application,
    packages: dict[str, str],
    metadata: SnapMetadata,
) -> None:
    """Write the application's own files, the snap's metadata and the manifest."""
    texts = {
        **application.files,
        "meta/snap.yaml": snap_yaml(metadata, _PATH | {**application.environment}),
        "snap/manifest.yaml": manifest(packages),
    }
    if application.event == "window":
        texts[f"meta/gui/{application.name}.desktop"] = desktop_entry(application)
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def manifest(packages: dict[str, str]) -> str:
    """Return ``snap/manifest.yaml``: the packages under the key that snapcraft uses."""
    lines = [f"- {name}={version}" for name, version in packages.items()]
    return "\n".join(["primed-stage-packages:", *lines]) + "\n"


def desktop_entry(application: Application) -> str:
    """Return the desktop file that says that an application shows windows."""
    name = application.name
    return f"[Desktop Entry]\nType=Application\nName={name}\nExec={name}\n"


def share_files(tree: Path, store: Path) -> None:
    """Hard-link a finished tree's files to equal ones of other trees, to save space.

    Files of one tree are linked to one another only if they are so already.

    :param store: a directory on the same file system, one for all trees.
    """
    for folder, _, names in os.walk(tree):
        for path in (Path(folder) / name for name in names):
            status = path.lstat()
            alone = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
            if alone and status.st_size >= _WORTH_SHARING_BYTES:
                _share(path, path.relative_to(tree), status, store)


def _share(path: Path, name: Path, status: os.stat_result, store: Path) -> None:
    """Put a linked file in place of one, if there is an equal one of that name."""
    kept = (name, status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns)
    digest = hashlib.sha256(repr(kept).encode() + path.read_bytes()).hexdigest()
    shared = store / digest[:2] / digest
    shared.parent.mkdir(parents=True, exist_ok=True)
    if not shared.exists():
        os.link(path, shared)
        return
    beside = path.with_name(f".{digest}")
    os.link(shared, beside)
    beside.replace(path)


def _directories(root: Path) -> Iterator[Path]:
    for directory, _, _ in os.walk(root):
        yield Path(directory)


def prune_tree(tree: Path, pruned: Path, read: Collection[str]) -> None:
    """Make a copy of a tree in which only what a launch reads has contents.

    Packing takes most of the time of a measurement, and no launch reads most of what is
    packed. So every file that no recorded launch reads becomes a hole of the same
    length, unless it is small: names, sizes and modes stay, so the application finds
    the files that it looks for, and the blocks of an image that are read stay the same.
    Both trees are on the same file system.

    :param tree: left as it is; the copy shares the contents of files that it keeps.
    :param pruned: a directory that isn't there yet.
    :param read: paths of the files that launches read, relative to the tree.
    """
    kept = {(tree / path).stat().st_ino for path in read if (tree / path).is_file()}

    def copy(source: str, destination: str) -> None:
        status = os.lstat(source)
        if status.st_size <= SMALL_BYTES or status.st_ino in kept:
            os.link(source, destination, follow_symlinks=False)
            return
        with Path(destination).open("wb") as file:
            file.truncate(status.st_size)
        shutil.copystat(source, destination)

    shutil.copytree(tree, pruned, symlinks=True, copy_function=copy)
