"""What a page consists of: one value for each command, printed by three printers.

Texts are plain, and a figure is a value: whoever prints them escapes and formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..core.units import Figure

Tone = Literal["change", "keep", "no-benefit", "undecided", "measured"]
"""How a headline looks; its words say the same."""

Severity = Literal["error", "warning", "info"]
"""How the word before a point of a list looks."""

Cell = str | Figure
Spec = dict[str, Any]
"""JSON of Vega or Vega-Lite: its shape is theirs to define."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of texts and figures under heads.

    :param caption: what the table is; it may stand below a title that says it.
    :param heads: of the columns; empty ones aren't printed.
    :param names: columns with names of files, which are shown as code.
    :param words: columns that are read rather than compared, so aligned to the left.
        The first one always is.
    :param links: addresses that the first cells lead to, in their order.
    :param above: a head above those from the third column on.
    :param charted: whether charts of the page show its figures, for pages with charts.
    :param widths: of columns as text that are all aligned to the left; by their
        contents if there are none.
    """

    caption: str = ""
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()
    links: tuple[str, ...] = ()
    above: str = ""
    charted: bool = False
    widths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture, for pages alone: tables and sentences have its figures.

    :param key: its address within the page.
    :param alt: what it shows, in a sentence.
    :param spec: of Vega-Lite, or of Vega if its schema says so.
    :param wide: whether it takes the page's whole width.
    """

    key: str
    title: str
    alt: str
    spec: Spec
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A point of a list, such as a finding.

    :param mark: a word before it.
    :param details: lines below it.
    """

    mark: str = ""
    tone: Severity = "info"
    title: str
    text: str = ""
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something to do next, or to paste.

    :param lines: to copy.
    :param short: the same in a few words, for a headline.
    """

    title: str
    lines: tuple[str, ...] = ()
    short: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a page; its title may be empty.

    :param short: whether the text shows it without ``-v``, and Markdown unfolded.
    :param opened: whether an HTML page shows it unfolded, as all that are short.
    :param origin: whether its figures are measured, estimated or published.
    """

    title: str = ""
    short: bool = False
    opened: bool = False
    origin: str = ""
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    entries: tuple[Entry, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def has_text(self) -> bool:
        """Whether there is anything in it besides charts."""
        return bool(self.sentences or self.tables or self.entries or self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All that a command has to say.

    :param title: of an HTML page.
    :param alerts: what goes before the answer.
    :param headline: the answer.
    :param note: what the answer is compared with, at the end of its line.
    :param commands: that the headline asks for.
    :param facts: what was looked at, for those who get the page from somebody else.
    :param more: what else the text's last line names, besides ``-v``, which then has
        sections that this page needn't have.
    """

    title: str
    tone: Tone = "measured"
    alerts: tuple[str, ...] = ()
    headline: str
    note: str = ""
    commands: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    sections: tuple[Section, ...]
    more: str = ""
