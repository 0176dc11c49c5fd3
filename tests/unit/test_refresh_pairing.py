"""Which file of the old build a file of the new one was made of."""

from __future__ import annotations

from snapcraft_compression_advisor.refresh.pairing import pair_files


def test_files_of_one_path_are_a_pair() -> None:
    assert pair_files({"a": 1, "b": 2}, {"a": 9}) == {"a": "a"}


def test_version_in_the_path_makes_no_difference() -> None:
    old = {"usr/lib/libz.so.1.2.13": 10, "usr/lib/libc.so.6": 10}
    assert pair_files(old, {"usr/lib/libz.so.1.3": 11, "usr/lib/libc.so.6": 10}) == {
        "usr/lib/libz.so.1.3": "usr/lib/libz.so.1.2.13",
        "usr/lib/libc.so.6": "usr/lib/libc.so.6",
    }


def test_moved_file_keeps_its_name() -> None:
    assert pair_files({"a/data.bin": 5}, {"b/c/data.bin": 5}) == {
        "b/c/data.bin": "a/data.bin"
    }


def test_closest_length_decides() -> None:
    old = {"1/x": 100, "2/x": 40}
    assert pair_files(old, {"3/x": 50}) == {"3/x": "2/x"}


def test_file_that_stays_is_no_source_of_another() -> None:
    assert pair_files({"a/x": 1}, {"a/x": 1, "b/x": 1}) == {"a/x": "a/x"}
