"""What the store would refuse, told from how an image was packed."""

from dataclasses import replace

import numpy as np
import pytest

from lint_contexts import (
    FAULT,
    ODD,
    found_by,
    make_context,
    make_packing,
    packed_context,
)
from payloads import make_payload
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.lint.rules.store import (
    block_size,
    compressor_options,
    extended_attributes,
    file_modes,
    fragments,
    no_snap_delta,
    other_writer,
    owners,
    padding,
    resquash_differs,
    store_size,
    superblock_flags,
    zero_file,
)
from snapcraft_compression_advisor.lint.run import make_selection, run_rules
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.preflight.differences import (
    CHECK,
    COMPRESSOR_OPTIONS,
    EXPORTABLE,
    NO_FRAGMENTS,
    NO_XATTRS,
    SNAP_FLAGS,
    Difference,
)
from snapcraft_compression_advisor.preflight.packing import EntryFault, Recompressed
from snapcraft_compression_advisor.preflight.resquash import Resquash
from snapcraft_compression_advisor.trial.stored import StoredSizes

GIB = 1024**3
PREFLIGHT = [rule for rule in ALL_RULES if rule.id.startswith("SCA5")]
DIFFERENT = Resquash(
    tool="mksquashfs 4.5.1",
    options=("-noappend",),
    equal=False,
    differences=(
        Difference(part="first difference", text="byte 24, in the superblock"),
        Difference(part="superblock", text="flags 0x1, repacked 0x2d0"),
        Difference(part="file", path="bin/tool", text="mode 0o4755"),
        Difference(part="file", path="", text="mode 0o700"),
    ),
)


@pytest.mark.parametrize("rule", PREFLIGHT, ids=lambda rule: rule.id)
def test_prime_directory_is_no_business_of_the_preflight(rule) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 # a Rule
    assert not found_by(rule, packed_context(None))


@pytest.mark.parametrize("rule", PREFLIGHT, ids=lambda rule: rule.id)
def test_snap_as_snap_pack_makes_it_has_no_findings(rule) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 # a Rule
    assert not found_by(rule, packed_context(make_packing()))


def test_every_rule_but_the_repack_fires_on_an_image_wrong_in_all() -> None:
    context = packed_context(ODD)
    fired = {rule.id for rule in PREFLIGHT if found_by(rule, context)}
    assert fired == {rule.id for rule in PREFLIGHT} - {
        resquash_differs.id,
        zero_file.id,
    }


def test_base_is_held_to_fragments_sizes_and_deltas_only() -> None:
    context = packed_context(ODD, snap_type="base")
    fired = {rule.id for rule in PREFLIGHT if found_by(rule, context)}
    assert fired == {fragments.id, file_modes.id, no_snap_delta.id, store_size.id}
    (finding,) = found_by(file_modes, context)
    assert (finding.undecided, finding.severity) == (True, "info")


def test_block_size_is_named() -> None:
    packing = make_packing(block_bytes=1_048_576)
    (finding,) = found_by(block_size, packed_context(packing))
    assert "blocks of 1024 KiB" in finding.message
    assert (finding.severity, finding.location.kind) == ("error", "image")
    assert {each.origin for each in finding.evidence} == {"measured"}


@pytest.mark.parametrize(("count", "text"), [(1, "1 fragment block:"), (2, "2 frag")])
def test_fragments_are_counted(count: int, text: str) -> None:
    packing = make_packing(fragment_count=count)
    (finding,) = found_by(fragments, packed_context(packing))
    assert text in finding.message


def test_compressor_options_are_shown_in_hexadecimal() -> None:
    packing = make_packing(compressor_options=b"\x00\xff", codec="lzo")
    (finding,) = found_by(compressor_options, packed_context(packing))
    assert "lzo options" in finding.message
    assert finding.evidence[0].text == "00 ff"


