"""A data set's rows, read back."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import BadDataError, NoInputError
from ..core.files import read_regular
from ..core.frozen import frozen
from ..core.units import MIB, Interval
from .columns import COLUMNS
from .dataset import current_rows, part_files

_NOT_READ = "report"
_LARGE = 2.0**63
_WEIGHTS_MAX_BYTES = 64 * MIB


@frozen
class DeviceLaunch:
    """What a cold launch of an app adds on a device; estimated.

    :param seconds: by codec, where that is known.
    """

    app: str
    device: str
    seconds: Mapping[str, Interval]


@frozen
class SnapRow:
    """A snap of the data set that has no error.

    :param added_bytes: by lzo over xz.
    :param saved_s: by lzo over xz, of the deciding app on the deciding device.
    :param findings: rule and severity, or undecided.
    """

    path: str
    digest: str
    name: str
    version: str
    codec: str
    kind: str
    verdict: str
    recommended: str
    image_bytes: int
    ten_largest_share: float | None
    added_bytes: Interval | None
    app: str | None
    device: str | None
    saved_s: Interval | None
    break_even_launches: float | None
    launches: tuple[DeviceLaunch, ...]
    findings: tuple[tuple[str, str], ...]

    def seconds_now(self, device: str | None = None) -> Interval | None:
        """Return what a cold launch adds with the codec that the snap has.

        :param device: the deciding one, or the first, where it is left out.
        """
        wanted = device or self.device
        for launch in self.launches:
            if launch.app == self.app and wanted in (None, launch.device):
                return launch.seconds.get(self.codec)
        return None


@frozen
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

    :raises NoInputError: where it isn't a data set.
    :raises BadDataError: where it is of another schema, or broken.
    """
    files = part_files(root)
    wanted = [column.name for column in COLUMNS if column.name != _NOT_READ]
    rows = [*current_rows(root, wanted)]
    rows.sort(key=lambda row: (row["name"] or "", row["path"]))
    return Fleet(
        where=str(root),
        version=files[0].parent.name.partition("=")[2],
        snaps=tuple(_snap(row) for row in rows if row["error"] is None),
        errors=tuple((r["path"], r["error"]) for r in rows if r["error"] is not None),
    )


def read_weights(path: Path) -> dict[str, float]:
    """Return weights by name of the snap, as a CSV with both columns has them.

    :raises NoInputError: where it can't be read.
    :raises BadDataError: where it has other columns, or what isn't a weight.
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
        name, weight = line.get("name"), _weight(line.get("weight"))
        if not name or weight is None:
            message = f"{str(path)!r}, line {number}: not a name and a weight"
            raise BadDataError(message, resolution=resolution)
        weights[name] = weight
    return weights


def _weight(text: str | None) -> float | None:
    try:
        weight = float(text or "")
    except ValueError:
        return None
    return weight if math.isfinite(weight) and 0 <= weight < _LARGE else None


def interval_of(row: Mapping[str, Any], name: str) -> Interval | None:
    """Return the interval that three columns hold; ``None`` where they are null."""
    low, mid, high = (row[f"{name}_{end}"] for end in ("low", "mid", "high"))
    return None if mid is None else Interval(low=low, mid=mid, high=high)


def _snap(row: Mapping[str, Any]) -> SnapRow:
    return SnapRow(
        path=row["path"],
        digest=row["digest"] or "",
        name=row["name"],
        version=row["version"],
        codec=row["codec"] or "",
        kind=row["kind"] or "",
        verdict=row["verdict"],
        recommended=row["recommended"],
        image_bytes=row["image_bytes"],
        ten_largest_share=row["ten_largest_share"],
        added_bytes=interval_of(row, "added_bytes"),
        app=row["app"],
        device=row["device"],
        saved_s=interval_of(row, "saved_s"),
        break_even_launches=row["break_even_launches"],
        launches=tuple(map(_launch, row["launches"] or ())),
        findings=tuple((f["rule"], f["severity"]) for f in row["findings"] or ()),
    )


def _launch(row: Mapping[str, Any]) -> DeviceLaunch:
    seconds = {codec: interval_of(row, f"{codec}_s") for codec in ("xz", "lzo")}
    return DeviceLaunch(
        app=row["app"],
        device=row["device"],
        seconds={codec: each for codec, each in seconds.items() if each is not None},
    )


def devices_of(snaps: Sequence[SnapRow]) -> list[str]:
    """Return the devices that launches were estimated for, in their order."""
    return list(
        dict.fromkeys(launch.device for snap in snaps for launch in snap.launches)
    )
