"""The columns of a fleet's data set, and the row that a report makes.

A row has nothing that depends on when, where or by how many workers it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ..report.contract import Interval
from ..report.json_report import Report
from ..report.report_launch import LaunchReport

SCHEMA_VERSION = 1
"""Of the columns; a data set of another version is neither read nor added to."""

KNOWN = "known"
"""Key of what stands for a row that the data set has already; no column."""

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
    for end in ("low", "mid", "high"):
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
)
LAUNCH_TEXTS = ("app", "device", "source")
LAUNCH_FIGURES = tuple(
    f"{name}_{end}"
    for name in ("xz_s", "lzo_s", "saved_s")
    for end in ("low", "mid", "high")
)
FINDING_TEXTS = ("rule", "severity", "message")


def report_row(report: Report, *, version: str, snap_type: str) -> dict[str, object]:
    """Return the columns that a snap's report fills."""
    payload, advice = report.payload, report.recommendation
    codecs = report.trial.codecs
    sizes = report.file_sizes
    shares = {each.files: each.share for each in sizes.top} if sizes else {}
    first = report.launches[0] if report.launches else None
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
        "app": advice.decides.app if advice.decides else first and first.app,
        "device": advice.decides.device if advice.decides else None,
        **_figure("saved_s", advice.seconds_saved),
        "kind": first.guess.kind if first and first.guess else None,
        "launch_bytes": first.raw_bytes if first else None,
        "verdict": advice.verdict,
        "recommended": advice.compression,
        "break_even_launches": advice.break_even_launches,
        "launches": [row for each in report.launches for row in _launch_rows(each)],
        "findings": [
            {"rule": each.rule, "severity": _severity(each), "message": each.message}
            for each in report.findings or ()
        ],
        "report": report.model_dump_json(by_alias=True),
    }


def _severity(finding: object) -> str:
    undecided, severity = (getattr(finding, n) for n in ("undecided", "severity"))
    return "undecided" if undecided else severity


def _launch_rows(launch: LaunchReport) -> Iterator[Row]:
    for device, costs in launch.devices.items():
        saving = launch.savings.get(device)
        xz, lzo = (
            costs[codec].added_s if codec in costs else None for codec in ("xz", "lzo")
        )
        yield {
            "app": launch.app,
            "device": device,
            "source": launch.source,
            **_figure("xz_s", xz),
            **_figure("lzo_s", lzo),
            **_figure("saved_s", saving.seconds_saved if saving else None),
        }


def _figure(name: str, figure: Interval | None) -> dict[str, float | None]:
    return {
        f"{name}_{end}": None if figure is None else getattr(figure, end)
        for end in ("low", "mid", "high")
    }
