"""Run commands on every image of a directory, and print how each ended as JSON lines.

    python tests/command_probe.py RIGHT <LINES

A line of the standard input is a JSON list of an image and commands; they get that
image, ``diff`` and ``refresh`` after the right one. Each run is a child of its
own, forked from a process that has imported everything, with limits of its own.
"""

import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import snapcraft_compression_advisor as package
from forked import import_everything
from snapcraft_compression_advisor.cli.main import main

LIMIT_S = 5
"""Of the processor, for one run."""
_HANG_S = 120
_SHOWN = 4000
_AS_IS = ("advise", "lint", "trim", "launch-set")
_IN_PAIRS = ("diff", "refresh")
COMMANDS = (*_AS_IS, *_IN_PAIRS)


def arguments(command: str, image: str, right: str) -> tuple[str, ...]:
    """Return the arguments of a run on an image; options follow a command."""
    name, *options = command.split()
    pair = (right, image) if name in _IN_PAIRS else (image,)
    return (name, *pair, *options)


def run(words: Sequence[str], output: Path) -> Mapping[str, object]:
    """Run a command in a child, and return how it ended and what that took."""
    child = os.fork()
    if not child:
        _become(words, output)
    _, status, usage = os.wait4(child, 0)
    left = True
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        left = False
    return {
        "status": os.waitstatus_to_exitcode(status),
        "processor_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "left_processes": left,
        "output": output.read_text(encoding="utf-8", errors="replace")[:_SHOWN],
    }


def _become(words: Sequence[str], output: Path) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 1))
    signal.alarm(_HANG_S)
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number in (1, 2):
        os.dup2(descriptor, number)
    try:
        status = main(words)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it's told
        os.write(2, f"Traceback: {error!r}".encode())
        status = os.EX_SOFTWARE
    os._exit(status)


def probe() -> None:
    """Run what the standard input names."""
    import_everything(package.__name__)
    right = sys.argv[1]
    with tempfile.NamedTemporaryFile() as output:
        for line in sys.stdin:
            image, *commands = json.loads(line)
            for command in commands:
                ended = run(arguments(command, image, right), Path(output.name))
                print(json.dumps({"image": image, "command": command, **ended}))  # noqa: T201 - its output is what it prints


if __name__ == "__main__":
    probe()
