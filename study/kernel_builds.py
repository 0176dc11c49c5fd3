"""User-mode Linux kernels, built from Debian's ``linux-source`` packages.

Each version is built twice or four times, as its options allow: decompressing into
the page cache (``direct``) or into a buffer of squashfs's own (``cache``), with one
decompressor or one per processor, of which user-mode Linux has one. From 6.2 on one
build has both, and ``threads=`` chooses.

Nothing of a kernel is kept in the repository. What the sources need:

- ``HAVE_EFFICIENT_UNALIGNED_ACCESS``: x86 selects it, its user-mode port doesn't.
  Without it, lzo and lz4 copy byte by byte.
- The size of a processor's state: user-mode Linux has room for that of AVX-512, and
  fails where a processor has more (AMX). It gets room for 16 KiB, and kernel stacks of
  64 KiB, as it keeps the state there. (With the interface for SSE instead, a page fault
  loses the upper halves of vector registers, and Python ends or hangs.)
- flex, bison, bc, and gcc: 12.2 builds all versions as they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apt_tools import debian_mirror, run_tool
from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SUITES: Mapping[str, str] = {
    "5.10": "bullseye",
    "6.1": "bookworm",
    "6.12": "trixie",
    "7.3": "trixie-backports",
}
FILE_MODES = ("cache", "direct")
DECOMPRESSORS: Mapping[str, str] = {
    "single": "SINGLE",
    "percpu": "MULTI_PERCPU",
}
_FIRST_WITH_CHOICE = (6, 2)
_FIRST_WITH_PROCESSORS = (6, 19)
"""``CONFIG_SMP`` of ``arch/um/Kconfig``."""
PROCESSORS = 2
_UNUSED_SOURCES = ("gpu", "net", "media", "staging", "infiniband", "scsi")
_CONFIG = """\
64BIT HIGH_RES_TIMERS BINFMT_ELF BINFMT_SCRIPT PROC_FS SYSFS TMPFS SHMEM DEVTMPFS
HOSTFS BLOCK BLK_DEV BLK_DEV_UBD BLK_DEV_LOOP MULTIUSER FUTEX EPOLL EVENTFD SIGNALFD
TIMERFD POSIX_TIMERS FILE_LOCKING ADVISE_SYSCALLS PRINTK BUG IKCONFIG IKCONFIG_PROC
STDERR_CONSOLE NULL_CHAN FD_CHAN MISC_FILESYSTEMS SQUASHFS SQUASHFS_ZLIB SQUASHFS_LZ4
SQUASHFS_LZO SQUASHFS_XZ SQUASHFS_ZSTD SQUASHFS_XATTR XZ_DEC XZ_DEC_X86
CC_OPTIMIZE_FOR_PERFORMANCE HW_RANDOM UML_RANDOM
"""
_UNALIGNED = "HAVE_EFFICIENT_UNALIGNED_ACCESS"
_CHANGES = (
    (
        "arch/x86/um/Kconfig",
        "config UML_X86\n\tdef_bool y\n",
        f"config UML_X86\n\tdef_bool y\n\tselect {_UNALIGNED}\n",
    ),
    (
        "arch/x86/um/user-offsets.c",
        "DEFINE_LONGS(HOST_FP_SIZE, 2696);",
        "DEFINE_LONGS(HOST_FP_SIZE, 16384);",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelBuild:
    """A kernel, and what to ask of its mounts.

    :param threads: the mount option ``threads=``; empty if there is no such choice.
    """

    version: str
    file_mode: str
    decompressors: str
    path: Path
    threads: str = ""

    @property
    def name(self) -> str:
        """A short name."""
        return f"{self.version}-{self.file_mode}-{self.decompressors}"


def builds(work: Path) -> Iterator[KernelBuild]:
    """Yield the kernels that :func:`build_all` makes."""
    for version in SUITES:
        choice = has_choice(version)
        for file_mode in FILE_MODES:
            for decompressors in _kinds(version):
                name = f"{version}-{file_mode}" + (
                    "" if choice else f"-{decompressors}"
                )
                yield KernelBuild(
                    version=version,
                    file_mode=file_mode,
                    decompressors=decompressors,
                    path=work / "kernels" / name,
                    threads=decompressors if choice else "",
                )


def _kinds(version: str) -> Iterator[str]:
    """Yield the decompressors that a version is asked for.

    Up to two for each processor make a difference if there are several.
    """
    yield from DECOMPRESSORS
    if has_processors(version):
        yield "multi"


def has_choice(version: str) -> bool:
    """Return whether a version chooses its decompressors at mount."""
    return _numbers(version) >= _FIRST_WITH_CHOICE


def has_processors(version: str) -> bool:
    """Return whether a version has several processors in user mode."""
    return _numbers(version) >= _FIRST_WITH_PROCESSORS


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def build_all(work: Path, versions: Sequence[str], *, jobs: int) -> None:
    """Fetch, unpack and build what isn't there yet.

    :raises PrimeError: if apt or the compiler fails.
    """
    for kernel in builds(work):
        if kernel.version in versions and not kernel.path.exists():
            source = unpack_source(work, kernel.version)
            output = work / "objects" / kernel.version
            output.mkdir(parents=True, exist_ok=True)
            config = work / f"{kernel.path.name}.config"
            config.write_text(_config(kernel), encoding="ascii")
            make = ["make", "ARCH=um", f"O={output}", f"-j{jobs}"]
            run_quietly([*make, f"KCONFIG_ALLCONFIG={config}", "allnoconfig"], source)
            run_quietly(make, source)
            kernel.path.parent.mkdir(exist_ok=True)
            shutil.copy2(output / "linux", kernel.path)


def _config(kernel: KernelBuild) -> str:
    options = dict.fromkeys(_CONFIG.split(), "y") | {"KERNEL_STACK_ORDER": "4"}
    options[f"SQUASHFS_FILE_{kernel.file_mode.upper()}"] = "y"
    if has_processors(kernel.version):
        options |= {"SMP": "y", "NR_CPUS": str(PROCESSORS)}
    if kernel.threads:
        options["SQUASHFS_CHOICE_DECOMP_BY_MOUNT"] = "y"
    else:
        options[f"SQUASHFS_DECOMP_{DECOMPRESSORS[kernel.decompressors]}"] = "y"
    return "".join(f"CONFIG_{option}={value}\n" for option, value in options.items())


def unpack_source(work: Path, version: str) -> Path:
    """Return the unpacked source, without drivers that aren't built."""
    source = work / "source" / f"linux-source-{version}"
    if not source.exists():
        (package,) = fetch(work, SUITES[version], [f"linux-source-{version}"])
        unpacked = work / "source" / version
        unpacked.mkdir(parents=True, exist_ok=True)
        run_tool(["dpkg-deb", "-x", str(package), str(unpacked)])
        (archive,) = (unpacked / "usr/src").glob("linux-source-*.tar.xz")
        unused = [f"--exclude=*/drivers/{name}/*.[ch]" for name in _UNUSED_SOURCES]
        run_tool(["tar", "-C", str(source.parent), "-xf", str(archive), *unused])
        shutil.rmtree(unpacked)
    for path, before, after in _CHANGES:
        file = source / path
        text = file.read_text(encoding="utf-8")
        if after not in text:
            file.write_text(text.replace(before, after, 1), encoding="utf-8")
    return source


