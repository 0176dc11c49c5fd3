"""``compression-advisor fleet-report``: the page of a whole fleet."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from ..core.errors import StorageError, UsageError
from ..core.scratch import replace_text
from ..core.terminal import emit
from ..fleet.dataset import current_rows
from ..fleet.page import build_fleet_page
from ..fleet.page_lists import FleetSources
from ..fleet.reading import read_fleet, read_weights
from ..report.document import read_page
from ..report.html_printer import check_html_extra, print_html
from ..report.markdown_printer import print_markdown
from .arguments import Arguments, Command, details
from .fleet_query import DATASET, SINCE
from .write import check_outputs, write_output

_RENDER = {".html": print_html, ".md": print_markdown}
_MODE = 0o644
_FEW_SNAPS = 100
"""Their reports take less than a minute."""
_UNSAFE = re.compile(r"[^A-Za-z0-9+.-]+")


class FleetReportCommand(Command):
    """Make a fleet's page."""

    name = "fleet-report"
    overview = (
        "Write a page on all snaps of a data set: which should change their "
        "compression, ranked by gain, codecs, distributions of cold launches and "
        "sizes, findings by rule, outliers. The snaps' own reports are written into "
        "a directory beside it, and the page links to them. 'fleet report' is the same "
        "command. It needs the extras [fleet] and, for .html, [report]."
    )

    arguments: ClassVar[Arguments] = {
        "DATASET": DATASET,
        "-o, --output FILE": details(
            "write the page to this file: .html (self-contained) or .md (required)",
            required=True,
        ),
        "--weights FILE": "a CSV with columns name and weight, such as devices or "
        "installs: gains are ranked by their product with it (default: all snaps count "
        "alike)",
        "--since DATASET": SINCE,
        "--pages": details(
            "which snaps' own reports to write (default: all of up to "
            f"{_FEW_SNAPS} snaps; of more, change: those whose verdict is to change "
            "the compression)",
            choices=("all", "change", "none"),
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Write the page and those that it links to."""
        output: Path = parsed_args.output
        if output.suffix not in _RENDER:
            message = f"{str(output)!r} is neither .html nor .md"
            raise UsageError(message, resolution="Specify a file such as fleet.html.")
        if output.suffix == ".html":
            check_html_extra()
        check_outputs(output)
        weights, since = parsed_args.weights, parsed_args.since
        fleet = read_fleet(parsed_args.dataset)
        few = len(fleet.snaps) <= _FEW_SNAPS
        pages = parsed_args.pages or ("all" if few else "change")
        sources = FleetSources(
            fleet=fleet,
            before=None if since is None else read_fleet(since),
            weights=None if weights is None else read_weights(weights),
            links=dict(_own_pages(parsed_args.dataset, output, pages)),
        )
        write_output(_RENDER[output.suffix](build_fleet_page(sources)), output)


def _own_pages(root: Path, output: Path, which: str) -> Iterator[tuple[str, str]]:
    """Write the snaps' own reports and yield where each is, by its digest."""
    folder = output.with_name(f"{output.stem}-snaps")
    columns = ["name", "verdict", "page"]
    for row in current_rows(root, columns) if which != "none" else ():
        if row["page"] is None or (which == "change" != row["verdict"]):
            continue
        stem = f"{row['name']}-{row['digest'].partition(':')[2][:12]}"
        page = folder / f"{_UNSAFE.sub('_', stem).lstrip('.')}{output.suffix}"
        emit.progress(f"Report of {row['name']}")
        _write(page, row["page"])
        yield row["digest"], f"{folder.name}/{page.name}"


def _write(page: Path, saved: str) -> None:
    text = _RENDER[page.suffix](read_page(saved))
    try:
        page.parent.mkdir(exist_ok=True)
        replace_text(page, text, mode=_MODE)
    except OSError as error:
        message = f"Cannot write {str(page)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Make room, or write elsewhere."
        ) from error
