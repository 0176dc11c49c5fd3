"""Every command, with every option and in every format, on names that hold anything.

The command lines are made from the table of commands: a new one is tried too.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.capture import CaptureFixture
from craft_cli import emit

from command_table import ArgumentText, CommandText, read_commands
from image_sources import mksquashfs, needs_mksquashfs
from snapcraft_compression_advisor.cli.main import main

pytestmark = needs_mksquashfs

STEERING = re.compile(
    r"[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
FORGED = re.compile(r"^\s*(::set-output|FORGED)|##\[", re.MULTILINE)
COMMAND = re.compile(r"^\s*::", re.MULTILINE)
EVIL = "a\x1b[31m\n::set-output name=x::\nFORGED\r\u202e\u2028\x9b\x7f##[error]\t"
"""A name that clears, colours and turns text, and begins lines of its own."""
QUOTED = json.dumps(EVIL).replace("\x7f", "\\u007f")
NAME = os.fsdecode(EVIL.encode() + b"\xff")
"""The same as a file's name, with a byte that isn't UTF-8."""
SNAP_YAML = f"""\
name: {QUOTED}
version: {QUOTED}
summary: {QUOTED}
base: {{base}}
confinement: {QUOTED}
apps:
  ? {QUOTED}
  : {{{{command: bin/run, plugs: [{QUOTED}]}}}}
  gone: {{{{command: {QUOTED}}}}}
plugs:
  ? {QUOTED}
  : {{{{interface: content, content: {QUOTED}, default-provider: {QUOTED}}}}}
layout:
  ? {QUOTED}
  : {{{{bind: $SNAP/x}}}}
"""
PROJECT = f"""\
name: {QUOTED}
base: core24
summary: {QUOTED} # comment
parts:
  ? {QUOTED}
  : {{plugin: nil}}
"""
POLICY = f"""\
apps: [{QUOTED}]
budgets:
  cold-start:
    ? {QUOTED}
    : 1s
"""
PROFILE = {
    "schema": 1,
    "source": "residency",
    "app": EVIL,
    "recorded": {
        "event": EVIL,
        "cold_s": 1.5,
        "threads": [{"name": EVIL, "cpu_s": 1.0, "read_bytes": 1, "major_faults": 1}],
        "processors": 1,
        "kernel": EVIL,
    },
    "files": [
        {"path": "bin/run", "size": 300_009, "blocks": [[0, 2]]},
        {"path": EVIL, "size": 9000, "blocks": [[0, 0]]},
    ],
}
STOPPED = {
    "calibrate": ["--blocks=none"],
    "record": ["--app=none"],
    "measure": ["--app=none"],
}
"""Arguments that keep commands from starting programs, or measuring for minutes."""
STARTS = {"--record", "--prove"}
"""Options that start the payload's programs, or processes that stay."""


