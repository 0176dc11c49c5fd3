"""Recording an installed snap over real mounts; snapd's programs are stood in for."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from mounts import BLOCK, make_image, mount_points_below
from snapcraft_compression_advisor.capture.installed import (
    SnapRoots,
    installed_snap,
    snap_run,
)
from snapcraft_compression_advisor.capture.launch_event import event_named
from snapcraft_compression_advisor.capture.mount import mounted
from snapcraft_compression_advisor.capture.record_installed import record_installed
from snapcraft_compression_advisor.capture.start import LaunchRequest
from snapcraft_compression_advisor.core.errors import NoInputError, ToolError
from snapcraft_compression_advisor.launch.profile import LaunchProfile
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


pytestmark = [pytest.mark.mounts, pytest.mark.bubblewrap]
WHOLE = ((0, 3),)


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SnapRoots]:
    directory = tmp_path_factory.mktemp("installed")
    with installed_snaps(directory) as roots:
        yield roots
    assert mount_points_below(directory) == []


@pytest.fixture(scope="module")
def profile(roots: SnapRoots) -> LaunchProfile:
    return recorded(roots, "launchy", "started")


def recorded(roots: SnapRoots, app: str, text: str) -> LaunchProfile:
    """Record a launch that ends with a printed line."""
    with (
        installed_snap("launchy", roots) as snap,
        snap_run("launchy", app, program=roots.program) as command,
    ):
        request = LaunchRequest(
            app=app, command=command, event=event_named(f"output:{text}"), timeout_s=30
        )
        return record_installed(snap, request, lambda _: None)


def test_each_snap_that_a_launch_read_has_its_blocks(profile: LaunchProfile) -> None:
    assert profile.schema_version == 2
    assert [
        (each.role, each.name, each.revision, each.codec)
        for each in profile.payloads or ()
    ] == [
        ("app", "launchy", "x1", "xz"),
        ("content", "gnome-46-2404", "5", "lzo"),
        ("base", "core24", "7", "xz"),
    ]
    own, content, base = (
        {file.path: file.blocks for file in each.files}
        for each in profile.payloads or ()
    )
    assert own["data/first"] == ((0, 0),)
    assert {"bin/chain", "bin/launchy"} <= own.keys()
    assert "data/unread" not in own
    assert (content, base) == ({"lib/toolkit": WHOLE}, {"lib/libc": WHOLE})


def test_each_payload_has_the_size_of_its_image(
    profile: LaunchProfile, roots: SnapRoots
) -> None:
    for each in profile.payloads or ():
        image = roots.state / f"snaps/{each.name}_{each.revision}.snap"
        assert each.image_bytes == image.stat().st_size


def test_snap_that_snapd_does_not_start_is_an_error_with_advice(
    roots: SnapRoots, tmp_path: Path
) -> None:
    with pytest.raises(ToolError, match="status 46") as caught:
        recorded(roots, "wordless", "never")
    assert "snap connections" in str(caught.value.resolution)
    assert mount_points_below(tmp_path) == []


def test_disabled_snap_and_unknown_snap_are_told_apart(roots: SnapRoots) -> None:
    (roots.state / "snaps/idle_3.snap").touch()
    with (
        pytest.raises(NoInputError, match="is disabled"),
        installed_snap("idle", roots),
    ):
        pass
    with (
        pytest.raises(NoInputError, match="isn't installed"),
        installed_snap("nowhere", roots),
    ):
        pass
