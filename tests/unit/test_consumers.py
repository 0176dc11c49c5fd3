"""Advice on a base or content snap by the launches of snaps that run with it."""

from pathlib import Path

import pytest

from payloads import MemoryPayload
from snapcraft_compression_advisor.cli import subject
from snapcraft_compression_advisor.cli.subject import installed_snap
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    ProfilePayload,
)
from snapcraft_compression_advisor.launch.stack import (
    AVERAGE_CONSUMER,
    average,
    find_parts,
)
from snapcraft_compression_advisor.launches import (
    Surroundings,
    consumer_app,
    find_launches,
)
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
from snapcraft_compression_advisor.payload.stack import (
    check_consumer,
    check_stack,
    stack_of,
)

BLOCK = 128 * 1024


def launch_set(app: str, shares: dict[str, float], read: float = 1.0) -> LaunchSet:
    """Return a launch that reads the first block of files by chance."""
    return LaunchSet(
        app=app,
        source="static",
        files=tuple(
            LaunchFile(path=path, size_bytes=9, blocks=((0, 0),), shares=(share,))
            for path, share in shares.items()
        ),
        read_share=Interval(low=read / 2, mid=read, high=read * 2),
        seek_share=Interval.exactly(1.0),
    )


def snap(name: str, base: str = "core24", **more: object) -> MemoryPayload:
    program = f"usr/bin/{name}"
    keys = {"base": base, "apps": {name: {"command": program}}, **more}
    files = {program: b"#!/usr/bin/env tool\n"}
    return MemoryPayload(files=files, snap=metadata(name, **keys))


def base(name: str = "core24", **more: object) -> MemoryPayload:
    files = {"usr/bin/env": b"env", "usr/bin/tool": b"tool"}
    return MemoryPayload(files=files, snap=metadata(name, type="base", **more))


def metadata(name: str, **keys: object) -> SnapMetadata:
    return SnapMetadata.model_validate({"name": name, **keys})


def test_a_block_of_the_average_launch_has_the_mean_chance() -> None:
    mean = average(
        [
            launch_set("a", {"x": 1.0, "y": 0.4}, read=1.0),
            launch_set("b", {"x": 0.5, "z": 1.0}, read=2.0),
        ]
    )
    assert mean.app == AVERAGE_CONSUMER
    assert {file.path: file.shares for file in mean.files} == {
        "x": (0.75,),
        "y": (0.2,),
        "z": (0.5,),
    }
    assert mean.read_share == Interval(low=0.75, mid=1.5, high=3.0)


def test_a_recorded_consumer_counts_with_all_of_its_blocks() -> None:
    whole = LaunchFile(path="x", size_bytes=3 * BLOCK, blocks=((0, 2),))
    recorded = LaunchSet(
        app="a",
        source="recorded",
        files=(whole,),
        read_share=Interval.exactly(1.0),
        seek_share=Interval.exactly(1.0),
    )
    mean = average([recorded, launch_set("b", {"x": 0.5})])
    assert mean.source == "static"
    assert mean.files[0].blocks == ((0, 0), (1, 2))
    assert mean.files[0].shares == (0.75, 0.5)


def test_consumers_launches_stand_behind_their_average() -> None:
    platform, first, second = base(), snap("one"), snap("two")
    found = find_launches(platform, (), (), Surroundings(consumers=(first, second)))
    assert [(each.launch_set.app, each.weight) for each in found] == [
        (AVERAGE_CONSUMER, None),
        ("one", 0.5),
        ("two", 0.5),
    ]
    for each in found:
        read = [file.path for file in each.launch_set.files]
        assert read == ["usr/bin/env", "usr/bin/tool"]
    assert [(part.name, part.judged) for part in found[1].stack] == [
        ("one", False),
        ("core24", True),
    ]


def test_an_app_that_is_not_named_after_its_snap_is_told_with_it() -> None:
    consumer = snap("one", apps={"cli": {"command": "usr/bin/one"}})
    assert consumer_app(consumer) == ("cli", "one.cli")
    with pytest.raises(UsageError, match="has no app"):
        consumer_app(snap("one", apps={}))


def recorded(*payloads: ProfilePayload) -> LaunchProfile:
    return LaunchProfile.model_validate(
        {"schema": 2, "source": "residency", "app": "one", "payloads": payloads}
    )


def payload_of(role: str, name: str, path: str) -> ProfilePayload:
    return ProfilePayload.model_validate(
        {
            "role": role,
            "name": name,
            "codec": "lzo",
            "files": [ProfileFile(path=path, size=4, blocks=((0, 0),))],
        }
    )


