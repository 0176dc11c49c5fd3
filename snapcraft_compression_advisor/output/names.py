"""File names as people and JSON can take them."""

from __future__ import annotations


def printable(name: str) -> str:
    r"""Return a name with what isn't UTF-8 or would steer a terminal escaped.

    >>> printable("lib/\udcff")
    'lib/\\xff'
    """
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape").decode()
        for character in text
    )
