"""What a trace says of the files that were read."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_payload
from snapcraft_compression_advisor.capture.record_trace import (
    looked_for,
    traced_files,
)
from snapcraft_compression_advisor.capture.trace import Trace, follow
from snapcraft_compression_advisor.launch.guess.priors import (
    Counts,
    built_in_priors,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.payload.source import Payload

MIB = 1024 * 1024
BLOCK = 128 * 1024


def follow_lines(*lines: str) -> Trace:
    return follow(lines, directory="/cwd")


def ranges(*lines: str) -> dict[str, list[tuple[int, int]]]:
    return follow_lines(*lines).ranges


def test_files_only_opened_do_not_count() -> None:
    trace = follow(['1 openat(AT_FDCWD, "/a", O_RDONLY) = 3', "1 close(3) = 0"])
    assert (trace.ranges, trace.calls) == ({}, 2)


def test_files_that_are_not_there_are_known_as_far_as_the_snap_has_them() -> None:
    no = "= -1 ENOENT (No such file or directory)"
    trace = follow_lines(
        f'1 openat(AT_FDCWD, "/snap/hello/x1/lib/../doc/a", O_RDONLY) {no}',
        f'1 execve("/snap/hello/current/bin/b", ["b"], 0x7f) {no}',
        f'1 openat(AT_FDCWD, "/snap/hello/x1/never", O_RDONLY) {no}',
        f'1 openat(AT_FDCWD, "/snap/other/x1/doc/c", O_RDONLY) {no}',
        '1 openat(AT_FDCWD, "/snap/hello/x1/doc/c", O_RDONLY) = 3',
    )
    names = ("doc/a", "doc/c", "bin/b", "lib/d")
    payload = make_payload(dict.fromkeys(names, b"contents"))
    assert looked_for(trace, payload) == {"doc/a", "bin/b"}


def test_mapped_files_count_over_the_range_that_is_mapped() -> None:
    trace = follow_lines(
        '1 open("/a", O_RDONLY) = 3',
        "1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f00",
        "1 mmap(0x7f00, 100, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED, 3, 0x2000)"
        " = 0x7f00",
        "1 mmap(NULL, 999, PROT_NONE, MAP_PRIVATE, 3, 0) = 0x7f00",
        "1 mmap(NULL, 999, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00",
        "1 mmap(NULL, 999, PROT_READ, MAP_PRIVATE, 3, 0) = -1 ENODEV (No such device)",
    )
    assert trace.mapped == {"/a": [(0, 4096), (0x2000, 0x2000 + 100)]}
    assert trace.ranges == {}


def test_mapping_that_is_read_at_once_counts_as_read() -> None:
    trace = follow_lines(
        '1 open("/a", O_RDONLY) = 3',
        "1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_POPULATE, 3, 0) = 0x7f00",
    )
    assert (trace.ranges, trace.mapped) == ({"/a": [(0, 4096)]}, {})


def test_reads_move_on_and_seeks_and_offsets_are_followed() -> None:
    assert ranges(
        '1 open("/a", O_RDONLY) = 3',
        '1 read(3, "", 100) = 50',
        '1 read(3, "", 100) = 20',
        "1 lseek(3, 1000, SEEK_SET) = 1000",
        '1 read(3, "", 100) = 1',
        '1 pread64(3, "", 100, 5000) = 60',
        '1 preadv(3, [{iov_base="", iov_len=9}], 1, 7000) = 9',
        "1 readv(3, [], 1) = 4",
        '1 read(3, "", 100) = 0',
        '1 read(3, "", 100) = -1 EIO (Input/output error)',
    ) == {"/a": [(0, 70), (1000, 1001), (5000, 5060), (7000, 7009), (1001, 1005)]}


def test_copies_within_the_kernel_are_reads() -> None:
    assert ranges(
        '1 open("/a", O_RDONLY) = 3',
        "1 sendfile(1, 3, NULL, 100) = 100",
        "1 sendfile(1, 3, [500] => [510], 100) = 10",
        "1 copy_file_range(3, NULL, 1, NULL, 9, 0) = 9",
        "1 copy_file_range(3, [700], 1, NULL, 9, 0) = 9",
    ) == {"/a": [(0, 100), (500, 510), (100, 109), (700, 709)]}


def test_duplicates_share_their_offset_and_closing_one_leaves_the_other() -> None:
    assert ranges(
        '1 open("/a", O_RDONLY) = 3',
        "1 dup2(3, 9) = 9",
        "1 fcntl(3, F_DUPFD_CLOEXEC, 10) = 10",
        "1 fcntl(3, F_GETFL) = 0",
        "1 close(3) = 0",
        '1 open("/b", O_RDONLY) = 3',
        '1 read(9, "", 5) = 5',
        '1 read(10, "", 5) = 5',
        '1 read(3, "", 5) = 5',
    ) == {"/a": [(0, 10)], "/b": [(0, 5)]}


def test_children_have_descriptors_of_their_own_and_threads_do_not() -> None:
    assert ranges(
        '1 open("/a", O_RDONLY) = 3',
        "1 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 2",
        "1 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD}, 88) = 3",
        '2 open("/b", O_RDONLY) = 4',
        '3 open("/c", O_RDONLY) = 5',
        '1 read(5, "", 1) = 1',
        '1 read(4, "", 1) = 1',
        '2 read(3, "", 1) = 1',
    ) == {"/c": [(0, 1)], "/a": [(0, 1)]}


def test_child_that_appears_before_its_clone_returns_is_known() -> None:
    assert ranges(
        '1 open("/a", O_RDONLY) = 3',
        "1 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>",
        '2 read(3, "", 7) = 7',
        "1 <... clone resumed>) = 2",
        '2 read(3, "", 7) = 7',
    ) == {"/a": [(0, 14)]}


def test_relative_names_begin_at_the_working_directory_or_a_descriptor() -> None:
    found = ranges(
        '1 open("a", O_RDONLY) = 3',
        '1 read(3, "", 1) = 1',
        '1 chdir("sub") = 0',
        '1 open("b", O_RDONLY) = 3',
        '1 read(3, "", 1) = 1',
        '1 open("/dir", O_RDONLY|O_DIRECTORY) = 4',
        '1 openat(4, "c", O_RDONLY) = 3',
        '1 read(3, "", 1) = 1',
        "1 fchdir(4) = 0",
        '1 openat(AT_FDCWD, "d", O_RDONLY) = 3',
        '1 read(3, "", 1) = 1',
    )
    assert list(found) == ["/cwd/a", "/cwd/sub/b", "/dir/c", "/dir/d"]


def test_root_of_its_own_is_followed() -> None:
    found = ranges(
        '1 chroot("/tree/") = 0',
        '1 open("/a", O_RDONLY) = 3',
        '1 read(3, "", 1) = 1',
    )
    assert list(found) == ["/tree/a"]


def test_names_behind_descriptors_are_trusted_most() -> None:
    found = ranges(
        '1 openat(AT_FDCWD</x>, "link", O_RDONLY) = 3</x/file>',
        '1 read(3</x/file>, "", 1) = 1',
        '7 read(8</y>, "", 1) = 1',
        '7 read(8</z>, "", 1) = 1',
        '7 read(9<pipe:[1]>, "", 1) = 1',
    )
    assert list(found) == ["/x/file", "/y", "/z"]


def test_names_that_cannot_be_known_are_counted() -> None:
    trace = follow(
        ['1 open("a", O_RDONLY) = 3', '1 read(3, "", 1) = 1', "hello",
         '1 open("/cut"..., O_RDONLY) = 4']
    )  # fmt: skip
    assert trace.ranges == {}
    assert (trace.unknown_files, trace.unreadable_lines) == (2, 1)


def payload_of_all() -> Payload:
    return make_payload(
        {"bin/app": b"\x7fELF broken", "bin/run": b"#!/p/bin/app -x\n", "empty": b""}
        | {"lib/big": bytes(3 * BLOCK + 1)},
        links={"lib/link": "big"},
    )


Blocks = list[tuple[str, tuple[tuple[int, int], ...]]]


def profile_of(*lines: str, prefixes: tuple[str, ...] = ("/p",)) -> Blocks:
    files = traced_files(follow(lines), payload_of_all(), prefixes=prefixes)
    return [(file.path, file.blocks) for file in files]


def test_ranges_become_blocks_as_far_as_the_file_reaches() -> None:
    lines = (
        '1 open("/p/lib/link", O_RDONLY) = 3',
        f'1 pread64(3, "", 1, {BLOCK - 1}) = 1',
        f'1 pread64(3, "", 1, {3 * BLOCK}) = 1',
        f"1 mmap(NULL, {9 * BLOCK}, PROT_READ, MAP_PRIVATE, 3, {9 * BLOCK}) = 0x7f00",
        '1 open("/elsewhere", O_RDONLY) = 4',
        '1 read(4, "", 1) = 1',
        '1 open("/p/empty", O_RDONLY) = 4',
        "1 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 4, 0) = 0x7f00",
    )
    assert profile_of(*lines) == [("lib/big", ((0, 0), (3, 3)))]


def test_block_that_is_only_mapped_is_read_in_some_launches() -> None:
    lines = (
        '1 open("/p/lib/big", O_RDONLY) = 3',
        '1 read(3, "", 1) = 1',
        f"1 mmap(NULL, {3 * BLOCK}, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f00",
    )
    (file,) = traced_files(follow(lines), payload_of_all(), prefixes=("/p",))
    assert file.blocks == ((0, 0), (1, 2))
    assert file.shares is not None
    seen, mapped = file.shares
    assert seen == 1
    assert 0 < mapped < 1


def test_share_of_a_mapped_block_is_that_of_recorded_launches() -> None:
    priors = replace(
        built_in_priors(),
        blocks=Counts(Counter({"data": 3_000}), Counter({"data": 10_000})),
    )
    lines = (
        '1 open("/p/lib/big", O_RDONLY) = 3',
        f"1 mmap(NULL, {3 * BLOCK}, PROT_READ, MAP_PRIVATE, 3, {BLOCK}) = 0x7f00",
    )
    (file,) = traced_files(
        follow(lines), payload_of_all(), prefixes=("/p",), priors=priors
    )
    assert (file.blocks, file.shares) == (((1, 3),), (0.3,))


def test_programs_count_whole_with_their_interpreters() -> None:
    line = '1 execve("/p/bin/run", ["run"], 0x7ff /* 20 vars */) = 0'
    assert profile_of(line) == [("bin/app", ((0, 0),)), ("bin/run", ((0, 0),))]


@pytest.mark.parametrize(
    ("path", "prefixes"),
    [
        ("/snap/hello/x1/lib/big", ()),
        ("/snap/hello/current/lib/big", ()),
        ("/lib/big", ("/",)),
        ("/p//lib/../lib/./big", ("/p/",)),
    ],
)
def test_payload_is_known_at_several_places(
    path: str, prefixes: tuple[str, ...]
) -> None:
    lines = (f'1 open("{path}", O_RDONLY) = 3', '1 read(3, "", 1) = 1')
    assert profile_of(*lines, prefixes=prefixes) == [("lib/big", ((0, 0),))]


def test_other_snaps_are_elsewhere() -> None:
    lines = ('1 open("/snap/other/1/lib/big", O_RDONLY) = 3', '1 read(3, "", 1) = 1')
    assert profile_of(*lines) == []


READS = st.lists(
    st.tuples(st.integers(0, 4 * BLOCK), st.integers(1, 2 * BLOCK)), max_size=8
)


@given(READS)
def test_blocks_are_exactly_those_that_any_read_touches(
    reads: list[tuple[int, int]],
) -> None:
    size_bytes = 3 * BLOCK + 1
    lines = ['1 open("/p/lib/big", O_RDONLY) = 3']
    touched = set()
    for offset, length in reads:
        done = max(0, min(length, size_bytes - offset))
        lines.append(f'1 pread64(3, "", {length}, {offset}) = {done}')
        touched |= {byte // BLOCK for byte in range(offset, offset + done, 512)}
        touched |= {(offset + done - 1) // BLOCK} if done else set()
    found = profile_of(*lines)
    blocks = found[0][1] if found else ()
    assert {n for first, last in blocks for n in range(first, last + 1)} == touched


CALLS = st.lists(
    st.builds(
        "{} {}({}) = {}".format,
        st.sampled_from("123"),
        st.sampled_from(["open", "read", "mmap", "dup2", "lseek", "clone", "close",
                         "fcntl", "chdir", "fchdir", "chroot", "execve", "execveat",
                         "pread64", "sendfile", "copy_file_range", "openat"]),
        st.lists(
            st.sampled_from(['"/p/lib/big"', "3", "NULL", "0", "-1", "AT_FDCWD",
                             "4</p/lib/big>", '""', "[7]", "F_DUPFD", "PROT_READ"]),
            max_size=6,
        ).map(", ".join),
        st.sampled_from(["0", "3", "-1 EBADF (x)", "4</p/lib/big>", "9" * 11, "?"]),
    ),
    max_size=12,
)  # fmt: skip


@given(CALLS)
def test_no_sequence_of_calls_is_fatal(lines: list[str]) -> None:
    for _, blocks in profile_of(*lines):
        assert all(first <= last <= 3 for first, last in blocks)
