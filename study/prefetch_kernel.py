#!/usr/bin/env python3
"""Measure reading ahead on a kernel with several decompressors and two processors.

    .venv/bin/python study/kernels.py build --work DIR --versions 7.3
    sudo .venv/bin/python study/prefetch_kernel.py --work DIR PRIME…
    sudo .venv/bin/python study/prefetch_kernel.py PRIME…

For each prime directory (``prime_from_debs.py`` builds them), the script records the
launch of :data:`LAUNCHES` on this machine, lists what it reads, and packs an image with
xz. ``prefetch_inside.py`` then times it in user-mode Linux: without the list, with it,
and with a wrong one, each from mounts with one decompressor and with one for each
processor. Without ``--work``, the same launches are timed on this machine's own kernel.
They are added to study/data/prefetch-times.csv.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

import prefetch_prove
from kernel_builds import PROCESSORS, builds
from kernels import run_first
from prefetch_prove import BUDGET_BYTES, TOLD, add_rows
from prime_error import note
from snapcraft_compression_advisor.capture.packed_images import packed_images
from snapcraft_compression_advisor.capture.payload_copy import payload_copy
from snapcraft_compression_advisor.capture.recordings import recorded_profiles
from snapcraft_compression_advisor.capture.start import app_command
from snapcraft_compression_advisor.payload.snap_yaml import SNAP_YAML_PATH
from snapcraft_compression_advisor.payload.source import Payload, open_payload
from snapcraft_compression_advisor.prefetch.plan import plan_prefetch, wrong_ranges
from snapcraft_compression_advisor.prefetch.program import FOLDER, write_files
from snapcraft_compression_advisor.prefetch.prove import WITH, WITHOUT, WRONG
from snapcraft_compression_advisor.settings.policy_parts import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snapcraft_compression_advisor.prefetch.plan import PrefetchPlan

KERNEL = "7.3-direct-percpu"
"""The file mode of Debian's and Ubuntu's kernels."""
SHOWN_KERNEL = "7.3-um"
INSIDE = Path(__file__).parent / "prefetch_inside.py"
_CODEC = "xz"
_WRONG = "wrong-list"


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What is started of a prime directory, without a display or a network.

    :param environment: added to that of its snap.yaml.
    """

    command: str
    environment: Mapping[str, str] = field(default_factory=dict)


_PYTHON = {"PYTHONPATH": "$SNAP/usr/lib/python3/dist-packages"}
LAUNCHES: Mapping[str, Launch] = {
    "clamav": Launch(command="usr/bin/clamscan --version"),
    "cmake-curses-gui": Launch(command="usr/bin/cmake --help-full"),
    "git-lfs": Launch(command="usr/bin/git-lfs version"),
    "lnav": Launch(command="usr/bin/lnav -V"),
    "mutt": Launch(command="usr/bin/mutt -v"),
    "qemu-system-x86": Launch(command="usr/bin/qemu-system-x86_64 -device help"),
    "unbound": Launch(command="usr/sbin/unbound -V"),
    "yt-dlp": Launch(command="usr/bin/yt-dlp --help", environment=_PYTHON),
}
"""By the name of the snap; each ends by itself."""


def main() -> None:
    """Measure, and add to the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("primes", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, help="default: this machine's kernel")
    parser.add_argument("--starts", type=int, default=3, help="of the kernel")
    parser.add_argument("--rounds", type=int, default=3, help="for each start")
    arguments = parser.parse_args()
    for prime in arguments.primes:
        note(str(prime))
        if arguments.work is None:
            add_rows(measured_here(prime, arguments.starts * arguments.rounds))
        else:
            add_rows(measured(prime, arguments))


def measured_here(prime: Path, rounds: int) -> list[dict[str, object]]:
    """Return a row for every launch on this machine's own kernel."""
    with open_payload(prime) as payload, payload_copy(payload, None) as tree:
        _write_app(tree, payload.snap.name)
        return list(prefetch_prove.measured(tree, _CODEC, rounds, 0, until="exit"))


def measured(prime: Path, arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Return a row for every launch of a prime directory.

    The kernel is started anew for some rounds: what memory a start gets, and what else
    the host does meanwhile, makes launches differ more than within one start.
    """
    work = arguments.work.resolve()
    (kernel,) = (each for each in builds(work) if each.name == KERNEL)
    if not kernel.path.exists():
        sys.exit(f"{kernel.path} isn't there: build it with kernels.py")
    with open_payload(prime) as payload, payload_copy(payload, None) as tree:
        name = payload.snap.name
        _write_app(tree, name)
        with open_payload(tree) as started:
            plan = _prepare(started, tree, work)
    output = work / "launches.json"
    lines: list[dict[str, Any]] = []
    for start in range(arguments.starts):
        first = start * arguments.rounds + 1
        options = ["--first", str(first), "--rounds", str(arguments.rounds)]
        paths = ["--work", str(work), "--output", str(output)]
        run_first(kernel, work, INSIDE, [*paths, *options])
        lines += map(json.loads, output.read_text(encoding="utf-8").splitlines())
    whole = {
        "application": name,
        "codec": _CODEC,
        "read_mb_s": "",
        "kernel": SHOWN_KERNEL,
        "processors": PROCESSORS,
        "blocks": plan.blocks,
        "raw_bytes": plan.raw_bytes,
    }
    rows = [{**whole, **line, "wall_s": round(line["wall_s"], 6)} for line in lines]
    return sorted(rows, key=_place)


def _place(row: Mapping[str, object]) -> tuple[str, ...]:
    kind, round_ = str(row["kind"]), f"{row['round']:>4}"
    return str(row["decompressors"]), str(row["state"]), kind, round_


def _write_app(tree: Path, name: str) -> None:
    """Make what is started the snap's only app."""
    path = tree / SNAP_YAML_PATH
    yaml = YAML()
    document = yaml.load(path.read_text(encoding="utf-8"))
    launch = LAUNCHES[name]
    document["apps"] = {name: {"command": launch.command}}
    document.setdefault("environment", {}).update(launch.environment)
    path.unlink()
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)


def _prepare(payload: Payload, tree: Path, work: Path) -> PrefetchPlan:
    """Record the launch, and write its image and how it is started."""
    name = payload.snap.name
    wanted = Recording(app=name, until="exit", required=True)
    (profile,) = recorded_profiles(payload, (wanted,), TOLD)
    plan = plan_prefetch(payload, profile, BUDGET_BYTES)
    others = wrong_ranges(payload, plan)
    write_files(tree, plan, payload.snap)
    write_files(tree, plan, payload.snap, others, name=_WRONG)
    command = app_command(payload, name)
    listed = [(each.path, each.first, each.last) for each in (*plan.ranges, *others)]
    text = json.dumps(
        {
            "name": name,
            "words": command.words,
            "environment": dict(command.environment),
            "before": {
                WITHOUT: [],
                WITH: [f"$SNAP/{FOLDER}/{name}"],
                WRONG: [f"$SNAP/{FOLDER}/{_WRONG}"],
            },
            "listed": listed,
        }
    )
    (work / "launch.json").write_text(text, encoding="utf-8")
    with (
        open_payload(tree) as changed,
        packed_images(
            changed, (_CODEC,), scratch=work, progress=lambda _: None
        ) as images,
    ):
        shutil.copy(images.paths[_CODEC], work / "launch.squashfs")
    note(f"listed: {plan.blocks} blocks, {plan.raw_bytes / 1e6:.1f} MB")
    return plan


if __name__ == "__main__":
    main()
