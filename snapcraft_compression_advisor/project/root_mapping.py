"""The root mapping of a snapcraft.yaml: which key stands where in the text."""

from __future__ import annotations

from dataclasses import dataclass

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""What YAML 1.1 reads as null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootNode:
    """A key or a value of the root mapping.

    :param start: index of its first character, that of its anchor or tag if any.
    :param end: index after its last character; for a block scalar, after the line
        break and the blank lines that follow it.
    :param line: line of ``start``, from 1.
    :param scalar: its text as YAML reads it, also through an alias; ``None`` for a
        mapping or sequence.
    :param style: ``'``, ``"``, ``|`` or ``>`` of a scalar; empty where it is plain.
    :param is_alias: whether it is an alias (``*name``).
    :param anchor: its anchor (``&name``), or the one that the alias refers to.
    :param tag: its tag, where one is written (``!!str``).
    :param digest: SHA-256 of all of its events.
    """

    start: int
    end: int
    line: int
    scalar: str | None
    style: str
    is_alias: bool
    anchor: str | None
    tag: str | None
    digest: bytes

    @property
    def is_null(self) -> bool:
        """Whether it is an empty or null plain scalar."""
        return not self.style and not self.tag and self.scalar in _NULLS


@dataclass(frozen=True, slots=True, kw_only=True)
class RootEntry:
    """One ``key: value`` of the root mapping."""

    key: RootNode
    value: RootNode


@dataclass(frozen=True, slots=True, kw_only=True)
class RootMapping:
    """The root mapping of a document.

    :param entries: its entries in the order of the text, no two with one key.
    :param is_flow: whether it is written with braces.
    """

    entries: tuple[RootEntry, ...]
    is_flow: bool

    def entry(self, key: str) -> RootEntry | None:
        """Return the entry with that key."""
        return next((each for each in self.entries if each.key.scalar == key), None)

    def digests_without(self, key: str) -> tuple[bytes, ...]:
        """Return what tells whether two documents say the same but for ``key``."""
        return tuple(
            digest
            for each in self.entries
            if each.key.scalar != key
            for digest in (each.key.digest, each.value.digest)
        )
