"""Files that something needs, planted among files that nothing needs: none is sure."""

import random
from collections.abc import Callable, Mapping

import pytest

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.launches import Surroundings
from snapcraft_compression_advisor.payload.references import needed_directories
from snapcraft_compression_advisor.trim.filters import filters_of
from snapcraft_compression_advisor.trim.plan import judged_trims

LIB = "usr/lib/x86_64-linux-gnu"
LOADER = "/lib64/ld-linux-x86-64.so.2"
NEEDLESS = (
    "usr/include/app/{}.h",
    "usr/include/{}.h",
    "usr/share/doc/app/{}.txt",
    "usr/share/man/man1/{}.1",
    "usr/share/info/{}.info",
    "usr/lib/app/lib{}.a",
    "var/cache/apt/{}",
    f"{LIB}/pkgconfig/{{}}.pc",
)
IN_SNAP = ("$SNAP/{}", "${{SNAP}}/{}", "/snap/hello/current/{}", "/snap/hello/x1/{}")
GNOME = {
    "interface": "content",
    "target": "$SNAP/gnome-platform",
    "default-provider": "gnome-46-2404",
}


class Snap:
    """A snap in the making, and what is planted in it.

    :ivar needed: the file that something needs.
    :ivar directory: that has to stay; empty for none.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        decoys = chance.sample(NEEDLESS, 3)
        self.files: dict[str, bytes] = {
            "bin/app": make_elf(interpreter=LOADER, needed=["libfoo.so.1"]),
            **{each.format("decoy"): b"!<arch>\n" + b"decoy" for each in decoys},
        }
        self.links: dict[str, str] = {}
        self.keys: dict[str, object] = {
            "architectures": ["amd64"],
            "apps": {"app": {"command": "bin/app"}},
        }
        self.content: dict[str, bytes] = {}
        self.needed = chance.choice(NEEDLESS).format("needed")
        self.files[self.needed] = b"!<arch>\n" + b"needed"
        self.directory = ""

    def named(self, path: str = "") -> str:
        """Return a path as snap.yaml and scripts spell it."""
        return self.chance.choice(IN_SNAP).format(path or self.needed)

    def folder(self) -> str:
        """Return a directory that the needed file is in, no root of a kind."""
        return self.needed.rpartition("/")[0]


def environment(snap: Snap) -> None:
    value = snap.named(snap.chance.choice((snap.needed, snap.folder())))
    name = snap.chance.choice(("HELP", "MANPATH", "C_INCLUDE_PATH", "LD_PRELOAD"))
    value = snap.chance.choice(("{}", "/a:{}", "{}:$HOME/b", "{} --quiet")).format(
        value
    )
    if snap.chance.random() < 0.5:
        snap.keys["environment"] = {name: value}
    else:
        app = {"command": "bin/app", "environment": {name: value}}
        snap.keys["apps"] = {"app": app, "other": {"command": "bin/app"}}


def layout(snap: Snap) -> None:
    whole = snap.chance.random() < 0.7
    source = snap.chance.choice(("$SNAP/{}", "${{SNAP}}/{}", "$SNAP//{}", "$SNAP/{}/"))
    kind = snap.chance.choice(
        ("bind", "symlink") if whole else ("bind-file", "symlink")
    )
    path = snap.folder() if whole else snap.needed
    snap.directory = path if whole else ""
    snap.keys["layout"] = {f"/{path}": {kind: source.format(path)}}


def slot(snap: Snap) -> None:
    path = snap.chance.choice((snap.folder(), "", snap.needed))
    value = snap.chance.choice(("$SNAP/{}", "/{}", "{}", "${{SNAP}}/{}")).format(path)
    key = snap.chance.choice(("read", "write"))
    shared: dict[str, object] = {key: [value or "/"]}
    if snap.chance.random() < 0.5:
        shared = {"source": shared}
    snap.keys["slots"] = {"files": {"interface": "content", **shared}}


def content_target(snap: Snap) -> None:
    """Plant a target among needless files: its directory has to stay, empty or not."""
    target = snap.chance.choice(("usr/include", "usr/share/doc", "usr/share/man/data"))
    snap.directory = target
    snap.files[f"{target}/decoy.h"] = b"decoy"
    spelt = snap.chance.choice(("$SNAP/{}", "{}", "/{}", "${{SNAP}}/{}/"))
    plug = {"interface": "content", "target": spelt.format(target)}
    snap.keys["plugs"] = {"data": plug}
    environment(snap)


def link(snap: Snap) -> None:
    target = snap.chance.choice((snap.needed, snap.folder()))
    place = snap.chance.choice(("help", "share/app/help", "opt/app/data/help"))
    if snap.chance.random() < 0.3:
        snap.links["data/again"] = f"../{target}"
        target = "data/again"
    up = "../" * place.count("/")
    snap.links[place] = snap.chance.choice(
        (f"/snap/hello/current/{target}", up + target)
    )


def wrapper(snap: Snap) -> None:
    text = snap.chance.choice(
        (
            "#!/bin/sh\ncat {}\n",
            '#!/bin/sh\ncat "{}"\nexec "$SNAP/bin/app"\n',
            "#!/usr/bin/env bash\nif [ -n \"$1\" ]; then\n  exec app --help '{}'\nfi\n",
            "#!/bin/sh\n. {}\n",
            "#!/usr/bin/python3\nimport os\nopen(os.path.expandvars('{}'))\n",
        )
    ).format(snap.named())
    place = snap.chance.choice(
        (
            "bin/wrapper",
            "meta/hooks/configure",
            "snap/hooks/install",
            "opt/app/start.sh",
        )
    )
    snap.files[place] = text.encode()
    if place == "bin/wrapper":
        snap.keys["apps"] = {"app": {"command": "bin/wrapper"}}


def dependencies(snap: Snap) -> None:
    """Plant a list of .NET's, of which every file has to be there."""
    folder, _, name = snap.needed.rpartition("/")
    path = snap.chance.choice((name, f"runtimes/linux-x64/native/{name}"))
    snap.files[f"{folder}/app.deps.json"] = f'{{"native": {{"{path}": {{}}}}}}'.encode()


