"""How VCDIFF writes copies and literals (RFC 3284, sections 5.3 to 5.6)."""

from __future__ import annotations

from dataclasses import dataclass, field

_NEAR_SLOTS, _SAME_SLOTS = 4, 3 * 256
_SELF, _HERE, _FIRST_NEAR = 0, 1, 2
_FIRST_SAME = _FIRST_NEAR + _NEAR_SLOTS
_SHORTEST_COPY, _LONGEST_COPY, _LONGEST_ADD = 4, 18, 17
"""Lengths that the default table has codes for."""
_FIRST_ADD, _FIRST_COPY, _COPY_CODES = 1, 19, 16
_ADD_COPY, _ADD_COPY_SAME, _COPY_ADD = 163, 235, 247
"""First codes of pairs: literals and a copy (by mode), a copy and one literal."""
_MOST_ADD_IN_PAIR, _MOST_COPY_IN_PAIR = 4, 6
_SMALL = tuple(bytes([value]) for value in range(0x80))


@dataclass(slots=True)
class Instructions:
    """The sections of instructions and addresses of one window.

    :param codes: the instructions, and lengths that the codes don't have.
    :param addresses: where copies come from.
    """

    codes: bytearray = field(default_factory=bytearray)
    addresses: bytearray = field(default_factory=bytearray)
    _near: list[int] = field(default_factory=lambda: [0] * _NEAR_SLOTS)
    _next_near: int = 0
    _same: dict[int, int] = field(default_factory=dict)
    _short_copy: int | None = None

    def add(self, length: int) -> None:
        """Write that so many literals follow, and no copy."""
        if length == 1 and self._short_copy is not None:
            self.codes[-1] = _COPY_ADD + self._short_copy
        else:
            self._single(_FIRST_ADD, length, 1, _LONGEST_ADD)
        self._short_copy = None

    def copy(self, length: int, address: int, here: int, *, literals: int = 0) -> None:
        """Write a copy.

        :param address: where the copied bytes are: in the old bytes, and behind them
            in the new ones that were sent before.
        :param here: where they go, counted likewise.
        :param literals: how many come before it.
        """
        mode = self._address(address, here)
        pair = 0 < literals <= _MOST_ADD_IN_PAIR and self._short_copy is None
        most = _MOST_COPY_IN_PAIR if mode < _FIRST_SAME else _SHORTEST_COPY
        if pair and _SHORTEST_COPY <= length <= most:
            if mode < _FIRST_SAME:
                code = _ADD_COPY + mode * 12 + (literals - 1) * 3
            else:
                code = _ADD_COPY_SAME + (mode - _FIRST_SAME) * 4 + literals - 1
            self.codes.append(code + length - _SHORTEST_COPY)
            return
        if literals:
            self.add(literals)
        self._single(
            _FIRST_COPY + mode * _COPY_CODES, length, _SHORTEST_COPY, _LONGEST_COPY
        )
        self._short_copy = mode if length == _SHORTEST_COPY else None

    def _single(self, code: int, length: int, shortest: int, longest: int) -> None:
        if shortest <= length <= longest:
            self.codes.append(code + length - shortest + 1)
        else:
            self.codes.append(code)
            self.codes += number(length)

    def _address(self, address: int, here: int) -> int:
        """Write an address the shortest way; return its mode."""
        best, mode = address, _SELF
        if here - address < best:
            best, mode = here - address, _HERE
        for slot, near in enumerate(self._near):
            if 0 <= address - near < best:
                best, mode = address - near, _FIRST_NEAR + slot
        place = address % _SAME_SLOTS
        if best >= len(_SMALL) and self._same.get(place) == address:
            mode = _FIRST_SAME + place // 256
            self.addresses.append(place % 256)
        else:
            self.addresses += number(best)
        self._near[self._next_near] = address
        self._next_near = (self._next_near + 1) % _NEAR_SLOTS
        self._same[place] = address
        return mode


def number(value: int) -> bytes:
    """Return a number in groups of seven bits (section 2)."""
    if value < len(_SMALL):
        return _SMALL[value]
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(0x80 | value & 0x7F)
    return bytes(reversed(groups))
