"""Images that are small and claim to be huge: of inodes, names, blocks and contents."""

import struct
from collections.abc import Iterator

from forged_image import (
    ABSENT,
    DATA_START,
    METADATA_BYTES,
    STORED,
    directory_inode,
    extended_file_inode,
    file_inode,
    inode,
    listing,
)
from image_parts import ImageParts, Tables, compress, put_together
from snapcraft_compression_advisor.core.units import KIB, MIB
from snapcraft_compression_advisor.payload.inventory import CONTENTS_FREE_BYTES
from snapcraft_compression_advisor.payload.snap_yaml import NAMES_MAX
from snapcraft_compression_advisor.squashfs.walk import BLOCKS_FREE

CODEC_IDS = {"gzip": 1, "lzma": 2, "lzo": 3, "xz": 4, "lz4": 5, "zstd": 6}
ROOT_BYTES = 32
LARGE_ROOT_BYTES = 40


def image(  # noqa: PLR0913 - what a superblock tells apart
    tables: Tables,
    *,
    data: bytes = b"",
    inodes: int,
    codec: str = "gzip",
    block_log: int = 17,
    inode_start: int | None = None,
    stored: bool = False,
) -> bytes:
    """Return an image of these tables, with one id."""
    fields = [0x73717368, inodes, 0, 1 << block_log, 0, CODEC_IDS[codec]]
    fields += [block_log, 0, 1, 4, 0, 0, 0, 0, ABSENT, 0, 0, 0, ABSENT]
    empty = {"fragments": b"", "exports": b"", "ids": bytes(4)}
    parts = ImageParts(fields=fields, data=data, tables={**empty, **tables})
    parts.stored = stored
    if inode_start is not None:
        parts.overrides = {15: inode_start, 16: DATA_START + len(data)}
    return put_together(parts)


def large_directory(number: int, *, listing_bytes: int) -> bytes:
    """Return an extended directory's inode, whose listing may exceed 64 KiB."""
    body = struct.pack("<4I2HI", 2, listing_bytes + 3, 0, 0, 0, 0, 0xFFFF_FFFF)
    return inode(8, number, body)


def names_of(count: int, offset: int) -> bytes:
    """Return the records of many names of one inode."""
    return b"".join(
        listing(*((b"%06d" % number, offset) for number in range(start, start + 256)))
        for start in range(0, count, 256)
    )


def holes(*, block_log: int = 17, count: int) -> bytes:
    """Return a snap whose program is sparse, of so many blocks."""
    yaml = b"name: x\nbase: core24\napps:\n  x:\n    command: program\n"
    return snap(yaml, block_log=block_log, program_blocks=count)


def snap(yaml: bytes, *, block_log: int = 17, program_blocks: int = 0) -> bytes:
    """Return a snap's image: its metadata, and a program of sparse blocks."""
    block_bytes = 1 << block_log
    lengths = [
        min(block_bytes, len(yaml) - start)
        for start in range(0, len(yaml), block_bytes)
    ]
    words = [STORED | length for length in lengths]
    metadata = file_inode(3, size=len(yaml), words=words)
    program = extended_file_inode(
        4, size=program_blocks << block_log, words=[0] * program_blocks
    )
    executable = program[:2] + struct.pack("<H", 0o755) + program[4:]
    offset = 2 * ROOT_BYTES
    inside = listing((b"snap.yaml", offset))
    names = listing((b"meta", ROOT_BYTES), (b"program", offset + len(metadata)))
    root = directory_inode(1, listing_bytes=len(names))
    meta = directory_inode(2, listing_bytes=len(inside), offset=len(names))
    tables = {
        "inodes": root + meta + metadata + executable,
        "directories": names + inside,
    }
    return image(tables, data=yaml, inodes=4, block_log=block_log)


def linked(*, words: int, names: int) -> bytes:
    """Return an image in which many names lead to an inode of many blocks."""
    records = names_of(names, LARGE_ROOT_BYTES)
    root = large_directory(1, listing_bytes=len(records))
    record = extended_file_inode(2, size=words << 17, words=[0] * words, links=names)
    return image({"inodes": root + record, "directories": records}, inodes=2)


def deep(*, names: int) -> bytes:
    """Return an image of long paths: many names in the last of nested directories."""
    inodes, directories = b"", b""
    depth = 15
    for level in range(1, depth + 1):
        records = listing((b"d" * 255, level * ROOT_BYTES))
        inodes += directory_inode(
            level, listing_bytes=len(records), offset=len(directories)
        )
        directories += records
    records = names_of(names, depth * ROOT_BYTES + LARGE_ROOT_BYTES)
    last = struct.pack(
        *("<4I2HI", 2, len(records) + 3, 0, 0, 0, len(directories), 0xFFFF_FFFF)
    )
    inodes += inode(8, depth + 1, last) + inode(6, depth + 2, struct.pack("<I", 1))
    tables = {"inodes": inodes, "directories": directories + records}
    return image(tables, inodes=depth + 2)


