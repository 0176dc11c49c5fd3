#!/usr/bin/env python3
"""Compare which literals of deltas LZMA made shorter with what their entropy says.

    .venv/bin/python study/refresh_coded.py --trees DIR -o study/data/refresh-coded.csv
    .venv/bin/python study/refresh_coded.py --summary study/data/refresh-coded.csv

The script makes each plain delta of ``refresh_pairs.py``. It reads which chunks LZMA2
stored of its literals, and asks ``is_coded`` about the contents of each. DIR has the
images, as ``refresh_pairs.py`` leaves them there.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from refresh_pairs import BLIND, DRAWN, PAIRS, Pair, images
from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.refresh.exact import make_plain_delta
from snapcraft_compression_advisor.refresh.sections import is_coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMNS = ("pair", "codec", "literal_bytes", "coded_bytes", "likely_bytes")
_LEAST_BYTES = 300_000
_XZ_HEADER_BYTES = 12
_XZ_UNIT_BYTES = 4
_LZMA_CHUNK, _PROPERTIES = 0x80, 0xC0
_HIGH_BITS = 0x1F
_SOURCE, _CHECKSUM = 0x03, 0x04
_SECONDARY, _TABLE, _APPLICATION = 0x01, 0x02, 0x04


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or summarise."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--summary", type=Path)
    parsed = parser.parse_args(arguments)
    if parsed.summary:
        print("\n".join(summary(parsed.summary)))
        return
    if not parsed.trees or not parsed.output:
        parser.error("say where the images are (--trees) and what to write (-o)")
    with parsed.output.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for pair in PAIRS:
            for codec in SHIPPABLE:
                table.writerow(measured(parsed.trees, pair, codec))
                file.flush()


def measured(trees: Path, pair: Pair, codec: str) -> tuple[object, ...]:
    """Return a row: bytes of literals, and how many of them are coded."""
    old, new = images(trees, pair, codec)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        delta = Path(scratch, "delta")
        make_plain_delta(old, new, delta)
        stream = literals_stream(delta.read_bytes())
    coded = likely = place = 0
    contents = lzma.LZMADecompressor().decompress(stream)
    for length, is_short in chunks(stream):
        coded += length * is_short
        likely += length * is_coded(contents[place : place + length])
        place += length
    return pair.name, codec, place, coded, likely


def literals_stream(delta: bytes) -> bytes:
    """Return the compressed literals of all windows (RFC 3284; xdelta3 has checksums).

    Windows whose literals aren't compressed are left out: there are few.
    """
    reader = _Reader(delta, 4)
    indicator = reader.byte()
    if indicator & _SECONDARY:
        reader.byte()
    for part in (_TABLE, _APPLICATION):
        if indicator & part:
            reader.skip(reader.number())
    stream = b""
    while reader.place < len(delta):
        window = reader.byte()
        if window & _SOURCE:
            reader.number()
            reader.number()
        length = reader.number()
        end = reader.place + length
        reader.number()
        compressed = reader.byte()
        literals, _, _ = (reader.number() for _ in range(3))
        if window & _CHECKSUM:
            reader.skip(4)
        if compressed & _SECONDARY:
            start = reader.place
            reader.number()
            stream += delta[reader.place : start + literals]
        reader.place = end
    return stream


class _Reader:
    def __init__(self, contents: bytes, place: int) -> None:
        self._contents = contents
        self.place = place

    def byte(self) -> int:
        self.place += 1
        return self._contents[self.place - 1]

    def number(self) -> int:
        value = 0
        while (byte := self.byte()) & 0x80:
            value = value << 7 | byte & 0x7F
        return value << 7 | byte

    def skip(self, length: int) -> None:
        self.place += length


class Chunk(NamedTuple):
    """A chunk of LZMA2: how many bytes it holds, and whether it is coded."""

    length: int
    is_short: bool


def chunks(stream: bytes) -> Iterator[Chunk]:
    """Yield the chunks of an xz stream's first block (``lzma2_decoder.c``)."""
    place = _XZ_HEADER_BYTES
    place += (stream[place] + 1) * _XZ_UNIT_BYTES if stream else 0
    while place < len(stream) and (control := stream[place]):
        low = int.from_bytes(stream[place + 1 : place + 3], "big") + 1
        if control < _LZMA_CHUNK:
            yield Chunk(low, is_short=False)
            place += 3 + low
        else:
            yield Chunk(((control & _HIGH_BITS) << 16) + low, is_short=True)
            length = int.from_bytes(stream[place + 3 : place + 5], "big") + 1
            place += 5 + (control >= _PROPERTIES) + length


def summary(path: Path) -> Iterator[str]:
    """Yield how far the shares are off where there are enough literals to tell."""
    drawn = {pair.name for pair in (*DRAWN, *BLIND)}
    errors: dict[str, list[float]] = {"chosen": [], "drawn by lot": []}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            literals, coded, likely = (int(row[name]) for name in COLUMNS[2:])
            if literals > _LEAST_BYTES:
                kind = "drawn by lot" if row["pair"] in drawn else "chosen"
                errors[kind].append(abs(likely - coded) / literals)
    for kind, some in errors.items():
        yield f"pairs {kind}: {len(some)} deltas, share off by {max(some):.3f} at most"


if __name__ == "__main__":
    main()
