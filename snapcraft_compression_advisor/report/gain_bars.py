"""What lzo saves over xz, as bars of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.frozen import frozen
from ..core.units import format_seconds
from .lines import wrapped
from .page.texts import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .gain import Gain, Gains
    from .lines import TextStyle

_MOST_WIDE = 44
"""Characters of a bar; longer ones show no more."""

_LEAST_WIDE = 10
"""Below that, a bar shows nothing: the figures stand alone."""


@frozen
class _Marks:
    """The characters of a plot.

    :param bar: of an estimate's interval; ``middle`` is its middle.
    :param reach: of a measurement's; ``measured`` is its mean.
    """

    zero: str
    limit: str
    bar: str
    middle: str
    reach: str
    measured: str


_UNICODE = _Marks(
    zero="\N{BOX DRAWINGS LIGHT VERTICAL}",
    limit="\N{BOX DRAWINGS LIGHT QUADRUPLE DASH VERTICAL}",
    bar="\N{BOX DRAWINGS HEAVY HORIZONTAL}",
    middle="\N{BOX DRAWINGS HEAVY VERTICAL AND HORIZONTAL}",
    reach="\N{BOX DRAWINGS LIGHT HORIZONTAL}",
    measured="\N{BOX DRAWINGS LIGHT VERTICAL AND HORIZONTAL}",
)
_ASCII = _Marks(zero="|", limit=":", bar="=", middle="#", reach="-", measured="+")


@frozen
class _Axis:
    """Where figures are drawn.

    :param width: characters.
    """

    low: float
    high: float
    width: int

    def place(self, figure: float) -> int:
        """Return the column of a figure; those beyond an end are at the end."""
        share = (figure - self.low) / (self.high - self.low)
        return round(min(max(share, 0.0), 1.0) * (self.width - 1))


def gain_lines(found: Gains, style: TextStyle) -> Iterator[str]:
    """Yield a line for each saving: device, figures, and a bar if there's room."""
    few = len(found.shown) < len(found.every)
    of = f" of {found.apps[0]}" if len(found.apps) == 1 else ""
    title = f"lzo saves per cold launch{of} (estimated, with intervals)"
    yield from wrapped(title, style.wrap_columns)
    indent = "    " if len(found.apps) > 1 else "  "
    labels = [f"{g.place}, decides" if g.decides else g.place for g in found.shown]
    figures = [_figure(gain) for gain in found.shown]
    label_width, figure_width = (max(map(len, each)) for each in (labels, figures))
    left = len(indent) + label_width + 2 + figure_width + 2
    axis = _axis(found, min(_MOST_WIDE, style.wrap_columns - left))
    app = ""
    for gain, label, figure in zip(found.shown, labels, figures, strict=True):
        if gain.app != app and len(found.apps) > 1:
            yield f"  {gain.app}"
        app = gain.app
        bar = "" if axis is None else _bar(gain, found, axis, style)
        text = f"{label:{label_width}}  {figure:{figure_width}}"
        yield f"{indent}{style.bold(text) if gain.decides else text}  {bar}"
    if axis is not None:
        yield " " * left + _scale(found, axis)
    if few:
        apps = len({gain.app for gain in found.every})
        yield from wrapped(
            f"{apps - len(found.apps):,} other apps save amounts between these; "
            "--report and --format json show them.",
            style.wrap_columns,
            first="  ",
            rest="  ",
        )


def _figure(gain: Gain) -> str:
    return seconds(gain.saved_s).replace("\N{EN DASH}", " to ")


def _axis(found: Gains, width: int) -> _Axis | None:
    """Return an axis of all that is shown; ``None`` where it would be too short."""
    ends = [0.0, found.limit or 0.0]
    for gain in found.shown:
        figure = found.judged(gain)
        ends += [figure.low, figure.high] if figure else []
    low, high = min(ends), max(ends)
    if width < _LEAST_WIDE or low == high:
        return None
    return _Axis(low=low, high=high, width=width)


def _bar(gain: Gain, found: Gains, axis: _Axis, style: TextStyle) -> str:
    marks, figure = _UNICODE if style.unicode else _ASCII, found.judged(gain)
    drawn = [" "] * axis.width
    if figure is not None:
        first, last = axis.place(figure.low), axis.place(figure.high)
        line = marks.bar if gain.estimate else marks.reach
        drawn[first : last + 1] = [line] * (last + 1 - first)
    drawn[axis.place(0.0)] = marks.zero
    if found.limit is not None:
        drawn[axis.place(found.limit)] = marks.limit
    if figure is not None:
        middle = marks.middle if gain.estimate else marks.measured
        drawn[axis.place(figure.mid)] = middle
    return style.bar("".join(drawn).rstrip(), strong=gain.decides)


def _scale(found: Gains, axis: _Axis) -> str:
    """Return what is below the bars: zero, and what the policy asks for."""
    zero, drawn = axis.place(0.0), [" "] * axis.width
    drawn[zero] = "0"
    if found.limit is None:
        return "".join(drawn)
    asked = (
        format_seconds(found.limit)
        if found.least_share is None
        else f"{100 * found.limit:g}%"
    )
    label = f"policy: {asked}"
    if len(label) > axis.width:
        label = asked
    start = max(0, min(axis.place(found.limit), axis.width - len(label)))
    if start <= zero + 1:
        drawn[zero] = " "
    drawn[start : start + len(label)] = label
    return "".join(drawn)
