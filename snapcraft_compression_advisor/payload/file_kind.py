"""What a file's name says about its contents."""

from __future__ import annotations


def kind_of_file(path: str) -> str:
    """Return the kind of a file: its suffix, mostly.

    >>> kind_of_file("usr/lib/libx.so.1.2")
    'so'
    """
    name = path.rpartition("/")[2]
    if ".so" in name:
        return "so"
    return name.rpartition(".")[2][:8] if "." in name else ""
