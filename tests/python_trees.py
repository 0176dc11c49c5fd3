"""Guesses of small trees with programs in Python."""

from elf_files import make_elf
from guesses import guessed
from snapcraft_compression_advisor.launch.guess.candidates import Candidates

PACKAGES = "usr/lib/python3/dist-packages"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PYTHON = {"usr/bin/python3": make_elf()}
SHEBANG = b"#!/usr/bin/python3\n"
HEAVY = f"{PACKAGES}/heavy.py"


def search(files: dict[str, bytes], command: str = "usr/bin/hello") -> Candidates:
    return guessed({**PYTHON, **files}, command)


def names(files: dict[str, bytes], command: str = "usr/bin/hello") -> set[str]:
    """Return what may be read of some files and of a module that few should find."""
    candidates = search({HEAVY: b"x = 1", **files}, command)
    expected = {candidate.entry.path for candidate in candidates.files}
    return expected | {entry.path for entry in candidates.possible}
