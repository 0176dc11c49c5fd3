"""Names of files as terminals, JSON and Markdown can take them."""

from __future__ import annotations

_BYTES_ESCAPED_FROM = 0xDC00
"""Where Python puts a byte that isn't UTF-8 (PEP 383): from U+DC80 on."""


def printable(name: str) -> str:
    r"""Return a name with what isn't UTF-8 or would steer a terminal escaped.

    >>> printable("lib/\udcff")
    'lib/\\xff'
    """
    return name if name.isprintable() else "".join(map(_printable, name))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - _BYTES_ESCAPED_FROM:02x}"
    return character.encode("unicode_escape").decode()
