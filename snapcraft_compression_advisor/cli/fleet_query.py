"""``compression-advisor fleet-query``: SQL on a fleet's data set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import ClassVar

from ..fleet.query import FORMATS, ask, render_answer
from .arguments import Arguments, Command, details, format_argument, output_argument
from .write import check_outputs, write_output

DATASET = details("directory that 'fleet' made", type=Path)
SINCE = details("an earlier data set of the same snaps (default: none)", type=Path)


class FleetQueryCommand(Command):
    """Ask a data set."""

    name = "fleet-query"
    overview = (
        "Run SQL on a data set, by DuckDB. The view 'snaps' has a row for each snap, "
        "'launches' one for each app and device of it, 'findings' one for each of its "
        "findings. With --since, 'before' is the earlier data set.\n\n"
        "'fleet query' is the same command. It needs the extra [fleet]."
    )

    arguments: ClassVar[Arguments] = {
        "DATASET": DATASET,
        "SQL": "one statement, such as 'SELECT codec, count(*) FROM snaps GROUP BY "
        "codec'",
        "--since DATASET": SINCE,
        **format_argument(FORMATS, text="the answer"),
        **output_argument(text="the answer"),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the answer."""
        check_outputs(parsed_args.output)
        answer = ask(parsed_args.dataset, parsed_args.sql, before=parsed_args.since)
        write_output(render_answer(answer, parsed_args.format), parsed_args.output)
