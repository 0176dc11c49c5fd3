"""SQL on a data set, by DuckDB."""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import UsageError
from ..core.terminal import printable
from ..report.markdown_printer import plain
from . import imported
from .dataset import current_rows, key_of, part_files

FORMATS = ("text", "json", "markdown", "csv")
_MOST_COLUMNS = 60
"""Of a cell in text."""

_VIEWS = """
CREATE VIEW launches AS SELECT path, name, codec, unnest(launches, recursive := true)
  FROM snaps;
CREATE VIEW findings AS SELECT path, name, unnest(findings, recursive := true)
  FROM snaps;
SET enable_external_access = false;
SET lock_configuration = true;
"""
"""What a query may see: these rows, but no file and no extension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows that a query returns.

    :param heads: names of columns.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def ask(root: Path, sql: str, *, before: Path | None = None) -> Answer:
    """Return a query's rows.

    :param root: the data set, which is the view ``snaps``; ``launches`` and
        ``findings`` have a row for each of theirs.
    :param before: an earlier data set, the view ``before``.
    :raises UsageError: if DuckDB doesn't take the query.
    :raises AdvisorError: if there is no such data set, or DuckDB isn't installed.
    """
    duckdb = imported("duckdb")
    with duckdb.connect() as connection, ExitStack() as until:
        for name, folder in (("snaps", root), ("before", before)):
            if folder is not None:
                _view(connection, name, folder, until)
        connection.execute(_VIEWS)
        try:
            found = connection.execute(sql)
            heads = tuple(column[0] for column in found.description or ())
            return Answer(heads=heads, rows=tuple(found.fetchall()))
        except duckdb.PermissionException as error:
            message = "The query reads or writes files, or loads an extension"
            raise UsageError(
                message,
                resolution="Ask only for the data set's views; -o FILE writes a file.",
            ) from error
        except duckdb.Error as error:
            message = "The query fails"
            raise UsageError(
                message,
                details=str(error),
                resolution="The views are snaps, launches and findings; with --since, "
                "also before. 'DESCRIBE snaps' lists columns.",
            ) from error


def _view(
    connection: Any,  # noqa: ANN401 # of duckdb
    name: str,
    root: Path,
    until: ExitStack,
) -> None:
    # Also checks that all files are of this schema.
    keys = [key_of(row) for row in current_rows(root, ())]
    connection.execute(f"CREATE TABLE {name}_keys AS SELECT unnest(?) AS key", [keys])
    # pyarrow takes only names that are UTF-8, so not the root's.
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    until.callback(os.close, descriptor)
    files = [
        f"/proc/self/fd/{descriptor}/{file.relative_to(root)}"
        for file in part_files(root)
    ]
    # Read by pyarrow, and only the columns that a query names: it can't name a file.
    rows = imported("pyarrow.dataset").dataset(files, partitioning="hive")
    connection.register(f"{name}_rows", rows)
    key = "coalesce(digest, 'path:' || path)"  # as key_of makes it
    connection.execute(
        f"CREATE VIEW {name} AS FROM {name}_rows WHERE {key} IN (FROM {name}_keys)"
    )


def render_answer(answer: Answer, form: str) -> str:
    """Return an answer in one of :data:`FORMATS`."""
    if form == "json":
        rows = [dict(zip(answer.heads, row, strict=True)) for row in answer.rows]
        return json.dumps(rows, indent=2, default=str) + "\n"
    if form == "csv":
        text = io.StringIO()
        table = (
            [each if _is_figure(each) else printable(str(each)) for each in row]
            for row in (answer.heads, *answer.rows)
        )
        csv.writer(text, lineterminator="\n").writerows(table)
        return text.getvalue()
    cells = [tuple(map(_cell, row)) for row in (answer.heads, *answer.rows)]
    if form == "markdown":
        head, *below = ([plain(cell) for cell in row] for row in cells)
        marked = (head, ["---"] * len(head), *below)
        return "".join(f"| {' | '.join(row)} |\n" for row in marked)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    figures = [all(map(_is_figure, col)) for col in zip(*answer.rows, strict=True)]
    figures = figures or [False] * len(widths)
    lines = (
        "  ".join(
            cell.rjust(width) if figure else cell.ljust(width)
            for cell, width, figure in zip(row, widths, figures, strict=True)
        )
        for row in cells
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float | None)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    text = printable(f"{value:,}" if isinstance(value, int) else str(value))
    return text if len(text) <= _MOST_COLUMNS else f"{text[: _MOST_COLUMNS - 1]}…"
