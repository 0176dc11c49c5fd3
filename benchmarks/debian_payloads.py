"""Payloads that benchmarks build from Debian's packages, and how they are packed."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

from measured_process import Measured, run_measured
from snapcraft_compression_advisor.payload.scan import exclude_file_text
from snapcraft_compression_advisor.squashfs import mksquashfs

PAYLOADS = {
    "cli": ["jq"],
    "python-app": [
        "python3-numpy", "python3-matplotlib", "python3-scipy", "python3-tk",
    ],
    "browser": ["chromium"],
    "office": ["libreoffice-calc", "libreoffice-writer"],
    "game": ["supertuxkart"],
}  # fmt: skip
COMMANDS = {
    "browser": ("usr/bin/chromium", "--no-sandbox"),  # as root, it wants that
    "office": ("usr/bin/soffice", "--calc"),
    "game": ("usr/games/supertuxkart",),
}
"""Those that have windows, and how they are started."""
ADVICE_RUNS = 3
STUDY = Path(__file__).parents[1] / "study"


def build_prime(name: str, prime: Path, cache: Path) -> None:
    """Build a payload from Debian packages, unless it is there."""
    if not prime.is_dir():
        script = str(STUDY / "prime_from_debs.py")
        options = ["--name", name, "--output", str(prime), "--cache", str(cache)]
        if name in COMMANDS:
            options += ["--command", COMMANDS[name][0]]
        subprocess.run([sys.executable, script, *PAYLOADS[name], *options], check=True)


def pack(prime: Path, image: Path, codec: str) -> Measured:
    """Pack as ``snap pack`` does, measured."""
    exclude_file = image.with_suffix(".excludes")
    exclude_file.write_text(exclude_file_text())
    command = [
        "mksquashfs", ".", str(image.absolute()), *mksquashfs.pack_options(codec),
        "-wildcards", "-ef", str(exclude_file.absolute()),
        *mksquashfs.owner_options("app"),
    ]  # fmt: skip
    return run_measured(command, cwd=prime)


def tree_digest(tree: Path) -> str:
    """Return a digest of a directory's files; reading them puts them into the cache."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(tree.rglob("*")):
        digest.update(f"{path.relative_to(tree)}\0".encode(errors="surrogateescape"))
        if path.is_symlink():
            digest.update(os.fsencode(path.readlink()))
        elif path.is_file():
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    digest.update(part)
    return digest.hexdigest()


def machine() -> str:
    """Return what the figures were measured on and with, in a sentence."""
    return (
        f"{_processor()}, {os.cpu_count()} processors, {platform.machine()}, Python "
        f"{platform.python_version()}, mksquashfs {mksquashfs.mksquashfs_version()}."
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "processor of unknown name"


def note(name: str, text: str) -> None:
    """Say what is being measured."""
    sys.stderr.write(f"{name}: {text}\n")
