"""Filters for files to leave out, with craft-parts as the oracle."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_inventory
from snapcraft_compression_advisor.trim.filters import filters_of

filesets = pytest.importorskip(
    "craft_parts.executor.filesets", reason="craft-parts is not installed"
)

NAMES = ("a", "b.gz", "c.gz", "README", ".hidden", "x[1]", "d.la", "é *?")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map("/".join)


def primed(tree: Path, filters: tuple[str, ...]) -> set[str]:
    """Return the files that craft-parts primes with filters."""
    fileset = filesets.Fileset([f"-{each}" for each in filters], name="prime")
    files, _ = filesets.migratable_filesets(fileset, tree, "default")
    return {str(each) for each in files}


def without_clashes(paths: list[str]) -> list[str]:
    """Return paths none of which is a directory of another one."""
    return [
        path
        for path in sorted(set(paths))
        if not any(other.startswith(f"{path}/") for other in paths)
    ]


@given(data=st.data(), paths=st.lists(PATHS, min_size=1, max_size=25))
def test_craft_parts_leaves_out_these_files_and_no_others(
    data: st.DataObject, paths: list[str]
) -> None:
    files = without_clashes(paths)
    gone = data.draw(st.sets(st.sampled_from(files)))
    found = filters_of(gone, make_inventory(dict.fromkeys(files, 1)))
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / file).touch()
        everything = primed(Path(folder), ())
        assert primed(Path(folder), found) == everything - gone


def test_whole_directory_is_one_filter() -> None:
    inventory = make_inventory({"usr/share/doc/a/x": 1, "usr/share/doc/b": 1, "bin": 1})
    assert filters_of({"usr/share/doc/a/x", "usr/share/doc/b"}, inventory) == ("usr",)


def test_files_alike_in_several_directories_are_one_filter() -> None:
    gone = {f"usr/share/doc/{name}/changelog.gz" for name in "abc"}
    kept = {f"usr/share/doc/{name}/copyright" for name in "abc"}
    inventory = make_inventory(dict.fromkeys((*gone, *kept), 1))
    assert filters_of(gone, inventory) == ("usr/share/doc/**/*.gz",)


def test_pattern_leaves_out_no_file_of_the_part_that_the_snap_lacks() -> None:
    inventory = make_inventory({"lib/a.la": 1, "lib/b.la": 1, "lib/c.so": 1})
    gone = {"lib/a.la", "lib/b.la"}
    assert filters_of(gone, inventory) == ("lib/*.la",)
    assert filters_of(gone, inventory, present={"lib/z.la"}) == ("lib/a.la", "lib/b.la")
