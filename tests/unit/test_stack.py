"""Several snaps as one payload, and what a launch reads of each."""

import pytest

from elf_files import make_elf
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.snap_paths import SnapPaths
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.stack import split
from snapcraft_compression_advisor.payload.stack import Layer, StackedPayload, stack_of

PLUG = {
    "interface": "content",
    "target": "$SNAP/gnome-platform",
    "default-provider": "gnome-46-2404",
}
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def stack(
    app: MemoryPayload,
    *,
    content: MemoryPayload | None = None,
    base: MemoryPayload | None = None,
) -> StackedPayload:
    layers = [Layer(role="app", payload=app, place="")]
    if content is not None:
        content.snap = content.snap.model_copy(update={"name": "gnome-46-2404"})
        layers.append(Layer(role="content", payload=content, place="gnome-platform"))
    if base is not None:
        base.snap = base.snap.model_copy(update={"name": "core24"})
        layers.append(Layer(role="base", payload=base, place="/"))
    return StackedPayload(layers)


def test_an_upper_snap_covers_what_a_lower_one_has_at_the_same_path() -> None:
    stacked = stack(
        make_payload({"usr/a": b"app"}),
        content=make_payload({"usr/a": b"content", "usr/b": b"content"}),
        base=make_payload({"usr/b": b"base", "usr/c": b"base"}),
    )
    roles = {path: stacked.origin(path).role for path in ("usr/a", "usr/b", "usr/c")}
    assert roles == {"usr/a": "app", "usr/b": "content", "usr/c": "base"}
    assert stacked.read("usr/b", offset=0, length=9) == b"content"
    assert list(stacked.data_ranges("usr/c")) == [(0, 4)]


def test_files_of_different_snaps_have_different_identities() -> None:
    stacked = stack(make_payload({"a": b"1"}), base=make_payload({"b": b"2"}))
    entries = stacked.inventory.entries
    assert entries["a"].identity != entries["b"].identity
    assert stacked.inventory.file_count == 2


def test_the_description_of_another_snap_is_not_the_apps() -> None:
    base = make_payload({"meta/gui/hello.desktop": b"", "snap/manifest.yaml": b""})
    assert stack(make_payload({"a": b""}), base=base).inventory.file_count == 1


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("/usr/bin/python3", "base"),
        ("/bin/python3", "base"),
        ("usr/bin/python3", "app"),
        ("$SNAP/usr/bin/python3", "app"),
        ("$SNAP/gnome-platform/usr/bin/python3", "content"),
        ("/snap/gnome-46-2404/current/usr/bin/python3", "content"),
        ("/snap/core24/current/usr/bin/python3", "base"),
    ],
)
def test_a_covered_file_is_found_where_the_app_sees_its_snap(
    path: str, role: str
) -> None:
    stacked = stack(
        make_payload({"usr/bin/python3": b"app", "bin/wrapper": b""}),
        content=make_payload({"usr/bin/python3": b"content"}),
        base=make_payload({"usr/bin/python3": b"base"}, links={"bin": "usr/bin"}),
    )
    entry = SnapPaths(stacked).file(path)
    assert entry is not None
    assert stacked.origin(entry.path).role == role
    assert stacked.read(entry.path, offset=0, length=9) == role.encode()


def test_a_link_out_of_a_snap_leads_into_the_base() -> None:
    stacked = stack(
        make_payload({"a": b""}, links={"usr/bin/ed": "/etc/alternatives/ed"}),
        base=make_payload(
            {"usr/bin/nano": b"nano"}, links={"etc/alternatives/ed": "/usr/bin/nano"}
        ),
    )
    entry = SnapPaths(stacked).file("usr/bin/ed")
    assert entry is not None
    assert entry.path == "usr/bin/nano"


def test_links_round_in_a_circle_between_snaps_lead_nowhere() -> None:
    stacked = stack(
        make_payload({"a": b""}, links={"b": "$SNAP/gnome-platform/c"}),
        content=make_payload({"x": b""}, links={"c": "/snap/core24/current/d"}),
        base=make_payload(
            {"y": b""}, links={"d": "/snap/gnome-46-2404/current/c", "e": "e"}
        ),
    )
    for path in ("b", "/d", "/e", "gnome-platform/c", "/nothing"):
        assert SnapPaths(stacked).file(path) is None


