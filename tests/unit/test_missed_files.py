"""What a log of failed system calls says was looked for."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.capture.missed_files import missed_paths


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '12 openat(AT_FDCWD</>, "/a/b.so", O_RDONLY) = -1 ENOENT (No such)',
            "/a/b.so",
        ),
        ('12 openat(AT_FDCWD</d>, "b.so", O_RDONLY) = -1 ENOENT (No such)', "/d/b.so"),
        ('openat(5</x y>, "z", O_RDONLY) = -1 EACCES (Permission denied)', "/x y/z"),
        ('7 open("/a\\303\\244\\"\\n", O_RDONLY) = -1 ENOENT (No)', '/a\u00e4"\n'),
        ('7 execve("/bin/x", [], 0x7ffd /* 0 vars */) = -1 ENOENT (No)', "/bin/x"),
        ('7 execveat(3</d>, "x", [], NULL, 0) = -1 ENOENT (No)', "/d/x"),
    ],
)
def test_failed_call_names_a_path(line: str, expected: str) -> None:
    assert list(missed_paths([line])) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        '12 openat(AT_FDCWD</>, "/a", O_RDONLY) = 3</a>',
        '12 readlink("/a", 0x7ffd, 10) = -1 EINVAL (Invalid)',
        "12 +++ exited with 0 +++",
        "12 openat(AT_FDCWD</>, 0x7ffd, O_RDONLY) = -1 EFAULT (Bad address)",
        "",
    ],
)
def test_other_lines_name_none(line: str) -> None:
    assert list(missed_paths([line])) == []
