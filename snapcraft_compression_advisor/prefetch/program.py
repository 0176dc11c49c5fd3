"""The small program that reads ahead, compiled here, and how a snap gets it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ..core.child import run_child
from ..core.errors import BadDataError, StorageError, ToolError
from ..payload.elf import read_elf
from ..payload.snap_yaml import SNAP_YAML, SNAP_YAML_PATH, SnapMetadata
from .plan import PrefetchRange, list_text

SOURCE = Path(__file__).with_name("prefetch.c")
FOLDER = "prefetch"
"""Of the snap, where the program and the lists are."""

_FLAGS = (
    *("-O2", "-static", "-nostdlib", "-nostartfiles", "-ffreestanding"),
    *("-fno-stack-protector", "-fno-pie", "-no-pie", "-s"),
    *("-fno-asynchronous-unwind-tables", "-fno-tree-loop-distribute-patterns"),
    "-Wl,--build-id=none",
)
"""It has no C library, which would take some hundred kilobytes to read and start."""

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_LAST_LINES = 6
_EXECUTABLE = 0o755


def compile_program(target: Path, snap: SnapMetadata) -> None:
    """Compile the program for a snap.

    :raises ToolError: if there is no compiler, or it makes programs for another
        machine than the snap's.
    """
    words = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(words[0]) is None:
        message = f"There is no C compiler {words[0]!r} to compile the program with"
        raise ToolError(
            message,
            resolution="Install one ('sudo apt install gcc libc6-dev'), or set CC.",
        )
    command = (*words, *_FLAGS, "-o", str(target), str(SOURCE))
    try:
        done = run_child(command)
    except OSError as error:
        message = f"Cannot run {words[0]}: {error.strerror}"
        raise ToolError(message, resolution="Set CC to a C compiler.") from error
    if done.returncode:
        message = f"{words[0]} could not compile the program that reads ahead"
        raise ToolError(
            message,
            details="\n".join(done.stderr.splitlines()[-_LAST_LINES:]),
            resolution="It is written for amd64, arm64 and riscv64, and needs the "
            "headers of Linux and of the C library ('sudo apt install libc6-dev').",
        )
    _check_machine(target, snap, words)


def _check_machine(target: Path, snap: SnapMetadata, words: Sequence[str]) -> None:
    content = target.read_bytes()
    elf = read_elf(
        lambda offset, length: content[offset : offset + length],
        size_bytes=len(content),
    )
    machine = elf.linkage().machine[1].partition("-")[0] if elf else None
    made_for = _MACHINES.get(machine or "", machine)
    if snap.architectures and not {made_for, "all"} & set(snap.architectures):
        message = f"{' '.join(words)} makes programs for {made_for}"
        wanted = ", ".join(snap.architectures)
        raise ToolError(
            message,
            resolution=f"The snap is for {wanted}: set CC to a compiler for that.",
        )


def write_files(
    folder: Path, name: str, ranges: Sequence[PrefetchRange], snap: SnapMetadata
) -> tuple[Path, Path]:
    """Write the program and its list into a directory, as the snap is to have them.

    :param folder: that stands for the snap's root.
    :returns: both files.
    :raises AdvisorError: if they can't be written or compiled.
    """
    program = folder / FOLDER / name
    listed = program.with_name(f"{program.name}.list")
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        compile_program(program, snap)
        program.chmod(_EXECUTABLE)
        listed.write_text(list_text(ranges), encoding="utf-8")
    except OSError as error:
        message = f"Cannot write to {str(program.parent)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Specify a directory that you can write to."
        ) from error
    return program, listed


def add_to_command_chain(tree: Path, app: str) -> None:
    """Put the program before all others that start an app, in a copy of a payload.

    :param tree: whose ``meta/snap.yaml`` is written anew; a hard link's other names
        keep their contents.
    :raises BadDataError: if it can't be read.
    """
    path = tree / SNAP_YAML_PATH
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    try:
        content = SNAP_YAML.read(path)
        SNAP_YAML.load_yaml(content, where=str(path))  # refuses what has no end
        document = yaml.load(content)
        described = document["apps"][app]
        chain = described.get("command-chain") or []
        chain = [chain] if isinstance(chain, str) else list(chain)
        described["command-chain"] = [f"{FOLDER}/{app}", *chain]
    except (YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"The command-chain of app {app!r} can't be changed in {str(path)!r}"
        raise BadDataError(
            message, resolution="Build the prime directory again."
        ) from error
    path.unlink()
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