def test_options_that_mksquashfs_always_writes_for_lz4_are_none() -> None:
    default, high = bytes([1, 0, 0, 0, 0, 0, 0, 0]), bytes([1, 0, 0, 0, 1, 0, 0, 0])
    packing = make_packing(compressor_options=default, codec="lz4")
    assert not found_by(compressor_options, packed_context(packing))
    packing = make_packing(compressor_options=high, codec="lz4")
    assert found_by(compressor_options, packed_context(packing))


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (SNAP_FLAGS | 1 << 0, "inodes uncompressed (-noI)"),
        (SNAP_FLAGS | 1 << 1, "data uncompressed (-noD)"),
        (SNAP_FLAGS | CHECK, "the check bit"),
        (SNAP_FLAGS | 1 << 3, "(-noF)"),
        (SNAP_FLAGS | 1 << 5, "(-tailends)"),
        (SNAP_FLAGS | 1 << 8, "(-noX)"),
        (SNAP_FLAGS | 1 << 11, "(-noId)"),
        (SNAP_FLAGS | 1 << 13, "flag 0x2000 set"),
        (SNAP_FLAGS & ~NO_FRAGMENTS, "without -no-fragments"),
        (SNAP_FLAGS & ~(1 << 6), "(-no-duplicates)"),
        (SNAP_FLAGS & ~EXPORTABLE, "(-no-exports)"),
        (SNAP_FLAGS & ~NO_XATTRS, "without -no-xattrs"),
    ],
)
def test_each_flag_is_named_by_its_option(flags: int, text: str) -> None:
    packing = make_packing(flags=flags)
    (finding,) = found_by(superblock_flags, packed_context(packing))
    assert text in finding.message


def test_flags_of_which_other_rules_speak_are_not_told_twice() -> None:
    flags = SNAP_FLAGS & ~NO_FRAGMENTS & ~NO_XATTRS | COMPRESSOR_OPTIONS
    packing = make_packing(flags=flags, fragment_count=1, xattr_table_start=39_950)
    assert not found_by(superblock_flags, packed_context(packing))
    assert found_by(extended_attributes, packed_context(packing))


def test_owners_and_modes_are_counted_with_examples() -> None:
    faults = tuple(EntryFault(path=f"f{n}", text="owned by 7/7") for n in range(5))
    root = EntryFault(path="", text="owned by 7/7")
    context = packed_context(make_packing(owners=(root, *faults), modes=(FAULT,)))
    (finding,) = found_by(owners, context)
    assert finding.message.startswith("6 entries of the image don't belong")
    assert [each.label for each in finding.evidence] == ["(root directory)", "f0", "f1"]
    assert finding.files == ("f0", "f1", "f2", "f3", "f4")
    (finding,) = found_by(file_modes, context)
    assert finding.message.startswith("1 entry of the image has a mode")
    assert (finding.severity, finding.undecided) == ("error", False)


def test_modes_are_found_before_the_pack() -> None:
    context = make_context()
    assert not found_by(file_modes, context)
    entries = dict(context.inventory.entries)
    entries["bin/x"] = entries["bin/x"]._replace(mode=0o4755)
    context = replace(context, inventory=Inventory(entries=entries))
    (finding,) = found_by(file_modes, context)
    assert finding.message.startswith("1 entry has a mode")
    assert finding.severity == "warning"
    assert finding.files == ("bin/x",)
    meta = entries["bin/x"]._replace(path="meta", mode=0o700)
    inventory = Inventory(entries={"meta": meta}, root_mode=0o1777)
    chosen = make_selection(make_context(policy={"ignore": ["SCA507:usr"]}).settings)
    (finding,) = run_rules(replace(context, inventory=inventory), [file_modes], chosen)
    assert finding.evidence[0].label == "(root directory)"


@pytest.mark.parametrize(
    "changes",
    [
        {"image_bytes": 40_000},  # -nopad
        {"image_bytes": 65_536},  # padded to 64 KiB, as some distributions' tools do
        {"trailing_zeros": False},
    ],
)
def test_other_end_of_the_file_is_found(changes: dict[str, object]) -> None:
    packing = make_packing(**changes)
    (finding,) = found_by(padding, packed_context(packing))
    assert not finding.undecided
    (delta,) = found_by(no_snap_delta, packed_context(packing))
    assert "a different end of the file" in delta.message


@pytest.mark.parametrize(
    ("image_bytes", "text"), [(4096, "is not padded"), (16_384, "is padded")]
)
def test_small_image_is_open(image_bytes: int, text: str) -> None:
    packing = make_packing(used_bytes=700, padded_bytes=4096, image_bytes=image_bytes)
    (finding,) = found_by(padding, packed_context(packing))
    assert (finding.undecided, finding.severity) == (True, "info")
    assert text in finding.message
    assert finding.evidence[-1].origin == "published"


def test_image_of_just_16_kib_is_no_small_one() -> None:
    packing = make_packing(used_bytes=16_384, padded_bytes=16_384, image_bytes=16_384)
    assert not found_by(padding, packed_context(packing))


