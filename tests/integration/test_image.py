"""The image reader against mksquashfs, unsquashfs and the kernel."""

import os
import random
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from image_sources import (
    CODECS,
    VARIANTS,
    mksquashfs,
    needs_mksquashfs,
    noise,
    text,
    write_files,
    write_tree,
)
from real_payloads import snap_pack
from snapcraft_compression_advisor.capture.mount import mounted
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs.entry import EntryKind, ImageEntry
from snapcraft_compression_advisor.squashfs.image import Image
from trees import fill

Pack = Callable[..., Path]
pytestmark = needs_mksquashfs

TYPE_BITS = {
    EntryKind.FILE: stat.S_IFREG,
    EntryKind.DIRECTORY: stat.S_IFDIR,
    EntryKind.SYMLINK: stat.S_IFLNK,
    EntryKind.BLOCK_DEVICE: stat.S_IFBLK,
    EntryKind.CHARACTER_DEVICE: stat.S_IFCHR,
    EntryKind.FIFO: stat.S_IFIFO,
    EntryKind.SOCKET: stat.S_IFSOCK,
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory whose contents the images have."""
    root = tmp_path_factory.mktemp("source")
    write_tree(root)
    return root


@pytest.fixture
def pack(source: Path, tmp_path: Path) -> Pack:
    """Return a function that packs the source, with options, into an image."""

    def run(*options: str, root: Path = source) -> Path:
        path = tmp_path / "packed.snap"
        mksquashfs(root, path, *options)
        return path

    return run


def full_mode(entry: ImageEntry) -> int:
    return TYPE_BITS[entry.kind] | entry.mode


def listing_line(entry: ImageEntry) -> str:
    """Return an entry as ``unsquashfs -lln`` prints it, spaces made single."""
    date = time.strftime("%Y-%m-%d %H:%M", time.gmtime(entry.modified_s))
    path = f"squashfs-root/{entry.path}".rstrip("/")
    target = f" -> {entry.link_target}" if entry.link_target is not None else ""
    mode = stat.filemode(full_mode(entry))
    owners = f"{entry.uid}/{entry.gid}"
    line = f"{mode} {owners} {entry.size_bytes} {date} {path}{target}"
    return " ".join(line.split())


def unsquashfs(path: Path, option: str) -> list[str]:
    """Return what unsquashfs prints about an image."""
    command = ["unsquashfs", option, os.fspath(path)]
    printed = subprocess.run(
        command,
        check=True,
        capture_output=True,
        env={**os.environ, "TZ": "UTC", "LC_ALL": "C"},
    ).stdout.decode("utf-8", "surrogateescape")
    return [" ".join(line.split()) for line in printed.splitlines()]


def assert_contents_are_those_of(image: Image, root: Path) -> None:
    """Assert that every file and link has the contents of the source's."""
    for entry in image.walk():
        path = root / entry.path
        if entry.kind is EntryKind.FILE:
            contents = image.read(entry, 0, entry.size_bytes)
            assert contents == path.read_bytes(), entry.path
        elif entry.kind is EntryKind.SYMLINK:
            assert entry.link_target == os.fspath(path.readlink())


@pytest.mark.parametrize("block", ["4K", "128K", "1M"])
@pytest.mark.parametrize("fragments", ["-no-fragments", "-always-use-fragments"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_image_reads_as_unsquashfs_reads_it(
    pack: Pack, source: Path, variant: str, fragments: str, block: str
) -> None:
    path = pack(*VARIANTS[variant], fragments, "-b", block)
    with Image.open(path) as image:
        lines = [listing_line(entry) for entry in image.walk()]
        assert_contents_are_those_of(image, source)
    printed = unsquashfs(path, "-lln")
    assert lines == printed[printed.index(lines[0]) :]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_superblock_says_what_unsquashfs_prints(pack: Pack, variant: str) -> None:
    path = pack(*VARIANTS[variant], "-b", "64K", "-mkfs-time", "1600000000")
    with Image.open(path) as image:
        superblock = image.superblock
        assert len(image._indexed("export table")) == 8 * superblock.inode_count
    printed = unsquashfs(path, "-stat")
    assert f"Compression {superblock.codec}" in printed
    assert f"Block size {superblock.block_bytes}" in printed
    assert f"Number of fragments {superblock.fragment_count}" in printed
    assert f"Number of inodes {superblock.inode_count}" in printed
    assert f"Number of ids {superblock.id_count}" in printed
    size = f"Filesystem size {superblock.used_bytes} bytes"
    assert any(line.startswith(size) for line in printed)
    assert "Creation or last append time Sun Sep 13 12:26:40 2020" in printed
    assert superblock.modified_s == 1_600_000_000


def test_an_image_without_export_table_has_no_references(pack: Pack) -> None:
    with Image.open(pack("-no-exports")) as image:
        assert image._indexed("export table") == b""
        assert len(list(image.walk())) > 700


def test_every_data_block_alone_joins_to_the_file(pack: Pack, source: Path) -> None:
    with Image.open(pack("-no-fragments", "-comp", "zstd")) as image:
        mixed = next(entry for entry in image.walk() if entry.path == "mixed")
        assert mixed.blocks is not None
        blocks = list(mixed.blocks)
        contents = b"".join(image.read_block(block) for block in blocks)
    assert contents == (source / "mixed").read_bytes()
    assert {block.is_sparse for block in blocks} == {True, False}
    assert {block.is_stored for block in blocks} == {True, False}


def test_hard_links_and_copies_are_told_apart(pack: Pack) -> None:
    with Image.open(pack("-no-fragments")) as image:
        entries = {entry.path: entry for entry in image.walk()}
    assert entries["text"].inode == entries["hard link"].inode
    one, two = entries["copies/one"], entries["copies/two"]
    assert one.inode != two.inode
    assert one.blocks == two.blocks


def test_devices_and_extended_attributes_are_walked(pack: Pack, tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_files(root)
    try:
        for name in ("short", "copies", "text"):
            os.setxattr(root / name, "user.kind", b"value")
    except OSError as error:
        pytest.skip(f"no extended attributes on {tmp_path}: {error}")
    devices = ("-p", "null c 666 0 0 1 3", "-p", "disk b 660 0 6 259 300000")
    path = pack("-xattrs", *devices, root=root)
    with Image.open(path) as image:
        assert image.superblock.xattr_table_start < image.image_bytes
        entries = {entry.path: entry for entry in image.walk()}
        contents = image.read(entries["text"], 0, 10_000_000)
    assert entries["null"].kind is EntryKind.CHARACTER_DEVICE
    assert entries["disk"].kind is EntryKind.BLOCK_DEVICE
    assert contents == (root / "text").read_bytes()


def test_an_image_that_was_appended_to_is_walked(pack: Pack, tmp_path: Path) -> None:
    more = fill(tmp_path / "more", {"added": text(5000)})
    pack()
    with Image.open(pack(root=more)) as image:
        entries = {entry.path: entry for entry in image.walk()}
        assert image.read(entries["added"], 0, 10**6) == text(5000)
        assert image.read(entries["text"], 5, 100) == text(60_000)[5:105]


@pytest.mark.parametrize(
    ("options", "stored_options"),
    [
        (("-comp", "xz"), None),
        (("-comp", "xz", "-Xbcj", "x86", "-Xdict-size", "8K"), "0020000001000000"),
        (("-comp", "zstd", "-Xcompression-level", "3"), "03000000"),
        (("-comp", "lz4", "-Xhc"), "0100000001000000"),
    ],
)
def test_compressor_options_are_given_as_they_stand(
    pack: Pack, source: Path, options: tuple[str, ...], stored_options: str | None
) -> None:
    with Image.open(pack(*options)) as image:
        found = image.compressor_options
        assert_contents_are_those_of(image, source)
    assert (found.hex() if found is not None else None) == stored_options


def test_only_what_is_asked_for_is_read(
    pack: Pack, tmp_path: Path, mocker: MockerFixture
) -> None:
    root = fill(tmp_path / "root", {f"{n}": noise(2**20, n) for n in range(20)})
    path = pack("-no-fragments", "-comp", "lzo", root=root)
    reads = mocker.spy(os, "pread")

    def bytes_read() -> int:
        return sum(call.args[1] for call in reads.call_args_list)

    with Image.open(path) as image:
        assert image.image_bytes > 20 * 2**20
        assert bytes_read() == 96
        *_, last = image.walk()
        assert bytes_read() < 4096
        reads.reset_mock()
        assert image.read(last, 500_000, 10) == noise(2**20, 9)[500_000:500_010]
        assert bytes_read() == 131_072


@pytest.mark.mounts
@pytest.mark.parametrize("fragments", ["-no-fragments", "-tailends"])
@pytest.mark.parametrize("codec", CODECS)
def test_the_kernel_sees_the_same_entries_and_contents(
    pack: Pack, codec: str, fragments: str
) -> None:
    null = ("-p", "null c 666 7 8 1 3")
    path = pack("-comp", codec, fragments, *null)
    with mounted(path) as mount, Image.open(path) as image:
        root = mount.root
        assert_contents_are_those_of(image, root)
        paths = {"", *(str(each.relative_to(root)) for each in root.rglob("*"))}
        entries = list(image.walk())
        assert {entry.path for entry in entries} == paths
        for entry in entries:
            seen = (root / entry.path).lstat()
            assert seen.st_ino == entry.inode
            assert seen.st_mode == full_mode(entry)
            assert (seen.st_uid, seen.st_gid) == (entry.uid, entry.gid)
            assert seen.st_size == entry.size_bytes
            assert seen.st_mtime == entry.modified_s


READS = 400


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_small_reads_in_any_order_give_the_files_bytes(
    small_prime: Path, tmp_path: Path, compression: str
) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression=compression)
    chance = random.Random(5)
    names = ["usr/bin/sample", "usr/share/data/text", "usr/share/data/sparse"]
    files = {name: (small_prime / name).read_bytes() for name in names}
    with open_payload(snap) as payload:
        for _ in range(READS):
            name = chance.choice(names)
            offset = chance.randrange(len(files[name]) + 10)
            length = chance.choice([1, 64, 4096, 70_000, 300_000])
            assert (
                payload.read(name, offset=offset, length=length)
                == (files[name][offset : offset + length])
            )
