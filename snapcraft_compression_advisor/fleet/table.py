"""Rows as Parquet: the schema, with its version in each file's metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import BadDataError
from ..core.files import open_regular
from .columns import (
    COLUMNS,
    FINDING_TEXTS,
    LAUNCH_FIGURES,
    LAUNCH_TEXTS,
    SCHEMA_VERSION,
    Row,
)
from .extra import imported

_KEY = b"compression-advisor fleet"
"""Of the metadata of a file: its schema's version, and the settings of its rows."""

_COMPRESSION = "zstd"


def encode(rows: Sequence[Row], settings: str) -> bytes:
    """Return rows as a Parquet file.

    :param settings: digest of what the rows depend on besides the snaps.
    """
    arrow, parquet = imported("pyarrow"), imported("pyarrow.parquet")
    told = json.dumps({"schema": SCHEMA_VERSION, "settings": settings})
    schema = _schema().with_metadata({_KEY: told.encode()})
    table = arrow.Table.from_pylist([*rows], schema=schema)
    sink = arrow.BufferOutputStream()
    parquet.write_table(table, sink, compression=_COMPRESSION)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode(
    path: Path, columns: Sequence[str] | None = None
) -> tuple[list[dict[str, Any]], str]:
    """Return a file's rows, and the digest of the settings they were made with.

    :param columns: those wanted; all where it is left out.
    :raises BadDataError: where it isn't a file of a fleet, or of another schema.
    """
    arrow, parquet = imported("pyarrow"), imported("pyarrow.parquet")
    try:
        # Opened here: its directory's name isn't to become a column, or may not be
        # UTF-8.
        with open_regular(path) as opened, parquet.ParquetFile(opened) as file:
            told = _told(file.schema_arrow.metadata or {}, path)
            table = file.read(columns=None if columns is None else [*columns])
    except (arrow.ArrowException, OSError) as error:
        raise _broken(path, str(error)) from error
    return table.to_pylist(), str(told["settings"])


def _told(metadata: Mapping[bytes, bytes], path: Path) -> Mapping[str, object]:
    try:
        told = json.loads(metadata.get(_KEY, b"null"))
    except ValueError as error:
        raise _broken(path, str(error)) from error
    if not isinstance(told, dict) or "settings" not in told:
        raise _broken(path, "its metadata don't name a schema")
    if told.get("schema") != SCHEMA_VERSION:
        message = (
            f"{str(path)!r} is of schema version {told.get('schema')!r}, not "
            f"{SCHEMA_VERSION}"
        )
        raise BadDataError(
            message, resolution="Make a new data set, in another directory."
        )
    return told


def _broken(path: Path, details: str) -> BadDataError:
    return BadDataError(
        f"{str(path)!r} isn't a part of a fleet's data set",
        details=details,
        resolution="Remove the file; the next run makes its rows again.",
    )


def _schema() -> Any:  # noqa: ANN401 # of pyarrow, which isn't always there
    arrow = imported("pyarrow")
    text, figure = arrow.string(), arrow.float64()
    launch = [(name, text) for name in LAUNCH_TEXTS]
    launch += [(name, figure) for name in LAUNCH_FIGURES]
    kinds = {
        "string": text,
        "int64": arrow.int64(),
        "double": figure,
        "launches": arrow.list_(arrow.struct(launch)),
        "findings": arrow.list_(arrow.struct([(n, text) for n in FINDING_TEXTS])),
    }
    return arrow.schema([(column.name, kinds[column.kind]) for column in COLUMNS])