def fetch(work: Path, suite: str, packages: Sequence[str]) -> list[Path]:
    """Download packages of a Debian suite, with its security updates.

    :returns: their files.
    :raises PrimeError: if apt fails.
    """
    state = work / "apt" / suite
    for directory in ("lists/partial", "cache/archives/partial"):
        (state / directory).mkdir(parents=True, exist_ok=True)
    sources = state / "sources.list"
    lines = [f"deb [signed-by={KEYRING}] {debian_mirror()} {suite} main"]
    if not suite.endswith("-backports"):
        security = debian_mirror("Debian-Security")
        lines.append(f"deb [signed-by={KEYRING}] {security} {suite}-security main")
    sources.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = [
        f"--option={key}={value}"
        for key, value in {
            "APT::Sandbox::User": "",
            "Dir::Cache": state / "cache",
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::lists": state / "lists",
        }.items()
    ]
    run_tool(["apt-get", *options, "update"])
    run_tool(["apt-get", *options, "download", *packages], directory=state)
    return [next(state.glob(f"{package}_*.deb")) for package in packages]


def run_quietly(command: Sequence[str], directory: Path) -> None:
    """Run a compiler or what calls one.

    :raises PrimeError: if it fails, with the end of what it said.
    """
    done = subprocess.run(
        command,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        lines = "\n  ".join(done.stderr.splitlines()[-5:])
        message = f"{' '.join(command)} failed:\n  {lines}"
        raise PrimeError(message, exit_status=os.EX_SOFTWARE)
