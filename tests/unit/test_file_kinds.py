"""Kinds of files by their names."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.payload.file_kinds import file_kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("usr/lib/libgtk-4.so.1.1200.0", "shared libraries"),
        ("usr/lib/python3/dist-packages/x.so", "shared libraries"),
        ("usr/lib/python3/os.py", "Python"),
        ("usr/share/PICTURE.PNG", "packed pictures"),
        ("usr/share/a.svg", "plain pictures"),
        ("usr/share/a.tar.gz", "archives"),
        ("usr/bin/calc", "programs"),
        ("usr/share/calc", "other files"),
        ("usr/share/.png", "other files"),
    ],
)
def test_name_tells_the_kind(path: str, kind: str) -> None:
    assert file_kind(path) == kind


def test_what_may_be_run_and_has_no_telling_suffix_is_a_program() -> None:
    assert file_kind("usr/lib/chromium/chromium", executable=True) == "programs"
    assert file_kind("usr/share/run.py", executable=True) == "Python"