def overlapping(*, files: int) -> bytes:
    """Return an image whose files each begin a byte behind the one before."""
    size = 128 * KIB
    inodes, records = b"", b""
    for number in range(files):
        offset = LARGE_ROOT_BYTES + len(inodes)
        position = offset // METADATA_BYTES * (METADATA_BYTES + 2)
        name = b"%06d" % number
        records += listing((name, offset % METADATA_BYTES), block=position)
        inodes += file_inode(
            number + 2, start=DATA_START + number, size=size, words=[STORED | size]
        )
    root = large_directory(1, listing_bytes=len(records))
    tables = {"inodes": root + inodes, "directories": records}
    data = bytes(size + files)
    return image(tables, data=data, inodes=files + 1, stored=True)


def block(codec: str, *, claimed_bytes: int = 4096) -> bytes:
    """Return an image with a block that decompresses to a MiB, and claims a page."""
    data = compress(bytes(MIB), codec)
    records = listing((b"bomb", ROOT_BYTES))
    root = directory_inode(1, listing_bytes=len(records))
    record = file_inode(2, size=claimed_bytes, words=[min(len(data), 4096)])
    tables = {"inodes": root + record, "directories": records}
    return image(tables, data=data, inodes=2, codec=codec, block_log=12)


def metadata(codec: str) -> bytes:
    """Return an image whose inode table is a block that decompresses to a MiB."""
    body = compress(bytes(MIB), codec)[: 8 * KIB]
    data = struct.pack("<H", len(body)) + body
    tables = {"inodes": bytes(100), "directories": b""}
    return image(tables, data=data, inodes=1, codec=codec, inode_start=DATA_START)


def aliases(last: str, *, merged: bool = False) -> bytes:
    """Return metadata in which each of twenty lists has the one before ten times."""
    lines = ["name: x", "a0: &a0 {x: y}" if merged else "a0: &a0 [x]"]
    for level in range(1, 20):
        before = ", ".join([f"*a{level - 1}"] * 10)
        kept = f"{{<<: [{before}]}}" if merged else f"[{before}]"
        lines.append(f"a{level}: &a{level} {kept}")
    return "\n".join([*lines, last, ""]).encode()


def many(count: int, line: str, *, before: str = "apps:") -> bytes:
    """Return metadata with so many numbered lines."""
    lines = (line.format(number) for number in range(count))
    return "\n".join(["name: x", "base: core24", before, *lines, ""]).encode()


def yamls() -> Iterator[tuple[str, bytes]]:
    """Yield metadata that claim to be more than they are, or aren't what they claim."""
    yield "aliases-in-plugs", aliases("apps: {x: {command: program, plugs: *a19}}")
    yield "aliases-in-architectures", aliases("architectures: *a19")
    yield "aliases-in-layout", aliases("layout: {/usr/x: {bind: *a19}}")
    yield "aliases-merged", aliases("apps: *a19", merged=True)
    yield "alias-of-itself", b"name: &a [*a]\n"
    yield "apps-just-allowed", many(NAMES_MAX, "  x{}: {{command: program}}")
    yield "apps", many(NAMES_MAX + 1, "  x{}: {{command: program}}")
    yield "apps-of-a-mebibyte", many(40_000, "  x{}: {{command: program}}")
    yield "plugs", many(5000, "  p{}: x", before="plugs:")
    yield "layouts", many(3000, "  /usr/{}: {{bind: $SNAP/x}}", before="layout:")
    environment = "apps:\n  x:\n    command: program\n    environment:"
    yield (
        "environment-just-allowed",
        many(5000, "      V{0}: $V{0}$V0", before=environment),
    )
    yield "numbers-for-names", b"name: 1\napps: {2: {command: program}}\n"
    yield "lists-for-names", b"name: x\napps: {[a]: {}}\narchitectures: [[a], {b: c}]\n"
    yield "long-name", b"name: " + b"x" * 100_000
    yield "long-app", b"name: x\napps: {? " + b"x" * 1000 + b": {command: program}}"
    yield (
        "long-command-just-allowed",
        b"name: x\napps: {x: {command: " + b"a/../" * 20_000 + b"}}",
    )
    chain = "program " * 10_000
    yield (
        "long-chain-just-allowed",
        f"name: x\napps: {{x: {{command-chain: [{chain}]}}}}".encode(),
    )
    yield "deep-lists", b"name: x\na: " + b"[" * 50_000
    yield "sexagesimal", b"%YAML 1.1\n---\nname: x\nversion: " + b"1:" * 50_000 + b"1"


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield all of them with names for messages."""
    for block_log in (12, 14, 16, 17, 18, 20):
        size = f"{(1 << block_log) // KIB}k"
        allowed = min(BLOCKS_FREE, CONTENTS_FREE_BYTES >> block_log)
        yield f"holes-{size}", holes(block_log=block_log, count=4 * MIB - KIB)
        yield f"holes-{size}-just-allowed", holes(block_log=block_log, count=allowed)
    yield "holes-too-many", holes(block_log=12, count=BLOCKS_FREE + KIB)
    yield "holes-without-end", holes(count=15 * MIB)
    for name, yaml in yamls():
        yield f"yaml-{name}", snap(yaml, program_blocks=1)
    yield "links-just-allowed", linked(words=1000, names=4000)
    yield "links", linked(words=4000, names=20_000)
    yield "paths-just-allowed", deep(names=7000)
    yield "paths", deep(names=50_000)
    yield "overlapping-just-allowed", overlapping(files=400)
    yield "overlapping", overlapping(files=900)
    for codec in CODEC_IDS:
        yield f"block-{codec}", block(codec)
        yield f"metadata-{codec}", metadata(codec)
