"""Which modules of the advisor can be damaged so that ``enforce`` lets a pack pass.

Each module that a pack loads is truncated, given a syntax error and removed, one at a
time, in a copy of the installation; the tests' own craft application then packs a snap
that keeps the policy. All of these packs have to stop.

usage: damaged_modules.py [MODULE…]    (paths below the package; default: all loaded)
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from host_damage import HOW, PACKAGE, copy_advisor
from host_projects import LZO_PAYS, codecs_of, make_project, run_host_app

_LOADED = "HOST_APP_LOADED"
"""Variable with the file that the application writes the modules into it has loaded."""


def main() -> int:
    """Print which damage a pack survives, and how many it doesn't."""
    with tempfile.TemporaryDirectory(prefix="damaged-") as scratch:
        folder = Path(scratch)
        names = sys.argv[1:] or loaded_modules(folder / "whole")
        passed = [*_passing(folder, names)]
    for each in passed:
        print(f"passes: {each}")
    print(f"{len(names)} modules, {len(names) * len(HOW)} damages, {len(passed)} pass")
    return os.EX_OK if not passed else 1


def loaded_modules(folder: Path) -> list[str]:
    """Return the modules that a pack in the mode ``enforce`` loads."""
    found = folder / "loaded"
    project = _project(folder)
    ran = run_host_app(project, "pack", **{_LOADED: str(found)})
    if ran.status:
        raise SystemExit(ran.output)
    return sorted(
        str(Path(line).relative_to(PACKAGE))
        for line in found.read_text().splitlines()
        if Path(line).is_relative_to(PACKAGE)
    )


def _passing(folder: Path, names: list[str]) -> Iterator[str]:
    for name in names:
        for how, damage in HOW.items():
            print(f"{name}: {how}", file=sys.stderr)
            if _passes(folder / "one", name, damage):
                yield f"{name}: {how}"


def _passes(folder: Path, name: str, damage: Callable[[Path], object]) -> bool:
    copy_advisor(folder / "advisor")
    damage(folder / "advisor" / PACKAGE.name / name)
    project = _project(folder)
    variables: Mapping[str, str] = {"PYTHONPATH": str(folder / "advisor")}
    ran = run_host_app(project, "pack", **variables)
    packed = ran.status == 0 or bool(codecs_of(project))
    shutil.rmtree(folder)
    # A package does without its __init__.py: then the policy is kept after all.
    return packed and "KEEP 'compression: lzo'" not in ran.output


def _project(folder: Path) -> Path:
    return make_project(
        folder / "project",
        keys="compression: lzo",
        policy=f"{LZO_PAYS}mode: enforce\n",
    )


if __name__ == "__main__":
    sys.exit(main())
