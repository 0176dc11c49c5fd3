"""A machine that has less than this one: fewer rights, or other programs."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_SYS_ADMIN = 21


def write_script(path: Path, text: str) -> Path:
    """Write a shell script that stands in for a program."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@contextmanager
def no_right_to_mount() -> Iterator[None]:
    """Go without CAP_SYS_ADMIN, which users who aren't root never have.

    Programs that root starts meanwhile get it back (capabilities(7)).
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # the first is the effective one, CAP_0 to CAP_31
    assert _LIBC.capget(header, sets) == 0
    before = sets[0]
    sets[0] = before & ~(1 << _CAP_SYS_ADMIN)
    assert _LIBC.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = before
        assert _LIBC.capset(header, sets) == 0
