#!/usr/bin/env python3
"""Compare recordings of vendor-built applications with residency on a mount made here.

    sudo .venv/bin/python study/vendor_residency.py --trees TREES/SET [NAME…]

The advisor's own recording is checked by a way that shares no code with it: each tree
is packed, mounted, started in bubblewrap until it ends, and ``mincore`` says which data
blocks are then in memory; three times, since launches of one application differ, after
one that sets up the home directory. What all three read should be recorded, and what
any of them read may be.
``data/vendor-residency.csv`` has what both read, and keeps the rows of applications
that have no tree there. Only applications that end by themselves are compared.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import mmap
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from vendor_draw import DATA, SETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TABLE = DATA / "vendor-residency.csv"
BLOCK_BYTES = 131_072
TIMEOUT_S = 180
LAUNCHES = 3
ATTEMPTS = 8
_HOME = "/tmp/home"  # noqa: S108 (in a file system of its own)
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int),
    ctypes.c_long,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def resident_blocks(file: Path) -> set[int]:
    """Return the data blocks of a file that are in memory."""
    size = file.stat().st_size
    pages = (ctypes.c_ubyte * (size // mmap.PAGESIZE + 1))()
    descriptor = os.open(file, os.O_RDONLY)
    try:
        start = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        _libc.mincore(start, size, ctypes.byref(pages))
        _libc.munmap(start, size)
    finally:
        os.close(descriptor)
    resident = (number for number, page in enumerate(pages) if page & 1)
    return {number * mmap.PAGESIZE // BLOCK_BYTES for number in resident}


@contextmanager
def mounted(tree: Path) -> Iterator[Path]:
    """Pack a tree, mount the image, and take it away again."""
    with tempfile.TemporaryDirectory(dir=tree.parent, prefix=".residency-") as folder:
        image, place = Path(folder, "image"), Path(folder, "root")
        place.mkdir()
        quiet = ("-comp", "gzip", "-no-fragments", "-no-progress", "-all-root")
        _run("mksquashfs", tree, image, "-noappend", "-Xcompression-level", "1", *quiet)
        Path(folder).chmod(0o755)
        _run("mount", "-o", "loop,ro,nodev", image, place)
        try:
            number = place.stat().st_dev
            # A loop device over a file of a virtual disk reads more; disks, 128 KiB.
            device = f"{os.major(number)}:{os.minor(number)}"
            ahead = Path("/sys/class/bdi", device, "read_ahead_kb")
            ahead.write_text("128", encoding="ascii")
            yield place
        finally:
            _run("umount", place)


def _run(*words: object) -> None:
    subprocess.run(list(map(str, words)), check=True, capture_output=True)


def start(name: str, root: Path, home: str) -> None:
    """Start an application as snapd does, until it ends."""
    snap = YAML(typ="safe", pure=True).load(root / "meta/snap.yaml")
    place = f"/snap/{name}/x1"
    variables = {"SNAP": place, "SNAP_NAME": name, "HOME": _HOME}
    variables |= {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "SNAP_LIBRARY_PATH": ""}
    app = snap["apps"][name]
    for given in (snap.get("environment", {}), app.get("environment", {})):
        for key, text in given.items():
            for known, value in variables.items():
                text = text.replace(f"${known}", value)  # noqa: PLW2901 (expanded)
            variables[key] = text if "$" not in text else ""
    sandbox = [
        *("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/snap"),
        *("--ro-bind", str(root), place, "--symlink", "x1", f"/snap/{name}/current"),
        *("--tmpfs", str(Path(_HOME).parent), "--bind", home, _HOME, "--clearenv"),
        *(word for item in variables.items() for word in ("--setenv", *item)),
        *("--chdir", place, "--", *shlex.split(f"{place}/{app['command']}")),
    ]
    subprocess.run(
        sandbox, check=True, capture_output=True, timeout=TIMEOUT_S, input=b""
    )


def compare(recording: dict[str, Any], tree: Path) -> tuple[object, ...]:
    """Return a row of the table."""
    name = tree.name
    recorded = {
        (file["path"], number)
        for file in recording["files"]
        for first, last in file["blocks"]
        for number in range(first, last + 1)
    }
    with mounted(tree) as root, tempfile.TemporaryDirectory() as home:
        start(name, root, home)
        launches = (_resident(name, root, home) for _ in range(ATTEMPTS))
        found = [*islice(filter(None, launches), LAUNCHES)]
    read_by_any = set().union(*found)
    read_by_all = read_by_any.intersection(*found)
    common = recorded & read_by_any
    return name, len(recorded), len(common | read_by_all), len(common)


def _resident(name: str, root: Path, home: str) -> set[tuple[str, int]]:
    """Return what a cold launch leaves in memory; nothing if others drop caches."""
    Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    dropped = _drops()
    start(name, root, home)
    found = {
        (str(path.relative_to(root)), number)
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size
        for number in resident_blocks(path)
        if not str(path.relative_to(root)).startswith("meta/")
    }
    return found if _drops() == dropped else set()


def _drops() -> str:
    text = Path("/proc/vmstat").read_text(encoding="ascii")
    return next(line for line in text.splitlines() if "drop_pagecache" in line)


def main() -> int:
    """Compare, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", metavar="DIR", type=Path, required=True)
    arguments = parser.parse_args()
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows: dict[str, Sequence[object]] = {row[0]: row for row in csv.reader(file)}
    for path in sorted(path for each in SETS.values() for path in each.glob("*.json")):
        name, tree = path.stem, arguments.trees / path.stem
        recording = json.loads(path.read_text(encoding="utf-8"))
        ends = recording["recorded"]["event"] == "exit" and tree.is_dir()
        if ends and name in (arguments.names or [name]):
            try:
                rows[name] = compare(recording, tree)
                print(*rows[name], flush=True)
            except (OSError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows.values())
    return 0


if __name__ == "__main__":
    sys.exit(main())
