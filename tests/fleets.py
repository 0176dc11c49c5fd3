"""Snaps and rows of fleets, for tests."""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor.cli.policy_options import lint_request
from snapcraft_compression_advisor.fleet.task import FleetRequest
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

if TYPE_CHECKING:
    from pathlib import Path


def make_snap(folder: Path, name: str, *, size_bytes: int = 60_000) -> Path:
    """Pack a snap of one app, whose contents depend on its name alone."""
    tree = folder / f"{name}.tree"
    (tree / "meta").mkdir(parents=True)
    (tree / "meta/snap.yaml").write_text(
        f"name: {name}\nversion: '1'\nbase: core24\n"
        f"apps: {{{name}: {{command: run}}}}\n"
    )
    words = random.Random(name).choices(("launch", "cold", "block", "xz"), k=size_bytes)
    (tree / "run").write_text("#!/bin/sh\n# " + " ".join(words)[:size_bytes])
    (tree / "run").chmod(0o755)
    snap = folder / f"{name}.snap"
    subprocess.run(
        ["mksquashfs", tree, snap, "-noappend", "-comp", "xz", "-no-fragments",
         "-all-root", "-no-xattrs", "-quiet", "-no-progress"],
        check=True,
    )  # fmt: skip
    return snap


def make_request() -> FleetRequest:
    """Return a request without a policy."""
    return FleetRequest(lint=lint_request(None, LintPolicy()))


def make_row(name: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 # any column
    """Return a row of a snap with lzo to gain from."""
    row = {
        "path": f"{name}.snap",
        "file_bytes": 10_000_000,
        "file_stamp": "1",
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
