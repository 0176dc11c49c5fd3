"""Snaps and rows of fleets, for tests."""

import random
from pathlib import Path
from typing import Any

from image_sources import pack_as_snap
from snapcraft_compression_advisor.cli.settings_options import read_settings
from snapcraft_compression_advisor.fleet.columns import decode
from snapcraft_compression_advisor.fleet.dataset import part_files
from snapcraft_compression_advisor.fleet.task import FleetRequest
from snapcraft_compression_advisor.lint.lint import LintRequest
from snapcraft_compression_advisor.settings.settings import Settings
from trees import fill


def make_snap(folder: Path, name: str) -> Path:
    """Pack a snap of one app, some 100 KB that depend on its name alone."""
    text = f"name: {name}\nversion: '1'\nbase: core24\n"
    files: dict[str, str | bytes] = {
        "meta/snap.yaml": f"{text}apps: {{{name}: {{command: run}}}}\n",
        "run": "#!/bin/sh\n" + f"echo {name}\n" * 5_000,
        "noise": random.Random(name).randbytes(100_000),
    }
    tree = fill(folder / f"{name}.tree", files)
    return pack_as_snap(tree, folder / f"{name}.snap")


def rows_of(dataset: Path) -> list[dict[str, Any]]:
    """Return the rows of a data set's latest version, of all files."""
    return [row for file in part_files(dataset) for row in decode(file)[0]]


def make_request() -> FleetRequest:
    """Return a request without a policy."""
    return FleetRequest(lint=LintRequest(loaded=read_settings(None, Settings())))


def make_row(name: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 # any column
    """Return a row of a snap with lzo to gain from."""
    row = {
        "path": f"{name}.snap",
        "file_bytes": 10_000_000,
        "file_stamp": "1",
        "state": "1",
        "digest": f"sha256:{name}",
        "name": name,
        "codec": "xz",
        "image_bytes": 10_000_000,
        "verdict": "change",
        "recommended": "lzo",
        "launches": [],
        "findings": [],
    }
    return {**row, **changes}


def make_advice(
    name: str,
    *,
    saved_s: float,
    codec: str = "xz",
    **changes: Any,  # noqa: ANN401 # any column
) -> dict[str, Any]:
    """Return a row whose snap has an app, and a saving on one device."""
    xz, lzo = _ends("xz_s", 2 * saved_s), _ends("lzo_s", saved_s)
    saving = _ends("saved_s", saved_s)
    device = {"app": name, "device": "hdd-laptop", "source": "static"}
    gains = saved_s >= 0.25
    row = make_row(
        name,
        version="1",
        codec=codec,
        app=name,
        device="hdd-laptop",
        kind="GTK 4",
        verdict="change" if gains == (codec == "xz") else "keep",
        recommended="lzo" if gains else "xz",
        break_even_launches=4.0,
        launches=[{**device, **xz, **lzo, **saving}],
        findings=[{"rule": "SCA101", "severity": "error", "message": "Slow."}],
        **saving,
        **_ends("added_bytes", 2e6),
    )
    return {**row, **changes}


def _ends(name: str, mid: float) -> dict[str, float]:
    shares = {"low": 0.5, "mid": 1.0, "high": 1.5}
    return {f"{name}_{end}": mid * share for end, share in shares.items()}