def program(snap: Snap) -> None:
    text = "#!/usr/bin/python3\nimport os\nopen(os.environ['SNAP'] + '/{}')\n"
    snap.files["bin/app"] = text.format(snap.needed).encode()


def plant_library(snap: Snap) -> None:
    snap.needed = f"{LIB}/libfoo.so.1"
    snap.files[snap.needed] = make_elf(soname="libfoo.so.1", exported=["foo"])
    snap.content[snap.needed] = snap.files[snap.needed]
    snap.keys["plugs"] = {"gnome-46-2404": GNOME}


def unreached_library(snap: Snap) -> None:
    """Plant a library that the content snap has if no app looks."""
    plant_library(snap)
    path = snap.chance.choice(
        ("", f"$SNAP/{LIB}", "$SNAP/gnome-platform/usr/lib", "$SNAP/gnome/" + LIB)
    )
    if snap.chance.random() < 0.5:
        snap.keys["environment"] = {"LD_LIBRARY_PATH": path}
    else:
        runpath = path or "$ORIGIN/../lib"
        snap.files["bin/app"] = make_elf(
            interpreter=LOADER, needed=["libfoo.so.1"], runpath=runpath
        )


def library_of_one_app(snap: Snap) -> None:
    plant_library(snap)
    there = {"LD_LIBRARY_PATH": f"$SNAP/gnome-platform/{LIB}"}
    snap.keys["apps"] = {
        "app": {"command": "bin/app", "environment": there},
        "other": {"command": "bin/app"},
    }


def sdk(snap: Snap) -> None:
    plant_library(snap)
    snap.keys["environment"] = {"LD_LIBRARY_PATH": f"$SNAP/gnome-platform/{LIB}"}
    snap.keys["sdk"] = "gnome-46-2404-sdk"


def wrapper_sets_anew(snap: Snap) -> None:
    plant_library(snap)
    snap.keys["environment"] = {"LD_LIBRARY_PATH": f"$SNAP/gnome-platform/{LIB}"}
    line = snap.chance.choice(
        (
            "export LD_LIBRARY_PATH=$SNAP/usr/lib",
            'LD_LIBRARY_PATH="$SNAP/usr/lib" exec $SNAP/bin/app "$@"',
            "unset LD_LIBRARY_PATH",
            "exec env -u LD_LIBRARY_PATH $SNAP/bin/app",
            "exec env -i $SNAP/bin/app",
            "if true; then\n  LD_LIBRARY_PATH=/nowhere\nfi",
        )
    )
    snap.files["bin/wrapper"] = f"#!/bin/sh\n{line}\n$SNAP/bin/app\n".encode()
    snap.keys["apps"] = {"app": {"command": "bin/wrapper"}}
    if snap.chance.random() < 0.5:
        snap.files["bin/first"] = b'#!/bin/sh\nexec "$SNAP/bin/wrapper"\n'
        snap.keys["apps"] = {
            "app": {"command": "bin/app", "command-chain": ["bin/first"]}
        }


