"""A data set's rows, read back for its page and as a report of lint."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..core.errors import BadDataError, NoInputError
from ..core.files import read_regular
from ..core.units import MIB, Interval
from ..lint.finding import LintedPayload, LintReport, Severity
from ..report.lint_formats.saved import SavedFinding
from .columns import COLUMNS
from .dataset import PARTITION, current_rows, part_files

_NOT_READ = ("report", "page")
_PLAIN = (
    *("name", "version", "verdict", "recommended", "image_bytes"),
    *("app", "device", "break_even_launches"),
)
"""Columns that a row's fields are taken from as they are."""
_LARGE = 2.0**63
_WEIGHTS_MAX_BYTES = 64 * MIB
_FINDINGS = TypeAdapter(list[SavedFinding])


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapRow:
    """A snap of the data set that has no error.

    :param added_bytes: by lzo over xz.
    :param launches: estimated seconds of cold launches by codec, by app and device.
    :param saved_s: by lzo over xz, of the deciding app on the deciding device.
    :param findings: rule and severity, or undecided.
    """

    digest: str
    name: str
    version: str
    codec: str
    kind: str
    verdict: str
    recommended: str
    image_bytes: int
    added_bytes: Interval | None
    app: str | None
    device: str | None
    saved_s: Interval | None
    break_even_launches: float | None
    launches: Mapping[tuple[str, str], Mapping[str, Interval | None]]
    findings: tuple[tuple[str, str], ...]

    def seconds_now(self, device: str | None = None) -> Interval | None:
        """Return the seconds of a cold launch with the codec that the snap has.

        :param device: name; by default the deciding one, or the first.
        """
        wanted = device or self.device
        for (app, place), seconds in self.launches.items():
            if app == self.app and wanted in (None, place):
                return seconds.get(self.codec)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All rows of a data set.

    :param errors: path and message of the snaps that couldn't be analysed.
    """

    where: str
    version: str
    snaps: tuple[SnapRow, ...]
    errors: tuple[tuple[str, str], ...]


def read_fleet(root: Path) -> Fleet:
    """Return the rows of the latest version of the advisor, by name and path.

    :raises NoInputError: if it isn't a data set.
    :raises BadDataError: if it is of another schema, or broken.
    """
    files = part_files(root)
    wanted = [column.name for column in COLUMNS if column.name not in _NOT_READ]
    rows = [*current_rows(root, wanted)]
    rows.sort(key=lambda row: (row["name"] or "", row["path"]))
    return Fleet(
        where=str(root),
        version=_version(files[0]),
        snaps=tuple(_snap(row) for row in rows if row["error"] is None),
        errors=tuple((r["path"], r["error"]) for r in rows if r["error"] is not None),
    )


def read_weights(path: Path) -> dict[str, float]:
    """Return weights by name of the snap, from a CSV with both columns.

    :raises NoInputError: if it can't be read.
    :raises BadDataError: if it has other columns, or what isn't a weight.
    """
    resolution = "Write a line 'name,weight', then one for each snap."
    try:
        content = read_regular(path, _WEIGHTS_MAX_BYTES)
        lines = [*csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))]
    except OSError as error:
        message = f"Cannot read the weights {str(path)!r}: {error.strerror}"
        raise NoInputError(message, resolution="Check its path.") from error
    except (ValueError, csv.Error) as error:
        message = f"{str(path)!r} isn't a CSV of weights"
        raise BadDataError(
            message, details=str(error), resolution=resolution
        ) from error
    weights: dict[str, float] = {}
    for number, line in enumerate(lines, start=2):
        name = line.get("name")
        try:
            weight = float(line.get("weight") or "")
        except ValueError:
            weight = math.nan
        if not name or not 0 <= weight < _LARGE:
            message = f"{str(path)!r}, line {number}: not a name and a weight"
            raise BadDataError(message, resolution=resolution)
        weights[name] = weight
    return weights


def _interval(row: Mapping[str, Any], name: str) -> Interval | None:
    """Return the interval of three columns; ``None`` if they are null."""
    low, mid, high = (row[f"{name}_{end}"] for end in ("low", "mid", "high"))
    return None if mid is None else Interval(low=low, mid=mid, high=high)


def _snap(row: Mapping[str, Any]) -> SnapRow:
    fields: dict[str, Any] = {name: row[name] for name in _PLAIN}
    fields |= {name: row[name] or "" for name in ("digest", "codec", "kind")}
    fields |= {name: _interval(row, name) for name in ("added_bytes", "saved_s")}
    return SnapRow(
        **fields,
        launches={
            (each["app"], each["device"]): {
                codec: _interval(each, f"{codec}_s") for codec in ("xz", "lzo")
            }
            for each in row["launches"] or ()
        },
        findings=tuple((f["rule"], f["severity"]) for f in row["findings"] or ()),
    )


def _version(part: Path) -> str:
    return part.parent.name.removeprefix(PARTITION)


def lint_report(root: Path, fail_on: Severity) -> LintReport:
    """Return the findings of all snaps of a data set, by name and path.

    :param fail_on: the least severity that fails a snap.
    :raises AdvisorError: if it isn't a data set of this schema.
    """
    files = part_files(root)
    payloads = [
        LintedPayload(
            path=row["path"],
            snap_name=row["name"] or "",
            error=row["error"],
            fail_on=fail_on,
            findings=tuple(each.finding() for each in _findings(row["report"])),
        )
        for row in current_rows(root, ["path", "name", "error", "report"])
    ]
    payloads.sort(key=lambda each: (each.snap_name, each.path))
    return LintReport(version=_version(files[0]), payloads=tuple(payloads))


def _findings(report: str | None) -> list[SavedFinding]:
    # The rest of a report is large, and isn't needed.
    found = json.loads(report)["findings"] if report else None
    return _FINDINGS.validate_python(found or [])
