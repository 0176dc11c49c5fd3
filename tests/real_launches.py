"""Payloads that can really be started, for integration tests."""

import random
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from trees import fill

BLOCK = 128 * 1024
needs_x = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb")

SNAP_YAML = """\
name: launchy
version: '1.0'
summary: A sample
description: A sample
base: core24
architectures: [amd64]
environment:
  GREETING: hello from $SNAP_NAME
apps:
  launchy:
    command: bin/launchy
  daemon:
    command: bin/daemon
  crash:
    command: bin/crash
  slow:
    command: bin/slow
  first-run:
    command: bin/first-run
"""

SCRIPTS = {
    "launchy": """
        head -c 1 "$SNAP/data/first" > /dev/null
        dd if="$SNAP/data/middle" of=/dev/null bs=4k skip=96 count=1 2> /dev/null
        cat "$SNAP/data/whole" > /dev/null
        : < "$SNAP/data/opened"
        echo "$GREETING"
    """,
    "daemon": """
        setsid sleep 4711 > /dev/null 2>&1 &
        echo started
    """,
    "crash": """
        echo "cannot find the thing" >&2
        exit 7
    """,
    "slow": """
        setsid sleep 4712 > /dev/null 2>&1 &
        echo sleeping
        sleep 4712
    """,
    "first-run": """
        [ -e "$HOME/profile" ] || cat "$SNAP/data/whole" > "$HOME/profile"
        head -c 1 "$SNAP/data/first" > /dev/null
    """,
}
"""Shell scripts by name; the shell and its tools are the host's."""


def add_escape(program: Path, target: Path) -> None:
    """Have a shell script write to a file outside of its payload, and go on."""
    first, _, others = program.read_text().partition("\n")
    program.write_text(f"{first}\n(echo > {target}) 2> /dev/null\n{others}")


def fill_launchable(prime: Path) -> Path:
    """Fill a prime directory with apps that read what their scripts say."""
    fill(prime, {"meta/snap.yaml": SNAP_YAML})
    for name, text in SCRIPTS.items():
        lines = "\n".join(line.strip() for line in text.strip().splitlines())
        fill(prime, {f"bin/{name}": f"#!/bin/sh\n{lines}\n"})
    noise = random.Random(3)
    for name in ("first", "middle", "whole", "opened", "unread"):
        fill(prime, {f"data/{name}": noise.randbytes(8 * BLOCK + 1000)})
    return prime


def bring_xlib(directory: Path) -> None:
    """Put python-xlib and what it needs into a directory of a payload."""
    for name in ("Xlib", "six"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        place = Path(spec.origin)
        if name == "six":
            shutil.copy(place, directory)
        else:
            shutil.copytree(place.parent, directory / name)
