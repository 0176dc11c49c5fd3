"""A prime directory as somebody would make it who means harm."""

import os
import re
import struct
from pathlib import Path

from elf_files import make_elf
from trees import fill

NAMES = (
    b"new\nline",
    b"red\x1b[31m\x07",
    b"\xff\xfe not UTF-8",
    b"carriage\rreturn\ttab",
    b"..x",
    b"-rf",
    b"$(touch EXECUTED)",
    b"`touch EXECUTED`;|&",
    b"quotes\"'",
    b"right\xe2\x80\xaeto left",
    b"|table|`",
    b"::error file=x::",
    b"<b>tag",
    b"n" * 255,
)
SHOWN = tuple(name for name in NAMES if re.search(rb"[\0-\x1f\x80-\xff]|::", name))
"""As many as a page has space for."""
SNAP_YAML = """\
name: hostile
version: '1'
base: core24
apps:
  hostile:
    command: bin/run
  out:
    command: ../outside/canary
  linked:
    command: out/canary
  elf:
    command: bin/needs
    environment:
      LD_LIBRARY_PATH: $SNAP/../outside:$SNAP/out:$SNAP/lib
"""
NEEDED = ("lib\nred\x1b[31m.so", "liboutside.so", "../outside/canary", "/etc/shadow")
"""Of a program: a library that is there, and ways out of the payload."""


def make_hostile_prime(root: Path, outside: Path) -> Path:
    """Fill a directory, and another one with what its links lead to.

    :param outside: a directory that nothing may be opened in.
    """
    canary = make_elf(needed=["liboutside.so"])
    fill(outside, {"canary": canary, "liboutside.so": make_elf()})
    files: dict[str, str | bytes] = {
        "meta/snap.yaml": SNAP_YAML,
        "bin/run": f"#!/bin/sh\ntouch {outside}/EXECUTED\nexec $SNAP/out/canary\n",
        "bin/elf": elf_bomb(),
        "bin/needs": make_elf(needed=NEEDED),
        f"lib/{NEEDED[0]}": make_elf(),
        "lib/libhuge.so": make_elf(needed=[f"l{n}" for n in range(3000)]),
    }
    fill(root, files)
    for number, odd in enumerate(NAMES):
        path = root / os.fsdecode(odd)
        # Large, and with a mode that the store refuses: so its name is on pages.
        path.write_bytes(b"some text %d\n" % number * (9000 if odd in SHOWN else 3000))
        path.chmod(0o4777 if odd in SHOWN else 0o644)
    for name, target in {
        "loop": "loop",
        "ping": "pong",
        "pong": "ping",
        "self": ".",
        "up": "../..",
        "out": os.fspath(outside),
        "lib/libout.so": os.fspath(outside / "canary"),
        "shadow": "/etc/shadow",
        "long": "x" * 4095,
    }.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    return root


def elf_bomb() -> bytes:
    """Return an ELF file whose thousand dynamic segments are one, of 9,000 tags."""
    headers, tags = 1000, 9000
    start = 64 + 56 * headers
    identity = b"\x7fELF" + bytes((2, 1, 1, 0)) + bytes(8)
    fields = (3, 62, 1, 0, 64, 0, 0, 64, 56, headers, 64, 0, 0)
    dynamic = struct.pack("<qQ", 5, 0) + struct.pack("<qQ", 1, 1) * tags
    size = start + len(dynamic)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 8)
    segment = struct.pack("<IIQQQQQQ", 2, 5, start, start, start, len(dynamic), 0, 8)
    header = identity + struct.pack("<HHIQQQIHHHHHH", *fields)
    return header + load + segment * (headers - 1) + dynamic
