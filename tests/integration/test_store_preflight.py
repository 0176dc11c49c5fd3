"""The preflight's rules on images of every option, against the hand-made table."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from image_sources import mksquashfs
from lint_contexts import make_context
from real_payloads import fill_prime, snap_pack
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.lint.finding import Finding
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.preflight.packing import inspect_packing
from snapcraft_compression_advisor.preflight.resquash import Resquash, resquash
from snapcraft_compression_advisor.squashfs.image import Image
from store_images import SNAP_OPTIONS, STORE_IMAGES, StoreImage, write_store_tree
from trees import fill

STORE_RULES = [
    rule for rule in ALL_RULES if rule.id[:4] == "SCA5" or rule.id == "SCA402"
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("store") / "tree"
    write_store_tree(root)
    return root


def findings(image: Path, *, snap_type: str = "app") -> list[Finding]:
    with Image.open(image) as opened:
        packing = inspect_packing(opened, list(opened.walk()))
    context = make_context(declared=packing.superblock.codec)
    snap = context.snap.model_copy(update={"type": snap_type})
    context = replace(context, packing=packing, snap=snap)
    return [found for rule in STORE_RULES for found in rule.check(context)]


def fired(found: list[Finding], *, undecided: bool = False) -> set[str]:
    return {each.rule for each in found if each.undecided is undecided}


def repacked(image: Path) -> Resquash:
    with Image.open(image) as opened:
        return resquash(image, opened, snap_type="app", progress=lambda _: None)


@pytest.mark.parametrize("row", STORE_IMAGES, ids=lambda row: row.name)
def test_preflight_finds_what_the_table_says(
    row: StoreImage, tree: Path, tmp_path: Path
) -> None:
    row.pack(tree, tmp_path / "image")
    found = findings(tmp_path / "image")
    assert fired(found) == row.rules
    assert fired(found, undecided=True) == row.undecided_rules


@pytest.mark.users
@pytest.mark.parametrize("row", STORE_IMAGES, ids=lambda row: row.name)
def test_repack_comes_out_as_the_table_says(
    row: StoreImage, tree: Path, tmp_path: Path
) -> None:
    row.pack(tree, tmp_path / "image")
    same = row.same
    if os.geteuid() != 0 and row.same_without_root is not None:
        same = row.same_without_root
    again = repacked(tmp_path / "image")
    assert again.equal is same
    assert bool(again.differences) is not same


def test_table_has_a_refusing_row_for_every_rule_on_options() -> None:
    covered = {rule for row in STORE_IMAGES for rule in row.rules | row.undecided_rules}
    # made otherwise: below, and by unit tests
    others = {"SCA505", "SCA510", "SCA512", "SCA513"}
    assert {rule.id for rule in STORE_RULES} - covered == others
    assert len({row.name for row in STORE_IMAGES}) == len(STORE_IMAGES) >= 30


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_snap_of_the_real_snap_pack_passes(compression: str, tmp_path: Path) -> None:
    prime = fill_prime(tmp_path / "prime")
    snap = snap_pack(prime, tmp_path / "packed", compression=compression)
    assert not findings(snap)
    assert repacked(snap).equal


def test_sorted_image_is_told_by_the_place_of_its_data(
    tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "sort").write_text("bin/tool -100\n")
    image = tmp_path / "image"
    options = (*SNAP_OPTIONS, "-comp", "xz", "-sort", str(tmp_path / "sort"))
    mksquashfs(tree, image, *options)
    assert fired(findings(image)) == {"SCA509", "SCA511"}
    assert not repacked(image).equal


def test_image_that_was_appended_to_is_told(tree: Path, tmp_path: Path) -> None:
    image = tmp_path / "image"
    more = fill(tmp_path / "more", {"a new file": "new" * 1000})
    mksquashfs(tree, image, *SNAP_OPTIONS, "-comp", "xz")
    mksquashfs(more, image, *SNAP_OPTIONS[1:])
    assert "SCA509" in fired(findings(image))
    assert not repacked(image).equal


def test_extended_attributes_are_found(tmp_path: Path) -> None:
    source, image = tmp_path / "tree", tmp_path / "image"
    write_store_tree(source)
    try:
        os.setxattr(source / "bin/tool", "user.note", b"text")
    except OSError as error:
        pytest.skip(f"no extended attributes on {tmp_path}: {error.strerror}")
    mksquashfs(source, image, *SNAP_OPTIONS[:-1], "-comp", "xz")
    assert fired(findings(image)) == {"SCA505"}
    assert not repacked(image).equal


@pytest.mark.parametrize("snap_type", ["base", "os", "core", "snapd"])
def test_bases_are_not_held_to_the_repack(
    snap_type: str, tree: Path, tmp_path: Path
) -> None:
    image = tmp_path / "image"
    mksquashfs(tree, image, "-no-fragments", "-comp", "xz", "-xattrs", "-b", "64K")
    assert "SCA501" in fired(findings(image))
    assert fired(findings(image, snap_type=snap_type)) <= {"SCA506", "SCA511"}


@pytest.mark.parametrize("padded", [True, False])
def test_small_image_is_open_whether_padded_or_not(
    tmp_path: Path, *, padded: bool
) -> None:
    image, tree = tmp_path / "image", tmp_path / "tree"
    (tree / "meta").mkdir(parents=True)
    mksquashfs(tree, image, *SNAP_OPTIONS, "-comp", "xz")
    if padded:
        os.truncate(image, 16_384)
    found = findings(image)
    assert (fired(found), fired(found, undecided=True)) == (set(), {"SCA508"})
    assert repacked(image).equal


def test_bytes_behind_the_image_are_found(tree: Path, tmp_path: Path) -> None:
    image = tmp_path / "image"
    mksquashfs(tree, image, *SNAP_OPTIONS, "-comp", "xz")
    with image.open("ab") as file:
        file.write(bytes(4096))
    assert fired(findings(image)) == {"SCA508", "SCA511"}
    with image.open("r+b") as file:
        file.truncate(file.seek(-4096, os.SEEK_END))
        file.seek(-1, os.SEEK_END)
        file.write(b"x")
    assert fired(findings(image)) == {"SCA508", "SCA511"}
    (first, *_) = repacked(image).differences
    assert first.text.endswith("in the padding")


def test_image_at_an_offset_is_no_snap(tree: Path, tmp_path: Path) -> None:
    image = tmp_path / "image"
    mksquashfs(tree, image, *SNAP_OPTIONS, "-offset", "4096")
    with pytest.raises(BadDataError, match="not a squashfs image"):
        findings(image)


def test_options_are_those_of_the_real_mksquashfs(tree: Path, tmp_path: Path) -> None:
    """The repack's own command line, run by hand, gives the image of the repack."""
    image, again = tmp_path / "image", tmp_path / "again"
    mksquashfs(tree, image, *SNAP_OPTIONS, "-comp", "lzo", "-mkfs-time", "99")
    result = repacked(image)
    assert result.equal
    mksquashfs(tree, again, *result.options, "-fstime", "99")
    assert again.read_bytes() == image.read_bytes()
    said = subprocess.run(
        ["unsquashfs", "-mkfs-time", again], check=True, capture_output=True
    )
    assert said.stdout.strip() == b"99"
