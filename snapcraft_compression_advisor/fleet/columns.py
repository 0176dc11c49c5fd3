"""The columns of a data set: rows from reports, and rows as Parquet.

A row has nothing that depends on when, where or by how many workers it was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..analysis import Analysis
from ..core.errors import BadDataError
from ..core.files import open_regular
from ..core.terminal import printable
from ..core.units import Interval
from ..launches import LaunchAnalysis
from ..lint.finding import LintedPayload
from ..report.advise_details import detail_sections
from ..report.advise_json import advise_json
from ..report.answer import advise_page
from ..report.charts import chart_sections
from ..report.document import saved_page
from ..report.files import largest_shares
from . import imported

_SCHEMA_VERSION = 2
"""Of the columns; a data set of another version is neither read nor added to."""

KNOWN = "known"
"""Key of what stands for a row that the data set has already; no column."""

_METADATA_KEY = b"compression-advisor fleet"
"""In a file: its schema's version, and the settings of its rows."""

_COMPRESSION = "zstd"
_ENDS = ("low", "mid", "high")

Row = Mapping[str, object]
Kind = Literal["string", "int64", "double", "launches", "findings"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the data set.

    :param kind: of its values; each may be null.
    :param text: what it holds, for the page on it.
    """

    name: str
    kind: Kind
    text: str


def _ends(name: str, text: str) -> Iterator[Column]:
    for end in _ENDS:
        yield Column(f"{name}_{end}", "double", f"{text}: {end} of the interval")


COLUMNS: tuple[Column, ...] = (
    Column("path", "string", "path or address of the snap, as it was found"),
    Column("file_bytes", "int64", "length of that file"),
    Column("file_stamp", "string", "when it was changed, or the store's ETag"),
    Column(
        "digest",
        "string",
        "of the image: `sha256:…`; null if it can't be read or no worker finishes it",
    ),
    Column("name", "string", "of the snap"),
    Column("version", "string", "of the snap"),
    Column("type", "string", "of the snap: app, base, gadget, …"),
    Column("base", "string", "of the snap"),
    Column("codec", "string", "with which it is packed"),
    Column("image_bytes", "int64", "length of the image; measured"),
    Column("files", "int64", "regular files"),
    Column("raw_bytes", "int64", "their length"),
    Column("data_blocks", "int64", "their blocks"),
    Column("largest_share", "double", "share of the largest file in raw_bytes"),
    Column("ten_largest_share", "double", "share of the ten largest"),
    *_ends("xz_bytes", "image with xz; measured if codec is xz, else estimated"),
    *_ends("lzo_bytes", "image with lzo; measured if codec is lzo, else estimated"),
    *_ends("added_bytes", "added by lzo over xz; estimated"),
    Column("app", "string", "the deciding app"),
    Column("device", "string", "the deciding device; null for an average"),
    *_ends("saved_s", "saved by lzo over xz in its cold launch; estimated"),
    Column("kind", "string", "of application, by its toolkit or run time"),
    Column("launch_bytes", "int64", "data of its launch; recorded or estimated"),
    Column("verdict", "string", "change, keep, no-benefit or undecided"),
    Column("recommended", "string", "compression to ship"),
    Column("break_even_launches", "double", "until the larger download has paid"),
    Column("launches", "launches", "seconds by app and device; estimated"),
    Column("findings", "findings", "of lint"),
    Column("error", "string", "why there is no advice; else null"),
    Column("error_status", "int64", "exit status of that error; else null"),
    Column("read_bytes", "int64", "read of a remote snap; null for a local one"),
    Column("report", "string", "the snap's own report, as JSON of 'advise'"),
    Column("page", "string", "the snap's own page, for 'fleet report'"),
)


def advice_row(
    analysis: Analysis, linted: LintedPayload, *, version: str, snap_type: str
) -> dict[str, object]:
    """Return the columns of an analysed snap."""
    payload, advice = analysis.payload, analysis.recommendation
    codecs, stored = analysis.trial.codecs, analysis.trial.stored
    shares = largest_shares(stored.layout) if stored else {}
    first = analysis.launches[0].launch_set if analysis.launches else None
    decides = advice.decisive
    details = (*chart_sections(analysis), *detail_sections(analysis, linted=linted))
    return {
        "name": payload.name,
        "version": version,
        "type": snap_type,
        "base": payload.base or None,
        "codec": payload.declared_compression,
        "image_bytes": payload.image_bytes,
        "files": payload.files,
        "raw_bytes": payload.raw_bytes,
        "data_blocks": payload.data_blocks,
        "largest_share": shares.get(1),
        "ten_largest_share": shares.get(10),
        **_figure("xz_bytes", codecs["xz"].image_bytes),
        **_figure("lzo_bytes", codecs["lzo"].image_bytes),
        **_figure("added_bytes", advice.bytes_added),
        "app": decides.app if decides else first and first.app,
        "device": decides.device if decides and not decides.shares else None,
        **_figure("saved_s", decides.seconds if decides else None),
        "kind": first.basis.kind if first and first.basis else None,
        "launch_bytes": round(first.read_bytes.mid) if first else None,
        "verdict": advice.verdict,
        "recommended": advice.compression,
        "break_even_launches": advice.break_even_launches,
        "launches": [row for each in analysis.launches for row in _launch_rows(each)],
        "findings": [
            {
                "rule": each.rule,
                "severity": "undecided" if each.undecided else each.severity,
                "message": printable(each.message),
            }
            for each in linted.findings
        ],
        "report": advise_json(analysis, linted=linted),
        "page": saved_page(advise_page(analysis, details=details)),
    }


def _launch_rows(launch: LaunchAnalysis) -> Iterator[Row]:
    known = launch.launch_set
    savings = {each.device: each.seconds for each in launch.savings() if known.files}
    for device, costs in launch.estimates.items():
        xz, lzo = (
            costs[codec].added_s if codec in costs else None for codec in ("xz", "lzo")
        )
        yield {
            "app": known.app,
            "device": device,
            "source": known.source,
            **_figure("xz_s", xz),
            **_figure("lzo_s", lzo),
            **_figure("saved_s", savings.get(device)),
        }


def _figure(name: str, figure: Interval | None) -> dict[str, float | None]:
    return {
        f"{name}_{end}": None if figure is None else getattr(figure, end)
        for end in _ENDS
    }


def encode(rows: Sequence[Row], settings: str) -> bytes:
    """Return rows as a Parquet file.

    :param settings: digest of what the rows depend on besides the snaps.
    """
    arrow, parquet = imported("pyarrow"), imported("pyarrow.parquet")
    text, figure = arrow.string(), arrow.float64()
    launch = [(name, text) for name in ("app", "device", "source")]
    launch += [
        (f"{n}_{e}", figure) for n in ("xz_s", "lzo_s", "saved_s") for e in _ENDS
    ]
    finding = [(name, text) for name in ("rule", "severity", "message")]
    kinds = {
        "string": text,
        "int64": arrow.int64(),
        "double": figure,
        "launches": arrow.list_(arrow.struct(launch)),
        "findings": arrow.list_(arrow.struct(finding)),
    }
    schema = arrow.schema([(column.name, kinds[column.kind]) for column in COLUMNS])
    metadata = json.dumps({"schema": _SCHEMA_VERSION, "settings": settings})
    table = arrow.Table.from_pylist(
        [*rows], schema=schema.with_metadata({_METADATA_KEY: metadata.encode()})
    )
    sink = arrow.BufferOutputStream()
    parquet.write_table(table, sink, compression=_COMPRESSION)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode(
    path: Path, columns: Sequence[str] | None = None
) -> tuple[list[dict[str, Any]], str]:
    """Return a file's rows, and the digest of the settings they were made with.

    :param columns: names; all unless given.
    :raises BadDataError: if it isn't a fleet's file, or of another schema.
    """
    arrow, parquet = imported("pyarrow"), imported("pyarrow.parquet")
    try:
        # Opened here: its directory's name isn't to become a column, or may not be
        # UTF-8.
        with open_regular(path) as opened, parquet.ParquetFile(opened) as file:
            metadata = file.schema_arrow.metadata or {}
            settings = _settings(metadata.get(_METADATA_KEY, b"null"), path)
            table = file.read(columns=None if columns is None else [*columns])
    except (arrow.ArrowException, OSError) as error:
        raise _broken(path, str(error)) from error
    return table.to_pylist(), settings


def _settings(metadata: bytes, path: Path) -> str:
    """Return the settings of a file of this schema's version."""
    try:
        found = json.loads(metadata)
    except ValueError as error:
        raise _broken(path, str(error)) from error
    if not isinstance(found, dict) or "settings" not in found:
        raise _broken(path, "its metadata don't name a schema")
    version = found.get("schema")
    if version != _SCHEMA_VERSION:
        message = (
            f"{str(path)!r} is of schema version {version!r}, not {_SCHEMA_VERSION}"
        )
        raise BadDataError(
            message, resolution="Make a new data set, in another directory."
        )
    return str(found["settings"])


def _broken(path: Path, details: str) -> BadDataError:
    return BadDataError(
        f"{str(path)!r} isn't a part of a fleet's data set",
        details=details,
        resolution="Remove the file; the next run makes its rows again.",
    )