def test_traces_of_another_writer_are_told_apart() -> None:
    again = Recompressed(tried=6, differing="lib/x", library="liblzma 5.4.1")
    packing = make_packing(order=FAULT, zeros="a", numbers=FAULT, recompressed=again)
    found = found_by(other_writer, packed_context(packing))
    assert [each.undecided for each in found] == [False, False, True, True]
    assert [each.files for each in found] == [
        ("bin/tool",),
        ("a",),
        ("bin/tool",),
        ("lib/x",),
    ]
    assert "liblzma 5.4.1" in found[-1].message
    same = replace(again, differing=None)
    assert not found_by(other_writer, packed_context(make_packing(recompressed=same)))


@pytest.mark.parametrize(
    "changes", [{"flags": SNAP_FLAGS | COMPRESSOR_OPTIONS}, {"flags": SNAP_FLAGS | 2}]
)
def test_blocks_that_differ_by_options_are_no_trace_of_a_writer(
    changes: dict[str, object],
) -> None:
    again = Recompressed(tried=6, differing="lib/x", library="liblzma 5.4.1")
    packing = make_packing(recompressed=again, **changes)
    assert not found_by(other_writer, packed_context(packing))


def test_gap_in_front_of_the_tables_has_no_file() -> None:
    packing = make_packing(order=EntryFault(path="", text="90 bytes between"))
    (finding,) = found_by(other_writer, packed_context(packing))
    assert finding.files == ()
    assert finding.evidence[0].label == "(image)"


def test_repack_that_differs_says_what_first() -> None:
    context = replace(packed_context(make_packing()), resquash=DIFFERENT)
    (finding,) = found_by(resquash_differs, context)
    assert "first difference is byte 24, in the superblock" in finding.message
    assert finding.files == ("bin/tool",)
    labels = [each.label for each in finding.evidence]
    assert labels == [
        "packed again with",
        "superblock",
        "file bin/tool",
        "file (root directory)",
    ]
    assert not finding.undecided


def test_repack_of_a_base_leaves_open_what_the_store_does() -> None:
    context = packed_context(make_packing(), snap_type="base")
    (finding,) = found_by(resquash_differs, replace(context, resquash=DIFFERENT))
    assert finding.undecided


def test_repack_that_is_the_same_is_no_finding() -> None:
    same = replace(DIFFERENT, equal=True, differences=())
    context = replace(packed_context(make_packing()), resquash=same)
    assert not found_by(resquash_differs, context)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"flags": SNAP_FLAGS | COMPRESSOR_OPTIONS}, "falls back to a delta"),
        ({"flags": SNAP_FLAGS | CHECK}, "falls back to a delta"),
        ({"flags": SNAP_FLAGS | 1}, "rebuilds a different image"),
        ({"block_bytes": 4096}, "whole one: blocks of 4 KiB"),
        ({"order": FAULT}, "mksquashfs's order"),
        ({"zeros": "a"}, "stored blocks of zeros"),
    ],
)
def test_delta_says_what_snapd_does(changes: dict[str, object], text: str) -> None:
    (finding,) = found_by(no_snap_delta, packed_context(make_packing(**changes)))
    assert text in finding.message
    assert finding.severity == "info"


@pytest.mark.parametrize("flag", [NO_FRAGMENTS, 1 << 6, EXPORTABLE, NO_XATTRS])
def test_delta_takes_the_flags_that_its_header_carries(flag: int) -> None:
    packing = make_packing(flags=SNAP_FLAGS & ~flag)
    assert not found_by(no_snap_delta, packed_context(packing))


def test_store_takes_5_gib_and_no_byte_more() -> None:
    packing = make_packing(image_bytes=5 * GIB)
    assert not found_by(store_size, packed_context(packing))
    packing = make_packing(image_bytes=5 * GIB + 1)
    (finding,) = found_by(store_size, packed_context(packing))
    assert "more than the 5 GiB" in finding.message


@pytest.mark.parametrize(
    ("packer", "undecided"),
    [("4.7.4", False), ("4.7", False), ("4.7.5", True), ("4.5.1", True), (None, True)],
)
def test_files_of_zeros_are_named_with_what_packs_them(
    packer: str | None, *, undecided: bool
) -> None:
    files = [("empty.img", 4 * DATA_BLOCK_BYTES), ("small", DATA_BLOCK_BYTES)]
    layout = replace(make_layout(files), holes=np.ones(5, dtype=bool))
    context = make_context()
    analysis = context.analysis
    stored = StoredSizes(layout=layout, codecs={})
    context = replace(
        context,
        analysis=replace(analysis, trial=replace(analysis.trial, stored=stored)),
        inventory=make_payload({"empty.img": b"", "small": b""}).inventory,
        packer=packer,
    )
    (finding,) = found_by(zero_file, context)
    assert (finding.files, finding.undecided) == (("empty.img",), undecided)
