"""Snaps mounted as snapd mounts them, with a stand-in for snapd's programs."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mounts import BLOCK, make_image
from snapcraft_compression_advisor.capture.installed import SnapRoots
from snapcraft_compression_advisor.capture.mount import mounted
from trees import fill

APP_YAML = """\
name: launchy
version: '1.0'
base: core24
plugs:
  platform:
    interface: content
    target: $SNAP/platform
    default-provider: gnome-46-2404
apps:
  launchy:
    command: bin/launchy
    command-chain: [bin/chain]
  wordless:
    command: bin/wordless
"""

# snap-confine makes a mount namespace with the content snap in it; all of them become
# one another, as snapd's do.
_PROGRAMS = {
    "snap": 'exec "$0-confine" "$2"',
    "snap-confine": """
        exec unshare --mount sh -c "
            mount --bind '{mounts}/gnome-46-2404/5' '{mounts}/launchy/x1/platform'
            exec '{programs}/snap-exec' '$1'"
    """,
    "snap-exec": """
        export SNAP='{mounts}/launchy/x1' BASE='{mounts}/core24/7'
        app=${{1#launchy.}}
        exec "$SNAP/bin/chain" "$SNAP/bin/$app"
    """,
}
_APP_SCRIPTS = {
    "chain": 'exec "$@"',
    "launchy": """
        head -c 1 "$SNAP/data/first" > /dev/null
        cat "$SNAP/platform/lib/toolkit" "$BASE/lib/libc" > /dev/null
        echo started
        sleep 4713
    """,
    "wordless": 'echo "internal error: not connected to the platform" >&2; exit 46',
}


@contextmanager
def installed_snaps(directory: Path) -> Iterator[SnapRoots]:
    """Mount an app, its base and a content snap, until the block's end."""
    roots = SnapRoots(
        mounts=directory / "snap",
        state=directory / "state",
        program=str(directory / "bin/snap"),
    )
    _fill_programs(roots, directory / "bin")
    (roots.state / "snaps").mkdir(parents=True)
    (roots.state / "mount").mkdir()
    content = f"{roots.mounts}/gnome-46-2404/5 {roots.mounts}/launchy/x1/platform"
    (roots.state / "mount/snap.launchy.fstab").write_text(
        f"{content} none bind,ro 0 0\n"
    )
    with ExitStack() as stack:
        for name, revision, codec in (
            ("launchy", "x1", "xz"),
            ("gnome-46-2404", "5", "lzo"),
            ("core24", "7", "xz"),
        ):
            tree = _fill_tree(directory / f"{name}-tree", name)
            image = roots.state / f"snaps/{name}_{revision}.snap"
            make_image(tree, image, codec=codec)
            place = roots.mounts / name / revision
            place.mkdir(parents=True)
            (roots.mounts / name / "current").symlink_to(revision)
            stack.enter_context(mounted(image, at=place))
        yield roots


def _fill_programs(roots: SnapRoots, directory: Path) -> None:
    directory.mkdir()
    for name, text in _PROGRAMS.items():
        script = text.format(mounts=roots.mounts, programs=directory)
        _write_script(directory / name, script)


def _fill_tree(tree: Path, name: str) -> Path:
    for folder in ("meta", "bin", "data", "lib", "platform"):
        (tree / folder).mkdir(parents=True)
    noise = random.Random(name)
    fill(tree, {"meta/snap.yaml": f"name: {name}\nversion: '1'\ntype: base\n"})
    for file in ("data/first", "data/unread", "lib/toolkit", "lib/libc"):
        (tree / file).write_bytes(noise.randbytes(4 * BLOCK))
    if name == "launchy":
        (tree / "meta/snap.yaml").write_text(APP_YAML)
        for app, text in _APP_SCRIPTS.items():
            _write_script(tree / f"bin/{app}", text)
    return tree


def _write_script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
