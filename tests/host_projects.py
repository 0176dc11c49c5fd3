"""Project folders for tests of what the advisor does inside snapcraft."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forked import run_program
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.devices.device_file import device_text
from snapcraft_compression_advisor.squashfs.image import Image
from trees import fill

BLOCK = 128 * 1024
_IMPORTS = (
    "host_app",
    "snapcraft_compression_advisor",
    "snapcraft_compression_advisor.host",
)
LZO_PAYS = "min-saving: 0.1ms\nmax-launches: 1000\n"
"""A policy by which any launch of these projects is worth lzo's bytes."""

SNAPCRAFT_YAML = """\
name: hello
base: {base}
version: "1"
summary: A sample
description: A sample
grade: devel
confinement: strict
{keys}
apps:
  hello:
    command: bin/hello

{components}
parts:
  files:
    plugin: dump
    source: files
{parts}"""

COMPONENTS = """\
components:
  more:
    type: standard
    summary: More of it
    description: More of it
"""

COMPONENT_PARTS = """\
  more:
    plugin: dump
    source: components/more
    organize:
      "*": (component/more)/
"""

SNAP_YAML = """\
name: hello
version: "1"
summary: A sample
description: A sample
base: core24
architectures: [amd64]
apps:
  hello:
    command: bin/hello
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to."""

    status: int
    output: str

    @property
    def lines(self) -> list[str]:
        """Lines of both streams, their indentation aside."""
        return [line.strip() for line in self.output.splitlines()]


def make_project(
    folder: Path,
    *,
    base: str = "core24",
    keys: str = "",
    components: bool = False,
    policy: str | None = LZO_PAYS,
) -> Path:
    """Make a project whose app reads a file of 0.4 MB, as a launch profile says.

    :param keys: further lines of snapcraft.yaml's root.
    :param components: whether there is one, named ``more``.
    :param policy: content of compression-advisor.yaml, to which the profile is added;
        ``None`` for no file.
    """
    numbers = "".join(f"{number * number}\n" for number in range(40_000))
    project = SNAPCRAFT_YAML.format(
        base=base,
        keys=keys,
        components=COMPONENTS if components else "",
        parts=COMPONENT_PARTS if components else "",
    )
    files = {
        "files/meta/snap.yaml": SNAP_YAML,
        "files/bin/hello": "#!/bin/sh\nexec cat $SNAP/numbers\n",
        "files/numbers": numbers,
        "snap/snapcraft.yaml": project,
    }
    if components:
        text = "component: hello+more\ntype: standard\n"
        files["components/more/meta/component.yaml"] = text
        files["components/more/data"] = numbers[:200_000]
    fill(folder, files)
    write_profile(folder)
    if policy is not None:
        write_policy(folder, policy)
    return folder


def project_file(folder: Path) -> Path:
    """Return a project's snapcraft.yaml."""
    return folder / "snap" / "snapcraft.yaml"


def write_policy(folder: Path, policy: str) -> None:
    """Write a project's policy, its launch profile named."""
    text = f"launch-profile: launch.json\n{policy}"
    (folder / "compression-advisor.yaml").write_text(text)


def write_profile(folder: Path, *, warm_s: float | None = None) -> None:
    """Write a recorded launch that reads all of the file ``numbers``.

    :param warm_s: the app's own time.
    """
    size = (folder / "files" / "numbers").stat().st_size
    file = {"path": "numbers", "size": size, "blocks": [[0, (size - 1) // BLOCK]]}
    profile = {"schema": 1, "source": "residency", "app": "hello", "files": [file]}
    if warm_s is not None:
        profile["warm_s"] = warm_s
    (folder / "launch.json").write_text(json.dumps(profile))


def write_steady_device(folder: Path) -> str:
    """Write a device of which nothing is uncertain, as of calibrated ones hardly is.

    With xz, a cold launch of these projects takes some 7 ms on it, with lzo 2.5 ms.

    :returns: what settings call its file.
    """
    text = device_text(find_device("nvme-laptop")).replace(
        "name: nvme-laptop", "name: steady"
    )
    ranges = r"\{low: \S+, mid: (\S+), high: \S+\}"
    path = folder / "steady.yaml"
    path.write_text(re.sub(ranges, r"{low: \1, mid: \1, high: \1}", text))
    return f"./{path.name}"


def run_host_app(folder: Path, *arguments: str, **variables: str) -> Ran:
    """Run the tests' own application in a project's folder."""
    app = Path(__file__).with_name("host_app.py")
    return run_as_snapcraft([str(app), *arguments], folder, variables, _IMPORTS)


def run_as_snapcraft(
    words: list[str],
    folder: Path,
    variables: Mapping[str, str],
    imports: tuple[str, ...] = (),
) -> Ran:
    """Run a Python program in a project's folder."""
    home = folder.parent / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SNAPCRAFT_")
    }
    environment = {
        **inherited,
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
        "SNAPCRAFT_BUILD_ENVIRONMENT": "host",
        "SOURCE_DATE_EPOCH": "1700000000",
        **variables,
    }
    done = run_program(words, cwd=folder, environment=environment, imports=imports)
    return Ran(done.returncode, done.stdout + done.stderr)


def codecs_of(folder: Path) -> dict[str, str]:
    """Return what the packages in a folder were packed with, by name."""
    packages = sorted([*folder.glob("*.snap"), *folder.glob("*.comp")])
    return {path.name: _codec(path) for path in packages}


def _codec(path: Path) -> str:
    with Image.open(path) as image:
        return image.superblock.codec


def warnings_of(lines: list[str]) -> list[str]:
    """Return the advisor's own warnings; craft-application has some for non-root."""
    return [line for line in lines if line.startswith("Warning: compression advisor")]
