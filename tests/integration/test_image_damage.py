"""Images of every codec with a few bytes changed."""

from __future__ import annotations

import shutil
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from image_sources import VARIANTS, mksquashfs, text
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.squashfs.image import Image

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    shutil.which("mksquashfs") is None, reason="squashfs-tools isn't installed"
)


@pytest.fixture(scope="module")
def small_images(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """Return the bytes of a small image for each codec."""
    base = tmp_path_factory.mktemp("small")
    root = base / "root"
    root.mkdir()
    for number in range(40):
        (root / f"file {number}").write_bytes(text(number * 20))
    images = {}
    for variant, options in VARIANTS.items():
        path = base / variant
        mksquashfs(root, path, *options, "-b", "4K", "-nopad")
        images[variant] = path.read_bytes()
    return images


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file to write one image after the other to."""
    return tmp_path_factory.mktemp("fuzzed") / "x.snap"


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    places=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)),
        min_size=1,
        max_size=3,
    ),
    from_the_end=st.booleans(),
)
def test_flipped_bytes_end_in_our_errors_or_in_other_contents(
    small_images: Mapping[str, bytes],
    scratch: Path,
    variant: str,
    places: list[tuple[float, int]],
    from_the_end: bool,  # noqa: FBT001 - hypothesis fills it in by name
) -> None:
    raw = bytearray(small_images[variant])
    reach = min(1200, len(raw)) if from_the_end else len(raw)
    for place, value in places:
        raw[len(raw) - reach + int(place * reach)] ^= value
    scratch.write_bytes(raw)
    try:
        with Image.open(scratch) as image:
            for entry in islice(image.walk(), 1000):
                if entry.blocks is not None:
                    image.read(entry, 0, 100_000)
    except AdvisorError as error:
        assert str(scratch) in str(error)  # noqa: PT017 - success is right as well
