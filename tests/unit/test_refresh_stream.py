"""A build's files as one stream, and running without xdelta3."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from lint_contexts import found_by, make_context
from payloads import make_payload
from snapcraft_compression_advisor.core.errors import BadDataError, ToolError
from snapcraft_compression_advisor.diff.figures import BaselineBuild
from snapcraft_compression_advisor.lint.rules.deltas import RULES
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.refresh import builds
from snapcraft_compression_advisor.refresh.estimate import DeltaMaker
from snapcraft_compression_advisor.refresh.stream import Stream


def test_stream_is_a_listing_and_the_contents_in_its_order() -> None:
    payload = make_payload({"b": b"second", "a/x": b"first"}, links={"c": "b"})
    target = io.BytesIO()
    stream = Stream(payload)
    stream.write(target)
    listing, _, contents = target.getvalue().partition(b"MODIFY\n#\n")
    assert contents == b"firstsecond"
    assert b"\na/x R 0 755 0 0 5 0\nb R 0 755 0 0 6 5\nc S 0 777 0 0 b\n" in listing
    start = len(target.getvalue()) - len(contents)
    assert stream.places == [(start, "a/x"), (start + 5, "b")]


def test_names_of_one_file_have_its_contents_once() -> None:
    payload = make_payload({"a": b"same", "b": b"same"})
    entries = payload.inventory.entries.values()
    payload.inventory = Inventory.of([each._replace(identity=1) for each in entries])
    target = io.BytesIO()
    Stream(payload).write(target)
    assert b"\nb L a\n" in target.getvalue()
    assert target.getvalue().endswith(b"#\nsame")


def test_builds_that_no_delta_is_made_of_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(builds, "LARGEST_BYTES", 3)
    maker = DeltaMaker(make_payload({}), make_payload({"a": b"four"}))
    with pytest.raises(BadDataError, match="add up to 4 bytes"):
        _ = maker.snap_aware


def test_missing_xdelta3_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    build = make_payload({"a": b"four"})
    with pytest.raises(ToolError, match="sizes of deltas aren't known") as caught:
        _ = DeltaMaker(build, build).snap_aware
    assert "package xdelta3" in str(caught.value.resolution)


def test_delta_that_is_not_known_passes_no_rule() -> None:
    policy = {"max-refresh-size": "8MB"}
    baseline = BaselineBuild(figures=None, no_delta="xdelta3 isn't installed")
    context = replace(make_context(policy=policy), baseline=baseline)
    for rule in RULES:
        (finding,) = found_by(rule, context)
        assert finding.undecided
        assert "xdelta3 isn't installed" in finding.message
