"""Fuzz the reader of images, guided by coverage (atheris, which is libFuzzer).

    pip install atheris
    python fuzz/fuzz_image.py CORPUS -runs=100000 -timeout=60

Inputs are whole images. Those that reach code that none reached before join CORPUS;
one that ends in anything but an ``AdvisorError``, or takes more than five seconds of
the processor, ends the run and is kept as ``crash-…``. TMPDIR should name a
file system in memory. The mutator takes an image's
tables apart, changes what they say and compresses them again.
"""

# ruff: noqa: INP001, S311, SLF001, T201 -- a script that looks inside

from __future__ import annotations

import random
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import atheris

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.codecs.codec import Codec
    from snapcraft_compression_advisor.squashfs.entry import ImageBlock
    from snapcraft_compression_advisor.squashfs.image import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
LIMIT_S = 5.0
OWN_CHANGES = 0.1
"""How many of the changes are libFuzzer's own."""

with atheris.instrument_imports(include=["snapcraft_compression_advisor"]):
    from functools import lru_cache

    import image_mutation
    import image_probe
    from image_corpus import small_images
    from snapcraft_compression_advisor.diff import files
    from snapcraft_compression_advisor.payload import source
    from snapcraft_compression_advisor.preflight import packing


@contextmanager
def serial_pool(**_: object) -> Iterator[SimpleNamespace]:
    """Stand in for a pool of threads: those take longer than the reading."""
    yield SimpleNamespace(map=map)


def differs(image: Image, block: ImageBlock, _codec: Codec) -> bool:
    """Read both sides of a comparison of blocks, and leave the compression out."""
    raw = image.stored_data(block.position, block.stored_bytes)
    return image.read_block(block) == raw


# What isn't ours but would take nearly all of the time: YAML, threads, compression.
source._METADATA = {
    path: lru_cache(maxsize=64)(parse) for path, parse in source._METADATA.items()
}
files.ThreadPoolExecutor = serial_pool
packing._differs = differs


def mutate(raw: bytes, max_bytes: int, seed: int) -> bytes:
    """Return another image; libFuzzer's own changes come in for some."""
    chance = random.Random(seed)
    if chance.random() < OWN_CHANGES:
        return atheris.Mutate(raw, max_bytes)
    return image_mutation.mutate_image(raw, chance)[:max_bytes]


class Target:
    """Probes one input after the other, each as a file in memory.

    :param scratch: the file to write inputs to.
    """

    def __init__(self, scratch: Path, other: source.Payload) -> None:
        self._scratch = scratch
        self._other = other
        self.worst_s = 0.0

    def __call__(self, raw: bytes) -> None:
        """Probe an input.

        :raises RuntimeError: where that takes too long.
        """
        self._scratch.write_bytes(raw)
        start_s = time.process_time()
        image_probe.probe(self._scratch, self._other)
        taken_s = time.process_time() - start_s
        if taken_s > self.worst_s:
            self.worst_s = taken_s
            print(f"slowest input yet: {taken_s:.3f} s", file=sys.stderr)
        if taken_s > LIMIT_S:
            message = f"took {taken_s:.1f} s"
            raise RuntimeError(message)


def main() -> None:
    """Fill the corpus with small right images, and fuzz from there."""
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        corpus = next((Path(a) for a in sys.argv[1:] if not a.startswith("-")), None)
        images = small_images(scratch)
        if corpus is not None:
            corpus.mkdir(parents=True, exist_ok=True)
            for name, raw in images.items():
                (corpus / f"seed-{name}").write_bytes(raw)
        other = scratch / "other.snap"
        other.write_bytes(images["gzip"])
        with source.open_payload(other) as payload:
            target = Target(scratch / "x.snap", payload)
            atheris.Setup(sys.argv, target, custom_mutator=mutate)
            atheris.Fuzz()


if __name__ == "__main__":
    main()
