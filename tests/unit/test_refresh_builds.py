"""Two builds that a device doesn't refresh between, or that were swapped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from payloads import make_payload
from snapcraft_compression_advisor.payload.snap_yaml import (
    SnapMetadata,
    parse_snap_yaml,
)
from snapcraft_compression_advisor.refresh.builds import oddities

if TYPE_CHECKING:
    from collections.abc import Mapping


def said(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    builds = []
    for name, metadata in (("old", old), ("new", new)):
        build = make_payload({})
        build.snap = SnapMetadata.model_validate({"name": "hello", **metadata})
        build.path = Path(name)
        builds.append(build)
    return " ".join(oddities(*builds, changed=True))


def test_version_may_be_what_yaml_makes_of_it() -> None:
    text = b"name: hello\nversion: 2026-11-23\n"
    assert parse_snap_yaml(text, where="snap.yaml").version == "2026-11-23"
    assert parse_snap_yaml(b"name: hello\nversion: 1.5\n", where="x").version == "1.5"


def test_builds_for_other_devices_are_noticed() -> None:
    amd, arm = {"architectures": ["amd64"]}, {"architectures": ["arm64"]}
    assert "no device refreshes" in said(amd, arm)
    assert not said(amd, {"architectures": ["all"]})
    assert not said(amd, {})


def test_same_build_twice_downloads_nothing() -> None:
    build = make_payload({})
    (text,) = oddities(build, build, changed=False)
    assert "same revision" in text
