"""Following paths as the running snap would."""

import pytest

from payloads import make_inventory
from snapcraft_compression_advisor.payload.paths import PathResolver

INVENTORY = make_inventory(
    {
        "usr/lib/libx.so.1.2": 10,
        "usr/bin/x": 10,
        "new": 10,
        "new\nline/x": 10,
        "new\nline/x\n": 10,
    },
    links={
        "usr/lib/libx.so.1": "libx.so.1.2",
        "lib": "usr/lib",
        "bin/x": "../usr/bin/x",
        "own": "/snap/hello/current/usr/bin/x",
        "base": "/usr/share/base",
        "basedir/data": "/usr/share",
        "loop": "loop",
        "a": "b",
        "b": "a",
        "out": "../../etc/passwd",
        "dangling": "nothing",
        "odd": "/snap/hello/x1/new\nline/x\n",
    },
)
RESOLVER = PathResolver(INVENTORY, snap_name="hello")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("usr/bin/x", "usr/bin/x"),
        ("$SNAP/usr/bin/x", "usr/bin/x"),
        ("${SNAP}/usr//bin/./x", "usr/bin/x"),
        ("/snap/hello/x1/usr/bin/x", "usr/bin/x"),
        ("lib/libx.so.1", "usr/lib/libx.so.1.2"),
        ("bin/x", "usr/bin/x"),
        ("usr/lib/../bin/x", "usr/bin/x"),
        ("own", "usr/bin/x"),
        ("$SNAP/new\nline/x", "new\nline/x"),
        ("odd", "new\nline/x\n"),
    ],
)
def test_paths_and_links_inside_are_followed(path: str, found: str) -> None:
    location = RESOLVER.locate(path)
    assert location.entry is not None
    assert location.entry.path == found


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("/usr/bin/python3", "/usr/bin/python3"),
        ("/snap/other/current/x", "/snap/other/current/x"),
        ("base", "/usr/share/base"),
        ("basedir/data/icons/x.png", "/usr/share/icons/x.png"),
        ("$HOME/x", "$HOME/x"),
        ("$SNAP_DATA/x", "$SNAP_DATA/x"),
    ],
)
def test_absolute_paths_are_the_base(path: str, outside: str) -> None:
    location = RESOLVER.locate(path)
    assert location.entry is None
    assert location.outside == outside


@pytest.mark.parametrize("path", ["nothing", "loop", "a", "out", "dangling", "../x"])
def test_what_leads_nowhere_has_neither(path: str) -> None:
    location = RESOLVER.locate(path)
    assert (location.entry, location.outside) == (None, None)
