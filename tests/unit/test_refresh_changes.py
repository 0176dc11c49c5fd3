"""What happened to the files that make a delta large."""

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_payload
from snapcraft_compression_advisor.refresh import changes
from snapcraft_compression_advisor.refresh.changes import (
    ChangeKind,
    FileChange,
    archive_members,
    find_changes,
    pair_files,
    totals,
)

TEXT = b"".join(b"line %d\n" % n for n in range(5_000))
NOISE = random.Random(5).randbytes(20_000)


def zipped(members: Mapping[str, bytes], *, year: int = 2026, level: int = 6) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(
        target, "w", zipfile.ZIP_DEFLATED, compresslevel=level
    ) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), data, 8, level)
    return target.getvalue()


def kind(before: bytes, after: bytes, path: str = "usr/lib/app") -> str:
    old, new = make_payload({path: before}), make_payload({path: after})
    (change,) = find_changes(old, new, {path: 5.0})
    return change.change


MEMBERS = {"a": TEXT, "b": NOISE}
REORDERED = dict(reversed(MEMBERS.items()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (zipped(MEMBERS), zipped(MEMBERS, level=9)),
        (zipped(MEMBERS), zipped(REORDERED)),
        (gzip.compress(TEXT, 1, mtime=0), gzip.compress(TEXT, 9, mtime=0)),
        (bz2.compress(TEXT, 1), bz2.compress(TEXT, 9) + b""),
        (lzma.compress(TEXT, preset=0), lzma.compress(TEXT, preset=6)),
    ],
    ids=["zip level", "zip order", "gzip", "bzip2", "xz"],
)
def test_same_contents_in_other_bytes_were_compressed_again(
    before: bytes, after: bytes
) -> None:
    assert before != after
    assert kind(before, after) == "recompressed"


def test_archive_with_other_contents_changed() -> None:
    assert kind(zipped(MEMBERS), zipped({**MEMBERS, "a": NOISE})) == "archive"
    assert kind(gzip.compress(TEXT), gzip.compress(TEXT + b"more")) == "archive"


def test_second_stream_of_a_file_is_not_overlooked() -> None:
    one = gzip.compress(TEXT)
    assert kind(one + gzip.compress(b"x"), one + gzip.compress(NOISE)) != "recompressed"


def test_bomb_is_no_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "UNPACKED_LIMIT_BYTES", 1_000)
    assert archive_members(gzip.compress(b"\0" * 1_001)) is None
    assert archive_members(gzip.compress(b"\0" * 999)) is not None


@given(
    st.sampled_from([b"PK\x03\x04", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\0"]),
    st.binary(max_size=200),
)
def test_broken_archive_is_none(magic: bytes, rest: bytes) -> None:
    archive_members(magic + rest)


def test_new_version_in_the_metadata_is_no_timestamp() -> None:
    versions = b"name: app\nversion: '1.2'\n", b"name: app\nversion: '1.3'\n"
    assert kind(*versions, path="meta/snap.yaml") == "changed"
    assert kind(*versions, path="usr/share/app.yaml") == "timestamp"


def test_program_was_built_again() -> None:
    assert kind(b"\x7fELF" + NOISE, b"\x7fELF" + NOISE[::-1]) == "rebuilt"


CACHE = "usr/share/icons/hicolor/icon-theme.cache"
ICON = "usr/share/icons/hicolor/48x48/app.png"


def test_cache_of_unchanged_files_was_made_at_another_time() -> None:
    old = make_payload({CACHE: TEXT, ICON: NOISE})
    new = make_payload({CACHE: TEXT[::-1], ICON: NOISE})
    (change,) = find_changes(old, new, {CACHE: 5.0})
    assert change.change == "cache"
    other = make_payload({CACHE: TEXT[::-1], ICON: NOISE, f"{ICON}2": NOISE})
    (change,) = find_changes(old, other, {CACHE: 5.0})
    assert change.change == "changed"


def test_bytecode_is_a_cache_of_its_source() -> None:
    files = {"lib/a.py": TEXT, "lib/__pycache__/a.cpython-312.pyc": NOISE}
    path = "lib/__pycache__/a.cpython-312.pyc"
    new = make_payload({**files, path: NOISE[::-1]})
    (change,) = find_changes(make_payload(files), new, {path: 5.0})
    assert change.change == "cache"
    _, change = find_changes(make_payload(files), new, {path: 5.0, "lib/a.py": 6.0})
    assert change.change == "changed"


def test_file_is_where_it_adds_most() -> None:
    old, new = make_payload({}), make_payload({"a": TEXT, "b": NOISE})
    plain = {"xz": {"a": 9.0, "b": 1.0}, "lzo": {"b": 2.0}}
    first, second = find_changes(old, new, {"a": 1.0, "b": 3.0}, plain)
    assert (first.path, first.plain_bytes) == ("a", {"xz": 9.0, "lzo": 0.0})
    assert (second.delta_bytes, second.plain_bytes) == (3.0, {"xz": 1.0, "lzo": 2.0})


def test_kinds_are_summed() -> None:
    kinds: tuple[tuple[str, ChangeKind, float], ...] = (
        ("a", "added", 2.0),
        ("b", "moved", 9.0),
        ("c", "added", 3.0),
    )
    changes = [
        FileChange(
            path=path,
            old_path=None,
            change=change,
            delta_bytes=1.0,
            plain_bytes={"xz": size},
        )
        for path, change, size in kinds
    ]
    assert [
        (t.change, t.files, t.delta_bytes, t.plain_bytes) for t in totals(changes)
    ] == [("moved", 1, 1.0, {"xz": 9.0}), ("added", 2, 2.0, {"xz": 5.0})]


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ({"a": 1, "b": 2}, {"a": 9}, {"a": "a"}),
        (
            {"lib/z.so.1.2.13": 10},
            {"lib/z.so.1.3": 11},
            {"lib/z.so.1.3": "lib/z.so.1.2.13"},
        ),
        ({"a/data.bin": 5}, {"b/c/data.bin": 5}, {"b/c/data.bin": "a/data.bin"}),
        ({"1/x": 100, "2/x": 40}, {"3/x": 50}, {"3/x": "2/x"}),
        ({"a/x": 1}, {"a/x": 1, "b/x": 1}, {"a/x": "a/x"}),
    ],
    ids=["same path", "other version", "moved", "closest length", "stays"],
)
def test_file_is_compared_with_what_it_likely_was(
    old: dict[str, int], new: dict[str, int], pairs: dict[str, str]
) -> None:
    assert pair_files(old, new) == pairs
