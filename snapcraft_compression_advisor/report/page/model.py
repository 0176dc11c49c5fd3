"""What a page consists of. Texts are plain: whoever renders them escapes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from ...core.frozen import frozen

if TYPE_CHECKING:
    from .charts import Drawing

Tone = Literal["change", "keep", "no-benefit", "undecided", "measured"]
"""How the page's head looks; it never is the only sign of the verdict."""


class Draw(Protocol):
    """Makes a drawing of a width."""

    def __call__(self, *, width: int) -> Drawing:
        """Return it; the width in pixels includes axes."""


@frozen
class Table:
    """Rows of texts under heads.

    :param caption: what the table is, for those who only hear it.
    :param short: the same in a few words, where it is folded beside its chart.
    :param names: columns that hold names of files, shown as code.
    :param words: columns that are read rather than compared: aligned to the left. The
        first one always is.
    :param links: addresses that the first cells of rows lead to, in their order; empty
        ones lead nowhere.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    short: str = ""
    names: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()
    links: tuple[str, ...] = ()


@frozen
class Chart:
    """A picture, what it shows in a sentence, and its figures as a table.

    :param key: a part of its address within the page.
    :param title: empty if a paragraph above says it.
    :param alt: one sentence for those who don't see it.
    :param wide: whether it takes the page's whole width.
    :param table: ``None`` where another chart's table or the section's holds the same.
    :param device: whose figures it shows, if readers choose one; else empty.
    :param what_if: whether it shows codecs that can't be shipped, which readers switch
        on; ``None`` if they don't choose.
    """

    key: str
    title: str
    alt: str
    draw: Draw
    wide: bool
    table: Table | None = None
    device: str = ""
    what_if: bool | None = None


@frozen
class Group:
    """Charts that belong together, such as one app's on several devices.

    :param heading: empty if the section's own says it.
    :param table: with the figures of all of them.
    :param open_table: whether the table is to be read rather than looked up.
    :param drawn: whether the charts show all of the table, so that it's only to be
        read where there are none.
    :param app: whose figures it shows, if readers choose one; else empty.
    :param notes: what else to know, to be looked up.
    :param table_note: a sentence below the table.
    """

    heading: str = ""
    paragraphs: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    table: Table | None = None
    open_table: bool = False
    drawn: bool = False
    app: str = ""
    notes: tuple[str, ...] = ()
    table_note: str = ""


@frozen
class Entry:
    """A point of a list, such as a finding.

    :param mark: a word before it.
    :param tone: of that word: error, warning, info.
    :param details: lines below it.
    """

    mark: str
    tone: str
    title: str
    text: str
    details: tuple[str, ...] = ()


@frozen
class Step:
    """Something to do next.

    :param text: what it brings, with figures and how they are known; may be empty.
    :param lines: to copy: a line of a file, or commands.
    """

    title: str
    text: str = ""
    lines: tuple[str, ...] = ()


@frozen
class Section:
    """A part of the page under a heading.

    :param key: its address within the page.
    :param folded: whether only its heading shows until a reader opens it.
    :param gist: a few words beside the heading, if it is folded.
    :param origin: whether its figures are measured, estimated or published.
    :param legend: how to read its charts; nothing where there are none.
    :param terms: pairs of a term and what it means or is.
    """

    key: str
    title: str
    folded: bool = False
    gist: str = ""
    origin: str = ""
    paragraphs: tuple[str, ...] = ()
    legend: str = ""
    groups: tuple[Group, ...] = ()
    steps: tuple[Step, ...] = ()
    entries: tuple[Entry, ...] = ()
    terms: tuple[tuple[str, tuple[str, ...]], ...] = ()


@frozen
class Tile:
    """A figure that counts.

    :param note: how sure it is, and where it comes from.
    """

    label: str
    figure: str
    note: str


@frozen
class Page:
    """The whole page.

    :param facts: what was looked at, in a line each.
    :param verdict: one sentence.
    :param reasons: sentences.
    :param device: whose charts show before a reader chooses another; empty if there is
        nothing to choose.
    """

    title: str
    tone: Tone
    verdict: str
    reasons: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    device: str = ""
    sections: tuple[Section, ...]
    version: str
