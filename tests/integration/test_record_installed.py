"""Recording an installed snap over real mounts; snapd's programs are stood in for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from installed_snaps import installed_snaps
from mounts import mount_points_below
from snapcraft_compression_advisor.capture.installed import (
    SnapRoots,
    installed_snap,
    snap_run,
)
from snapcraft_compression_advisor.capture.launch_event import event_named
from snapcraft_compression_advisor.capture.record_installed import record_installed
from snapcraft_compression_advisor.capture.start import LaunchRequest
from snapcraft_compression_advisor.core.errors import NoInputError, ToolError
from snapcraft_compression_advisor.launch.profile import LaunchProfile

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