def _prime(root: Path, *, base: str = "core24") -> Path:
    for name, content in {
        "meta/snap.yaml": SNAP_YAML.format(base=base).encode(),
        "bin/run": b"#!/bin/sh\ncat $SNAP/lib/* >&2\nexit 3\n" + b"# text\n" * 43_000,
        NAME: b"some text, somewhat long\n" * 9000,
        f"lib/{NAME}": EVIL.encode() * 500,
        f"lib/python3/{NAME}.py": b"import x\n" * 900,
        f"lib/{NAME}.d/{NAME}.so": b"\x7fELF" + bytes(9000),
        "lib/copy": b"some text, somewhat long\n" * 9000,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o4755)
    return root


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory of a hostile name with hostile inputs of every kind."""
    root = tmp_path_factory.mktemp("made") / NAME
    prime = _prime(root / "prime")
    _prime(root / "newer")
    (root / "newer/more").write_text("more\n" * 50_000)
    for name in ("prime", "newer"):
        mksquashfs(root / name, root / f"{name}.snap", "-no-fragments", "-all-root")
    (root / "snaps").mkdir()
    shutil.copy(root / "prime.snap", root / "snaps" / f"{NAME}.snap")
    (root / "snaps" / f"{NAME}broken.snap").write_text(EVIL)
    for name, content in {
        "snapcraft.yaml": PROJECT,
        "policy.yaml": POLICY,
        "profile.json": json.dumps(PROFILE),
        "text": EVIL,
    }.items():
        (root / name).write_text(content)
    for arguments in (
        ["lint", str(prime), "--format", "json", "-o", str(root / "lint.json")],
        ["advise", str(prime), "--format", "json", "-o", str(root / "advice.json")],
        ["fleet", str(root / "snaps"), "-o", str(root / "dataset"), "--processes=1"],
    ):
        assert _run(arguments) in {0, 1}
    return root


GOOD = {
    "--policy": "{root}/policy.yaml",
    "--launch-profile": "{root}/profile.json",
    "--compare": "{root}/profile.json",
    "--baseline": "{root}/lint.json",
    "--report": "{root}/page.html",
    "--app": "gone",
    "--device": "nvme-laptop",
    "FILE": "{root}/advice.json",
    "SOURCE": "{root}/snaps",
    "SQL": "SELECT name, path, error, findings FROM snaps",
    "OLD": "{root}/prime.snap",
    "NEW": "{root}/newer",
    "PATH": "{root}/prime",
    "DATASET": "{root}/dataset",
    "PROJECT_DIR": "{root}",
    "SNAP": "{root}/newer",
    "DIR": "{root}/prime",
    "FORMAT=FILE": "text={root}/page",
    "ID": "SCA101",
    "NAME": "nvme-laptop",
}
"""What is there for an argument, by its name or its value's."""
REQUIRED = {
    **STOPPED,
    "set": ["--compression=lzo"],
    "fleet": ["--output={root}/dataset", "--processes=1"],
    "fleet report": ["--output={root}/page.html"],
}
BAD_INPUT = {64, 65, 66, 69, 74}
"""Exit statuses of arguments and files that can't be what they should be."""


def _values(argument: ArgumentText, root: Path) -> Iterator[str]:
    """Yield what an argument takes: its choices; or else a hostile one, and a good."""
    if argument.choices:
        yield from argument.choices
        return
    yield from (EVIL, str(root / "text"))
    names = (*argument.names, argument.metavar)
    found = next((GOOD[name] for name in names if name in GOOD), None)
    if found is not None:
        yield found.format(root=root)


def _lines(
    command: CommandText, option: ArgumentText | None, root: Path
) -> Iterator[list[str]]:
    """Yield command lines, the first with what there is."""
    places = [[*_values(each, root)] for each in command.arguments if not each.names]
    required = [each.format(root=root) for each in REQUIRED.get(command.name, ())]
    good = [*required, *(values[-1] for values in places)]
    if option is None:
        yield good
        yield [*required, *(values[0] for values in places)]
    elif not option.metavar:
        yield [*good, option.names[-1]]
    else:
        yield from ([*good, f"{option.names[-1]}={x}"] for x in _values(option, root))


CASES = [
    pytest.param(command, option, id=f"{command.name} {option and option.names[-1]}")
    for command in read_commands()
    for option in (None, *(each for each in command.arguments if each.names))
    if option is None or not STARTS & {*option.names}
]


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the inputs, as the current directory; its logs are beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / NAME
    shutil.copytree(made, root, symlinks=True)
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(("command", "option"), CASES)
def test_no_name_steers_who_reads_the_output(
    root: Path,
    command: CommandText,
    option: ArgumentText | None,
    capfd: CaptureFixture[str],
) -> None:
    before = {*root.rglob("*")}
    for number, line in enumerate(_lines(command, option, root)):
        status = _run([command.name, *line])
        captured = capfd.readouterr()
        does_work = number == 0 and not (option and option.metavar)
        does_work &= command.name not in STOPPED
        allowed = {0, 1} if does_work else {0, 1} | BAD_INPUT
        assert status in allowed, captured.err
        _check(captured.out, commands=line[-1:] == ["--format=github"])
        _check(captured.err)
    for path in {*root.parent.rglob("*")} - before:
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            _check(content.decode())


def _run(arguments: list[str]) -> int:
    """Run the command line, once more in this process."""
    emit._initiated = emit._stopped = False
    return main(arguments)


def _check(text: str, *, commands: bool = False) -> None:
    text.encode()
    for pattern in (STEERING, FORGED) if commands else (STEERING, FORGED, COMMAND):
        found = pattern.search(text)
        assert not found, text[max(0, found.start() - 300) : found.end() + 100]
