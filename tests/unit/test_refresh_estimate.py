"""Deltas between two builds, estimated."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.refresh import compare
from snapcraft_compression_advisor.refresh.builds import check_names
from snapcraft_compression_advisor.refresh.changes import find_changes
from snapcraft_compression_advisor.refresh.compare import chunks_cost
from snapcraft_compression_advisor.refresh.contents import listing, raw_contents
from snapcraft_compression_advisor.refresh.delta import PLAIN, SNAP_AWARE
from snapcraft_compression_advisor.refresh.estimate import estimate_deltas, refusal
from snapcraft_compression_advisor.refresh.pieces import PieceMatcher

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.payload.source import Payload

NOISE = random.Random(3).randbytes(600_000)
FRESH = random.Random(4).randbytes(100_000)
BEFORE = {"usr/bin/app": NOISE, "usr/share/text": b"a text\n" * 9_000}


def deltas(after: Mapping[str, bytes], codec: str = "lzo") -> tuple[float, float]:
    """Return the middles of the plain and of the snap-aware delta."""
    found = estimate_deltas(make_payload(BEFORE), make_payload(after), codec)
    return found[PLAIN].size_bytes.mid, found[SNAP_AWARE].size_bytes.mid


def test_equal_builds_take_next_to_nothing() -> None:
    plain, snap_aware = deltas(BEFORE)
    assert plain < 200
    assert snap_aware < 200


def test_what_is_inserted_changes_all_compressed_blocks_behind_it() -> None:
    letters = NOISE.translate(bytes(b"abcdefgh"[n % 8] for n in range(256)))
    old = make_payload({"text": letters})
    new = make_payload({"text": letters[:1_000] + FRESH + letters[1_000:]})
    found = estimate_deltas(old, new, "lzo")
    plain, snap_aware = (found[each].size_bytes.mid for each in (PLAIN, SNAP_AWARE))
    assert len(FRESH) < snap_aware < 1.05 * len(FRESH)
    assert plain > 2 * snap_aware


def test_file_that_is_added_is_sent_whole() -> None:
    plain, snap_aware = deltas({**BEFORE, "usr/bin/more": FRESH})
    assert len(FRESH) < snap_aware < 1.05 * len(FRESH)
    assert len(FRESH) < plain < 1.05 * len(FRESH)


def test_copies_are_sent_once() -> None:
    after = {**BEFORE, "usr/bin/more": FRESH, "usr/bin/copy": FRESH}
    assert max(deltas(after)) < 1.05 * len(FRESH)


def test_file_that_moved_costs_its_line_alone() -> None:
    after = {"opt/app": NOISE, "usr/share/text": BEFORE["usr/share/text"]}
    assert max(deltas(after)) < 500


@pytest.mark.parametrize(("reach_bytes", "least"), [(1 << 18, 300_000), (1 << 19, 0)])
def test_file_that_moved_beyond_the_window_is_sent_again(
    reach_bytes: int, least: int
) -> None:
    between = {f"m/{n}": bytes([n]) * 100_000 for n in range(3)}
    old = make_payload({"a/app": NOISE[:300_000], **between})
    new = make_payload({"z/app": NOISE[:300_000], **between})
    streams = [raw_contents(each) for each in (old, new)]
    cost = chunks_cost(*streams, level=7, reach_bytes=reach_bytes)
    assert least < cost.size_bytes.mid < least + 10_000


def test_more_copies_than_xdelta3_collects_may_send_what_did_not_change(
    mocker: MockerFixture,
) -> None:
    patched = b"".join(
        NOISE[start : start + 200] + bytes([1]) for start in range(0, 600_000, 200)
    )
    streams = [raw_contents(make_payload({"f": each})) for each in (NOISE, patched)]
    usual = chunks_cost(*streams, level=7).size_bytes
    mocker.patch.object(compare, "_MOST_COPIES", 2_000)
    full = chunks_cost(*streams, level=7).size_bytes
    assert full.mid == pytest.approx(usual.mid + compare.LOST_BYTES)
    assert full.high == pytest.approx(
        usual.high + compare.LOST_BYTES + 2 * compare.LOST_SPREAD
    )
    assert full.low == usual.low


def test_each_draw_has_chunks_of_new_files() -> None:
    rare = {f"m/{n}": random.Random(n).randbytes(20_000) for n in range(60)}
    old = make_payload({"a/app": NOISE, **rare})
    changed = {path: bytes([data[0] ^ 1]) + data[1:] for path, data in rare.items()}
    added = {
        f"m/{n}x": random.Random(n + 99).randbytes(20_000) for n in range(0, 60, 8)
    }
    new = make_payload({"a/app": NOISE, **changed, **added})
    cost = chunks_cost(raw_contents(old), raw_contents(new), level=7, draws={8: 9.0})
    assert cost.size_bytes.mid == pytest.approx(20_000 * len(added), rel=0.15)


def test_chunks_that_take_more_in_the_image_are_drawn(mocker: MockerFixture) -> None:
    files = {f"f{n}": random.Random(n).randbytes(20_000) for n in range(60)}
    contents = raw_contents(make_payload(files))
    light = [
        chunk._replace(packed_bytes=1 if chunk.path < "f3" else chunk.length)
        for chunk in contents.chunks
    ]
    looked_at = mocker.spy(PieceMatcher, "match")
    new = replace(contents, chunks=light)
    chunks_cost(raw_contents(make_payload({})), new, level=7, draws={8: 9.0})
    paths = {call.args[1].path for call in looked_at.call_args_list}
    assert len(paths) == 8
    assert min(paths) >= "f3"


def test_interval_spans_the_estimate() -> None:
    after = make_payload({**BEFORE, "usr/bin/more": FRESH})
    for delta in estimate_deltas(make_payload(BEFORE), after, "xz").values():
        size = delta.size_bytes
        assert size.low < size.mid < size.high
        assert set(delta.files) == {"usr/bin/more"}


def test_codec_with_options_has_no_snap_aware_delta() -> None:
    payload = make_payload(BEFORE)
    assert set(estimate_deltas(payload, payload, "lz4")) == {PLAIN}
    assert refusal(payload, "lz4") is not None
    assert refusal(payload, "xz") is None


def test_listing_is_in_the_order_of_unsquashfs() -> None:
    payload = make_payload({"a.b/x": b"12", "a/y": b"345", "z": b"6"})
    names = [line.split()[0] for line in listing(payload).decode().splitlines()]
    assert names == ["/", "a", "a/y", "a.b", "a.b/x", "z"]
    assert listing(payload).decode().endswith("z R 0 755 0 0 1 5")


def test_holes_take_nothing(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 33)
        file.seek(1 << 32)
        file.write(b"x")
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/snap.yaml").write_text("name: hello\nversion: '1'\n")
    with open_payload(tmp_path) as payload:
        chunks = raw_contents(payload).chunks
    sparse = [chunk for chunk in chunks if chunk.path == "sparse"]
    assert [chunk.number for chunk in sparse] == [(1 << 32) // (128 * 1024)]


def changes(before: bytes, after: bytes, path: str = "usr/lib/app-1.1") -> str:
    old, new = make_payload({"usr/lib/app-1.0": before}), make_payload({path: after})
    (change,) = find_changes(old, new, {path: 5.0})
    return change.change


def test_file_that_differs_in_a_few_bytes_has_a_timestamp() -> None:
    stamped = NOISE[:500] + b"2026-11-23" + NOISE[510:]
    assert changes(NOISE, stamped) == "timestamp"


def test_file_of_another_version_changed() -> None:
    assert changes(NOISE, NOISE + FRESH) == "changed"


def test_same_contents_elsewhere_moved() -> None:
    assert changes(NOISE, NOISE, "opt/other") == "moved"


def test_file_of_the_same_path_changed() -> None:
    assert changes(NOISE, FRESH, "usr/lib/app-1.0") == "changed"


def test_file_like_no_other_is_added() -> None:
    assert changes(NOISE, FRESH, "opt/other") == "added"


def test_builds_of_different_snaps_are_refused(one: Payload) -> None:
    other = make_payload({}, name="other")
    with pytest.raises(BadDataError, match="different snaps"):
        check_names(one, other)


@pytest.fixture
def one() -> Payload:
    return make_payload({})


@pytest.mark.parametrize(("shortened", "noise"), [(6, 2), (4, 4), (0, 8)])
def test_share_that_a_device_decodes_is_that_of_literals_made_shorter(
    shortened: int, noise: int
) -> None:
    """Of stored blocks, some of which LZMA makes a little shorter."""
    draw = random.Random(5)
    parts = [bytes(draw.choices(range(224), k=200_000)) for _ in range(shortened)]
    parts += [draw.randbytes(200_000) for _ in range(noise)]
    after = {f"lib/{number}": part for number, part in enumerate(parts)}
    old, new = (raw_contents(make_payload(each)) for each in (BEFORE, after))
    stored = replace(new, unpacked=False, at_hand=True)
    found = chunks_cost(old, stored, level=3).coded_share
    assert found == pytest.approx(shortened / (shortened + noise), abs=0.1)
