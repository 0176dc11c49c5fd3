"""Where labels of points go, so that they cover nothing.

Vega places labels only beside one another; these keep off points and lines as well. A
label for which there is no room is left out: tooltips and tables have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LETTER_PX = 6.8
"""Of a letter in the charts' font of 12 pixels; few texts are wider."""

_HEIGHT_PX = 15
_GAP_PX = 10
_STEP_PX = 6
_STEPS = 4
_CLEAR_PX = 2


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Tell whether two have a point in common, or nearly."""
        return (
            self.left < other.right + _CLEAR_PX
            and other.left < self.right + _CLEAR_PX
            and self.top < other.bottom + _CLEAR_PX
            and other.top < self.bottom + _CLEAR_PX
        )

    def within(self, other: Box) -> bool:
        """Tell whether it is inside of another."""
        return (
            self.left >= other.left
            and self.top >= other.top
            and self.right <= other.right
            and self.bottom <= other.bottom
        )


@frozen
class Label:
    """What to write at a point.

    :param texts: the one to prefer first.
    :param marks: what the point consists of: its symbol first, then its lines.
    """

    texts: tuple[str, ...]
    marks: tuple[Box, ...]


def place_labels(labels: Sequence[Label], frame: Box) -> list[tuple[str, Box] | None]:
    """Return each label's text and place; ``None`` where there is no room for it.

    :param frame: in which labels stay.
    """
    taken = [mark for label in labels for mark in label.marks]
    placed: list[tuple[str, Box] | None] = []
    for label in labels:
        found = next(
            (
                (text, box)
                for text in label.texts
                for box in _places(text, label.marks)
                if box.within(frame) and not any(map(box.meets, taken))
            ),
            None,
        )
        placed.append(found)
        if found is not None:
            taken.append(found[1])
    return placed


def _places(text: str, marks: Sequence[Box]) -> Iterator[Box]:
    """Yield where a label could stand, the best place first: beside its point."""
    width, symbol = LETTER_PX * len(text), marks[0]
    middle_x = (symbol.left + symbol.right) / 2
    middle_y = (symbol.top + symbol.bottom) / 2
    right, left = max(m.right for m in marks), min(m.left for m in marks)
    top, bottom = min(m.top for m in marks), max(m.bottom for m in marks)
    for step in range(_STEPS):
        gap = _GAP_PX + step * _STEP_PX
        for x, y in (
            (symbol.right + gap - _CLEAR_PX, middle_y),
            (symbol.right + gap, middle_y - gap),
            (symbol.right + gap, middle_y + gap),
            (symbol.left - gap - width, middle_y),
            (symbol.left - gap - width, middle_y - gap),
            (symbol.left - gap - width, middle_y + gap),
            *_beyond(middle_x - width / 2, top - gap, bottom + gap),
            *_beyond(right - width, top - gap, bottom + gap),
            *_beyond(left, top - gap, bottom + gap),
        ):
            yield Box(x, y - _HEIGHT_PX / 2, x + width, y + _HEIGHT_PX / 2)


def _beyond(x: float, *rows: float) -> Iterable[tuple[float, float]]:
    return ((x, y) for y in rows)
