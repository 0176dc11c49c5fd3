"""Real payloads and components, and the real command line, for integration tests."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from elf_files import make_elf
from forked import run_program
from snapcraft_compression_advisor.squashfs.entry import MINIMUM_IMAGE_BYTES
from snapcraft_compression_advisor.squashfs.mksquashfs import (
    owner_options,
    pack_options,
)
from trees import fill

SNAP_YAML = """\
name: sample
version: '1.0'
summary: A sample
description: A sample
base: core24
confinement: strict
grade: stable
architectures: [amd64]
environment:
  LD_LIBRARY_PATH: $SNAP/usr/lib
apps:
  sample:
    command: usr/bin/sample
  other:
    command: usr/bin/other
"""


def fill_prime(prime: Path, *, snap_yaml: str = SNAP_YAML) -> Path:
    """Fill a directory with every kind of content that a snap ships."""
    (prime / "meta").mkdir(parents=True)
    (prime / "meta/snap.yaml").write_text(snap_yaml)
    programs, data = prime / "usr/bin", prime / "usr/share/data"
    programs.mkdir(parents=True)
    data.mkdir(parents=True)
    (programs / "sample").write_bytes(_program())
    (programs / "sample").chmod(0o755)
    (programs / "other").write_text("#!/bin/sh\nexec $SNAP/usr/bin/sample\n")
    (programs / "other").chmod(0o755)
    (programs / "alias").symlink_to("sample")
    os.link(programs / "sample", programs / "hardlink")
    (data / "noise").write_bytes(random.Random(1).randbytes(300_000))
    (data / "noise-again").write_bytes(random.Random(1).randbytes(300_000))
    (data / "text").write_text("".join(f"line {number}\n" for number in range(90_000)))
    (data / "empty").touch()
    with (data / "sparse").open("wb") as file:
        file.truncate(1_000_000)
        file.write(b"x")
    (data / "kept.snap.txt").write_text("kept")
    (data / "left-out.snap").write_text("left out")
    (data / "left-out~").write_text("left out")
    (prime / ".git").mkdir()
    (prime / ".git/objects").write_bytes(random.Random(2).randbytes(200_000))
    return prime


def _program() -> bytes:
    """Return a program that needs the base's libraries, the same on every machine."""
    headers = make_elf(
        needed=("libm.so.6", "libc.so.6"),
        interpreter="/lib64/ld-linux-x86-64.so.2",
        padding_bytes=14_000,
    )
    return headers + random.Random(3).randbytes(3_000)


def snap_pack(prime: Path, directory: Path, *, compression: str) -> Path:
    """Pack with the real ``snap pack`` and return the snap."""
    command = ["snap", "pack", f"--compression={compression}", str(prime)]
    directory.mkdir(exist_ok=True)
    subprocess.run([*command, str(directory)], check=True, capture_output=True)
    (snap,) = directory.glob("*.snap")
    return snap


def advisor(
    *arguments: str | Path,
    cwd: Path | None = None,
    status: int | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does; it never ends in a traceback.

    :param status: that it has to end with.
    """
    ran = run_program(
        ["-m", "snapcraft_compression_advisor", *map(str, arguments)],
        cwd=cwd,
        environment={**os.environ, **environment},
    )
    assert "Traceback" not in ran.stderr
    assert status in (None, ran.returncode), (arguments, ran.returncode, ran.stderr)
    return ran


def linted(*arguments: str | Path, cwd: Path | None = None) -> dict[str, Any]:
    """Return what lint reports on one payload, which it could read."""
    result = advisor("lint", *arguments, "--format", "json", cwd=cwd)
    assert result.returncode in (0, 1), result.stderr
    (payload,) = json.loads(result.stdout)["payloads"]
    assert payload["error"] is None
    return dict(payload)


def interrupt(
    *arguments: str | Path, at: str, by: signal.Signals, **environment: str
) -> None:
    """Interrupt the command line at a line of progress, and see that it ends so."""
    with subprocess.Popen(
        [sys.executable, "-m", "snapcraft_compression_advisor", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stderr is not None
        assert any(at in line for line in process.stderr)
        process.send_signal(by)
        rest = process.stderr.read()
    assert process.returncode == 128 + by, rest
    assert "Traceback" not in rest


def fill_component(folder: Path, *, name: str = "sample+texts") -> Path:
    """Fill a component's directory: one file that compresses and one that doesn't."""
    text = f"component: {name}\ntype: standard\nversion: '1.0'\n"
    files: dict[str, str | bytes] = {
        "meta/component.yaml": text,
        "text": "".join(f"line {number}\n" for number in range(90_000)),
        "noise": random.Random(3).randbytes(100_000),
    }
    return fill(folder, files)


def pack_component(folder: Path, image: Path, *, compression: str) -> Path:
    """Pack a directory as newer versions of ``snap pack`` pack components."""
    options = (*pack_options(compression), *owner_options("app"))
    subprocess.run(
        ["mksquashfs", ".", image.absolute(), *options],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    with image.open("ab") as file:
        file.truncate(max(file.tell(), MINIMUM_IMAGE_BYTES))
    return image
