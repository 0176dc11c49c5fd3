"""Pages that commands print, and save with ``--report``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from craft_cli import EmitterMode

from ..core.errors import UsageError
from ..core.terminal import emit
from ..report.html_printer import check_html_extra, print_html
from ..report.lines import FILE_STYLE, TextStyle, style_for
from ..report.markdown_printer import print_markdown
from ..report.model import Page
from ..report.text_printer import print_text
from .arguments import Arguments
from .write import write_output

FORMATS = ("text", "json", "markdown")
REPORT: Arguments = {
    "--report FILE": "also write a page to this file: .html (self-contained) or .md "
    "(default: none)"
}
_PRINTERS = {".html": print_html, ".htm": print_html, ".md": print_markdown}
"""By the ending of the file's name."""


def text_style(output: Path | None) -> TextStyle:
    """Return how text looks in a file, or on the standard output; verbose with -v."""
    style = FILE_STYLE if output else style_for(sys.stdout, os.environ)
    verbose = emit.get_mode() not in {EmitterMode.QUIET, EmitterMode.BRIEF}
    return style.with_all() if verbose else style


def write_page(page: Page, form: str, output: Path | None) -> None:
    """Write a page as text or as Markdown.

    :param output: as of :func:`write_output`.
    """
    text = print_markdown(page) if form == "markdown" else None
    write_output(text or print_text(page, text_style(output)), output)


def check_report_path(path: Path | None) -> None:
    """Refuse early what can't be written after minutes of work.

    :raises UsageError: if the name's ending is of no known form.
    :raises ToolError: if an HTML page needs what isn't installed.
    """
    if path is None:
        return
    if path.suffix.lower() not in _PRINTERS:
        message = f"{str(path)!r} is neither .html nor .md"
        raise UsageError(message, resolution="Specify a file such as report.html.")
    if path.suffix.lower() != ".md":
        check_html_extra()


def save_page(page: Page, path: Path | None) -> None:
    """Write a page to a file that :func:`check_report_path` accepts.

    :raises AdvisorError: if that isn't possible.
    """
    if path is not None:
        write_output(_PRINTERS[path.suffix.lower()](page), path)
