#!/usr/bin/env python3
"""What each room weighs, beside its limit; fails if one is above.

Lines of Python count, docstrings and blanks too. Raising a limit is a commit of its own
that says why.
"""

import sys
from pathlib import Path
from statistics import median

PACKAGE = "snapcraft_compression_advisor"
ROOM_LINES = {
    "core": 1_300,
    "codecs": 900,
    "squashfs": 1_600,
    "payload": 4_000,
    "trial": 1_900,
    "devices": 950,
    "launch": 1_425,
    "launch/guess": 6_050,
    "advice": 1_050,
    "settings": 1_125,
    "project": 900,
    "refresh": 1_125,
    "diff": 1_075,
    "preflight": 650,
    "trim": 1_350,
    "lint": 3_325,
    "capture": 6_300,
    "report": 5_275,
    "fleet": 2_375,
    "cli": 3_475,
    "host": 1_800,
}
"""Of the package's rooms, without those inside that have a limit of their own."""

TREES = {
    PACKAGE: (48_000, 270),
    "tests": (42_000, 210),
    "study": (11_500, 66),
    "benchmarks": (2_500, 18),
}
"""Lines and files of whole trees."""


def line_counts(tree: Path) -> dict[Path, int]:
    """Return the lines of each Python file below a directory."""
    return {
        path.relative_to(tree): len(path.read_text().splitlines())
        for path in sorted(tree.rglob("*.py"))
    }


def room_of(path: Path) -> str:
    """Return the innermost room with a limit that a file of the package is in."""
    for parent in path.parents:
        if str(parent) in ROOM_LINES:
            return str(parent)
    return path.parts[0] if len(path.parts) > 1 else "."


def main() -> int:
    """Print the table; return 1 if a limit is exceeded, or a room has none."""
    top = Path(__file__).resolve().parent.parent
    package = line_counts(top / PACKAGE)
    rooms: dict[str, list[int]] = {}
    for path, lines in package.items():
        rooms.setdefault(room_of(path), []).append(lines)
    exceeded = []

    def row(name: str, lines: list[int], line_limit: int, file_limit: int = 0) -> None:
        files = f"{len(lines)}" + (f" of {file_limit}" if file_limit else "")
        over = sum(lines) > line_limit or 0 < file_limit < len(lines)
        mark = "  EXCEEDED" if over else ""
        print(f"{name:30}{sum(lines):8,} of {line_limit:6,}{files:>12}{mark}")
        exceeded.extend([name] if over else [])

    print(f"{'':30}{'lines':>8}    {'limit':>6}{'files':>12}")
    for room in sorted(rooms.keys() - {"."}):
        row(room, rooms[room], ROOM_LINES.get(room, 0))
    for tree, limits in TREES.items():
        row(tree, list(line_counts(top / tree).values()), *limits)
    print(f"Median file of the package: {median(package.values()):g} lines")
    return bool(exceeded)


if __name__ == "__main__":
    sys.exit(main())