def test_a_recording_tells_of_snaps_in_place_of_the_guess() -> None:
    profile = recorded(
        payload_of("app", "one", "usr/bin/one"),
        payload_of("base", "core24", "usr/bin/tool"),
        payload_of("content", "kf6", "usr/lib/libkf6.so"),
    )
    stacked = stack_of(snap("one"), bases=(base(),), contents=())
    parts, fitted = find_parts(stacked, "one", profile)
    assert fitted is not None
    assert [
        (part.name, part.launch_set.source, [f.path for f in part.launch_set.files])
        for part in parts
    ] == [
        ("one", "recorded", ["usr/bin/one"]),
        ("core24", "recorded", ["usr/bin/tool"]),
        ("kf6", "recorded", ["usr/lib/libkf6.so"]),
    ]
    assert parts[2].payload is None
    assert parts[2].codec == "lzo"


def test_what_a_recording_of_the_app_alone_leaves_open_is_guessed() -> None:
    profile = LaunchProfile.model_validate(
        {
            "source": "residency",
            "app": "one",
            "files": [ProfileFile(path="usr/bin/one", size=20, blocks=((0, 0),))],
        }
    )
    stacked = stack_of(snap("one"), bases=(base(),), contents=())
    parts, _ = find_parts(stacked, "one", profile)
    assert [part.launch_set.source for part in parts] == ["recorded", "static"]


CONTENT = {"gnome": {"interface": "content", "default-provider": "gnome-46-2404"}}


@pytest.mark.parametrize(
    ("bases", "contents", "message"),
    [
        ([base("core22")], [], "is core22, but the base of one is core24"),
        ([base(architectures=["arm64"])], [], "for arm64, but one is for amd64"),
        ([base(), base()], [], "'core24' is given twice"),
        ([snap("core24")], [], "isn't a base: core24 has the type 'app'"),
        ([], [snap("kf6")], "one has no content plug for kf6"),
        (
            [],
            [snap("gnome-46-2404", architectures=["riscv64"])],
            "for riscv64, but one is for amd64",
        ),
    ],
)
def test_a_snap_that_the_app_would_not_run_with_is_refused(
    bases: list[MemoryPayload], contents: list[MemoryPayload], message: str
) -> None:
    app = snap("one", architectures=["amd64"], plugs=CONTENT)
    with pytest.raises(UsageError, match=message) as caught:
        check_stack([app], bases=bases, contents=contents)
    assert caught.value.resolution


def test_snaps_that_the_app_runs_with_are_accepted() -> None:
    app = snap("one", architectures=["amd64"], plugs=CONTENT)
    check_stack(
        [app],
        bases=[base(architectures=["all"])],
        contents=[snap("gnome-46-2404", architectures=["amd64", "arm64"])],
    )


def test_a_base_for_a_snap_without_one_is_refused() -> None:
    with pytest.raises(UsageError, match="the base of one is bare"):
        check_stack([snap("one", base="bare")], bases=[base()])


@pytest.mark.parametrize(
    ("platform", "message"),
    [
        (base("core22"), "is core22, but the base of one is core24"),
        (snap("gnome-42-2204"), "no content plug for gnome-42-2204"),
        (base(architectures=["arm64"]), "for arm64, but one is for amd64"),
    ],
)
def test_a_consumer_that_runs_without_the_platform_is_refused(
    platform: MemoryPayload, message: str
) -> None:
    consumer = snap("one", architectures=["amd64"], plugs=CONTENT)
    with pytest.raises(UsageError, match=message):
        check_consumer(consumer, platform)


def test_an_installed_snap_is_read_from_its_image_where_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts, images = tmp_path / "snap", tmp_path / "snaps"
    (mounts / "core24/7/meta").mkdir(parents=True)
    (mounts / "core24/7/meta/snap.yaml").touch()
    (mounts / "core24/current").symlink_to("7")
    images.mkdir()
    monkeypatch.setattr(subject, "SNAP_MOUNTS", mounts)
    monkeypatch.setattr(subject, "SNAP_BLOBS", images)
    assert installed_snap("core24") == mounts / "core24/current"
    image = images / "core24_7.snap"
    image.touch()
    assert installed_snap("core24") == image
    (mounts / "core24/current").unlink()  # as snapd does where a snap is disabled
    assert installed_snap("core24") is None
    assert installed_snap("../snap/core24") is None
    assert installed_snap("gnome-46-2404") is None