def wrapper_perhaps_adds(snap: Snap) -> None:
    plant_library(snap)
    add = f"export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$SNAP/gnome-platform/{LIB}"
    text = snap.chance.choice(
        (
            f'if [ -n "$PLATFORM" ]; then\n{add}\nfi',
            f'[ -n "$PLATFORM" ] && {add}',
            f"use_platform() {{\n{add}\n}}",
            f"# {add}",
            f'case "$1" in\nx) {add};;\nesac',
            f"exec $SNAP/bin/app\n{add}",
        )
    )
    snap.files["bin/wrapper"] = f"#!/bin/sh\n{text}\nexec $SNAP/bin/app\n".encode()
    snap.keys["apps"] = {"app": {"command": "bin/wrapper"}}


def private_library(snap: Snap) -> None:
    """Plant a library in a folder of its own, which a RUNPATH or a link leads to."""
    plant_library(snap)
    snap.keys["environment"] = {"LD_LIBRARY_PATH": f"$SNAP/gnome-platform/{LIB}"}
    private = snap.chance.choice((f"{LIB}/openmpi/lib", "opt/app/lib"))
    if snap.chance.random() < 0.5:
        snap.files[f"{private}/libfoo.so.1"] = snap.files.pop(snap.needed)
        snap.needed = f"{private}/libfoo.so.1"
        snap.links[f"{LIB}/libfoo.so.1"] = f"/snap/hello/current/{snap.needed}"
    else:
        snap.links[f"{private}/libfoo.so.1"] = f"/snap/hello/current/{snap.needed}"
    snap.files["bin/app"] = make_elf(
        interpreter=LOADER, needed=["libfoo.so.1"], runpath=f"$ORIGIN/../{private}"
    )


def name_that_only_we_have(snap: Snap) -> None:
    """Plant a link that a program loads, which the content snap doesn't have."""
    plant_library(snap)
    snap.keys["environment"] = {"LD_LIBRARY_PATH": f"$SNAP/gnome-platform/{LIB}"}
    snap.links[f"{LIB}/libfoo.so"] = "libfoo.so.1"
    snap.files["bin/plugin"] = make_elf(interpreter=LOADER, symbols=["libfoo.so"])


def python_package(snap: Snap) -> None:
    snap.needed = "usr/lib/python3/dist-packages/numpy/_core.so"
    for name, content in (
        (snap.needed, make_elf()),
        ("usr/lib/python3/dist-packages/numpy/__init__.py", b""),
    ):
        snap.files[name] = snap.content[name] = content
    snap.keys["plugs"] = {"gnome-46-2404": GNOME}
    snap.keys["environment"] = {"PYTHONPATH": "$SNAP/gnome-platform/usr/lib/python3"}


PLANTINGS: tuple[Callable[[Snap], None], ...] = (
    environment,
    layout,
    slot,
    content_target,
    link,
    wrapper,
    program,
    unreached_library,
    library_of_one_app,
    sdk,
    wrapper_sets_anew,
    wrapper_perhaps_adds,
    private_library,
    name_that_only_we_have,
    python_package,
    dependencies,
)
ROUNDS = 20
"""Of each kind, so 320 in all."""


def sure_of(snap: Snap) -> tuple[set[str], tuple[str, ...]]:
    """Return the files that nothing seems to need, and the filters that drop them."""
    sdk_name = snap.keys.pop("sdk", "gnome-46-2404")
    payload = make_payload(snap.files, links=snap.links, **snap.keys)
    content = make_payload(
        snap.content,
        name=sdk_name,
        architectures=["amd64"],
        slots={"gnome-46-2404": {"interface": "content", "read": ["/"]}},
    )
    surroundings = Surroundings(contents=(content,) if snap.content else ())
    trims = judged_trims(payload, surroundings, ())
    sure = {each.path for each in trims if each.risk is None}
    filters = filters_of(
        sure, payload.inventory, needed=needed_directories(payload.snap)
    )
    return sure, filters


@pytest.mark.parametrize("plant", PLANTINGS)
def test_nothing_that_is_needed_is_sure(plant: Callable[[Snap], None]) -> None:
    found: Mapping[int, object] = {}
    decoys = 0
    for seed in range(ROUNDS):
        snap = Snap(random.Random(f"{plant.__name__} {seed}"))
        plant(snap)
        sure, filters = sure_of(snap)
        decoys += any("decoy" in each for each in sure)
        lost = snap.needed in sure or (
            snap.directory
            and any(f"{snap.directory}/".startswith(f"{each}/") for each in filters)
        )
        if lost:
            found = {**found, seed: (snap.keys, sorted(sure), snap.needed, filters)}
    assert not found
    assert decoys  # else nothing would be trimmed at all