def test_a_launch_is_followed_into_base_and_content_snap() -> None:
    program = make_elf(needed=("libtool.so.1", "libc.so.6"), interpreter="/lib/ld.so")
    stacked = stack(
        make_payload(
            {"usr/bin/hello": program},
            apps={"hello": {"command": "usr/bin/hello"}},
            plugs={"gnome-platform": PLUG},
        ),
        content=make_payload(
            {f"{LIBRARIES}/libtool.so.1": make_elf()}, name="gnome-46-2404"
        ),
        base=make_payload(
            {f"{LIBRARIES}/libc.so.6": make_elf(), "usr/lib/ld.so": make_elf()},
            links={"lib": "usr/lib"},
        ),
    )
    launch_set = static_launch_set(stacked, "hello")
    assert launch_set.unresolved == ()
    found = [
        (layer.role, [file.path for file in part.files])
        for layer, part in split(launch_set, stacked)
    ]
    assert found == [
        ("app", ["usr/bin/hello"]),
        ("content", [f"{LIBRARIES}/libtool.so.1"]),
        ("base", ["usr/lib/ld.so", f"{LIBRARIES}/libc.so.6"]),
    ]


def test_what_a_stack_lacks_is_missing_and_not_in_the_base() -> None:
    program = make_elf(needed=("libgone.so.1",))
    stacked = stack(
        make_payload(
            {"usr/bin/hello": program}, apps={"hello": {"command": "usr/bin/hello"}}
        ),
        base=make_payload({"usr/bin/true": b""}),
    )
    (missing,) = static_launch_set(stacked, "hello").unresolved
    assert (missing.name, missing.supplier) == ("libgone.so.1", "missing")


def test_a_part_keeps_the_paths_of_its_own_snap() -> None:
    stacked = stack(
        make_payload({"usr/a": b"1"}),
        content=make_payload({"usr/a": b"22"}),
        base=make_payload({"usr/a": b"333", "usr/b": b"4"}),
    )
    files = tuple(
        LaunchFile(path=path, size_bytes=1, blocks=((0, 0),))
        for path in ("/usr/a", "gnome-platform/usr/a", "usr/a", "usr/b")
    )
    whole = LaunchSet(
        app="hello",
        source="static",
        files=files,
        read_share=Interval.exactly(1.0),
        seek_share=Interval.exactly(1.0),
    )
    paths = [
        (layer.name, [file.path for file in part.files])
        for layer, part in split(whole, stacked)
    ]
    assert paths == [
        ("hello", ["usr/a"]),
        ("gnome-46-2404", ["usr/a"]),
        ("core24", ["usr/a", "usr/b"]),
    ]


def test_a_path_of_no_snap_has_no_origin() -> None:
    stacked = stack(make_payload({"a": b""}), base=make_payload({"b": b""}))
    for path in ("c", "/c", "gnome-platform/a"):
        with pytest.raises(KeyError):
            stacked.origin(path)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("$SNAP/gnome-platform", "gnome-platform"),
        ("${SNAP}/data-dir/themes/", "data-dir/themes"),
        ("gnome-platform", "gnome-platform"),
        ("", "gnome-46-2404"),
        (None, "gnome-46-2404"),
    ],
)
def test_a_content_snap_is_placed_at_its_plugs_target(
    target: str | None, place: str
) -> None:
    stacked = stack_of(
        make_payload({"a": b""}, plugs={"gnome": {**PLUG, "target": target}}),
        bases=(),
        contents=(make_payload({"b": b""}, name="gnome-46-2404"),),
    )
    assert isinstance(stacked, StackedPayload)
    assert [layer.place for layer in stacked.layers] == ["", place]


def test_a_snap_takes_its_own_base_and_the_content_that_it_asks_for() -> None:
    app = make_payload(
        {"a": b""},
        plugs={
            "gnome": PLUG,
            "icons": {**PLUG, "target": "$SNAP/icons"},
            "themes": {"interface": "content", "content": "gtk-themes", "target": "t"},
            "home": None,
        },
    )
    given = {
        name: make_payload({name: b""}, name=name, **more)  # type: ignore[arg-type]
        for name, more in {
            "gnome-46-2404": {},
            "kf6-core24": {},
            "any-themes": {
                "slots": {"gtk-themes": {"interface": "content"}, "home": "home"}
            },
            "core22": {"type": "base"},
            "core24": {"type": "base"},
        }.items()
    }
    every = tuple(given.values())
    stacked = stack_of(app, bases=every[3:], contents=every[:3])
    assert isinstance(stacked, StackedPayload)
    assert [(layer.role, layer.name, layer.place) for layer in stacked.layers] == [
        ("app", "hello", ""),
        ("content", "gnome-46-2404", "gnome-platform"),
        ("content", "any-themes", "t"),
        ("base", "core24", "/"),
    ]
    assert stack_of(app, bases=every[3:4], contents=every[1:2]) is app
