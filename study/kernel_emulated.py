#!/usr/bin/env python3
"""Count how often launches read blocks on Debian's kernels, in an emulated machine.

User-mode Linux has one processor, on which readers don't drive out each other's
blocks. So Debian's kernels for clouds run in qemu's emulator with two, with squashfs as
Debian has it, and as a module built from the same source with the other options.
Recorded launches are replayed (``kernel_first.c``) by one reader, by two of which one
reads every eighth file, and by two and four that share the files alike; with lzo also
without read-ahead and with 1 MiB of it. It counts what is read of the device; seconds
say nothing in an emulator.

usage: kernel_emulated.py --work DIR [--launches NAME…]

DIR is that of ``kernels.py``, with its images. The script needs qemu-system-x86_64 and
gcc, some minutes for each kernel and launch, and no root.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apt_tools import run_tool
from kernel_builds import DECOMPRESSORS, SUITES, fetch, run_quietly, unpack_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
TABLE = HERE / "data" / "kernel-readers.csv"
RELEASES = {"5.10": "5.10.0-46", "6.1": "6.1.0-56", "6.12": "6.12.118+deb13"}
OWN = ("direct", "percpu")
"""How Debian configures squashfs."""
BUILDS = (
    ("5.10", *OWN),
    ("5.10", "direct", "single"),
    ("5.10", "cache", "single"),
    ("6.1", *OWN),
    ("6.12", *OWN),
)
PROCESSORS = 2
_SHARES = {
    "1": "1",
    "7/8+1/8 of 2": "2, one reads 1/8",
    "2": "2 alike",
    "4": "4 alike",
}
_RESULT = re.compile(r"RESULT (\w+) (\d+) ([^\r\n]+) (\d+)\r?$", re.MULTILINE)
_ARGUMENTS = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off"


@dataclass(frozen=True, kw_only=True)
class Emulated:
    """A kernel and its modules."""

    kernel: Path
    modules: tuple[Path, ...]


def main() -> None:
    """Count, and add a run to the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--launches", nargs="+", default=("idle", "mousepad"))
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    rows = list(_rows(work, arguments.launches))
    with TABLE.open(encoding="utf-8", newline="") as file:
        last = max(int(row["run"]) for row in csv.DictReader(skip_comments(file)))
    with TABLE.open("a", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerows((last + 1, *row) for row in rows)


def skip_comments(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a kept table."""
    return (line for line in lines if not line.startswith("#"))


def _rows(work: Path, launches: list[str]) -> Iterator[tuple[object, ...]]:
    for version, file_mode, decompressors in BUILDS:
        machine = _machine(work, version, file_mode, decompressors)
        for launch in launches:
            said = _run(machine, work, launch)
            for row in result_rows(said):
                yield (version, file_mode, decompressors, launch, *row)


def result_rows(said: str) -> Iterator[tuple[str, int, str, int, int]]:
    """Yield codec, read-ahead, readers and bytes of what a machine wrote.

    With them those of one reader with the usual read-ahead, which comes first.
    """
    once: dict[str, int] = {}
    for codec, read_ahead, readers, read_bytes in _RESULT.findall(said):
        once.setdefault(codec, int(read_bytes))
        yield codec, int(read_ahead), _SHARES[readers], int(read_bytes), once[codec]


def _machine(work: Path, version: str, file_mode: str, decompressors: str) -> Emulated:
    """Fetch a kernel, and build its squashfs where Debian's is another."""
    release = f"{RELEASES[version]}-cloud-amd64"
    root = _unpacked(work, version, f"linux-image-{release}")
    modules = {
        path.name.partition(".")[0]: path
        for path in root.rglob("kernel/**/*.ko*")  # from 6.12 on compressed
    }
    squashfs = modules["squashfs"]
    if (file_mode, decompressors) != OWN:
        squashfs = _module(work, version, file_mode, decompressors)
    return Emulated(
        kernel=root / f"boot/vmlinuz-{release}", modules=(modules["loop"], squashfs)
    )


def _unpacked(work: Path, version: str, *packages: str) -> Path:
    """Return a directory with what packages of a version's suite hold."""
    directory = work / "emulated" / "-".join((version, packages[0]))
    if not directory.exists():
        directory.parent.mkdir(exist_ok=True)
        for package in fetch(work, SUITES[version], packages):
            run_tool(["dpkg-deb", "-x", str(package), str(directory)])
    return directory


def _module(work: Path, version: str, file_mode: str, decompressors: str) -> Path:
    release = f"{RELEASES[version]}-cloud-amd64"
    root = _unpacked(
        work,
        version,
        f"linux-headers-{release}",
        f"linux-headers-{RELEASES[version]}-common",
        f"linux-kbuild-{version}",
    )
    headers = root / f"usr/src/linux-headers-{release}"
    makefile = headers / "Makefile"
    text = makefile.read_text(encoding="utf-8")
    text = re.sub(r"include /\S*?usr/src/", f"include {root}/usr/src/", text)
    makefile.write_text(text, encoding="utf-8")
    directory = work / "emulated" / f"{version}-{file_mode}-{decompressors}"
    if not directory.exists():
        source = unpack_source(work, version)
        shutil.copytree(source / "fs/squashfs", directory)
        options = {
            **{f"DECOMP_{each}": "" for each in DECOMPRESSORS.values()},
            f"DECOMP_{DECOMPRESSORS[decompressors]}": "y",
            "FILE_DIRECT": "",
            f"FILE_{file_mode.upper()}": "y",
        }
        if file_mode == "cache":  # autoconf.h has Debian's mode
            actor = directory / "page_actor.h"
            text = actor.read_text(encoding="utf-8")
            text = text.replace("#ifndef CONFIG_SQUASHFS_FILE_DIRECT", "#if 1")
            actor.write_text(text, encoding="utf-8")
        chosen = [f"CONFIG_SQUASHFS_{key}={value}" for key, value in options.items()]
        run_quietly(
            [
                "make",
                "-C",
                str(headers),
                f"M={directory}",
                "CC=gcc",
                *chosen,
                "modules",
            ],
            directory,
        )
    return directory / "squashfs.ko"


def _run(machine: Emulated, work: Path, launch: str) -> str:
    """Replay a launch; return what the machine wrote."""
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        first, files = Path(scratch, "init"), Path(scratch, "files.cpio")
        source = str(HERE / "kernel_first.c")
        run_quietly(["gcc", "-O2", "-static", "-o", str(first), source], HERE)
        touches = json.loads((work / f"launches/{launch}.json").read_bytes())
        lines = ("\t".join(map(str, (path, *pages))) for path, pages in touches)
        images = [work / "launches" / launch / f"{c}.squashfs" for c in ("lzo", "xz")]
        contents = {path.name: path.read_bytes() for path in (first, *images)}
        contents["touches"] = "".join(f"{line}\n" for line in lines).encode()
        for module in machine.modules:
            data = module.read_bytes()
            if module.suffix == ".xz":
                data = lzma.decompress(data)
            contents[module.name.removesuffix(".xz")] = data
        files.write_bytes(archive(contents))
        return run_tool(
            [
                "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max",
                "-smp", str(PROCESSORS), "-m", "1200", "-nographic", "-no-reboot",
                "-net", "none", "-kernel", str(machine.kernel), "-initrd", str(files),
                "-append", _ARGUMENTS,
            ]
        )  # fmt: skip


def archive(contents: dict[str, bytes]) -> bytes:
    """Return files as an initramfs (``newc``, Linux's buffer-format.rst)."""
    parts = []
    for number, (name, data) in enumerate({**contents, "TRAILER!!!": b""}.items(), 1):
        mode = 0o100755 if name in contents else 0
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % each for each in fields)
        head += name.encode() + b"\0"
        parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]
    return b"".join(parts)


if __name__ == "__main__":
    main()
