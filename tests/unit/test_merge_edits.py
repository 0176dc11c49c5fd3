"""Several edits of one file as one."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.project.edit import Edit, merge_edits

BEFORE = "name: x\ncompression: xz\ncomponents:\n  a:\n    type: x\n"


def edit(after: str, before: str = BEFORE) -> Edit:
    return Edit(path=Path("p"), before=before.encode(), after=after.encode())


def test_edits_of_different_places_are_all_made() -> None:
    merged, made = merge_edits(
        [
            edit(BEFORE.replace("n: xz", "n: lzo")),
            edit(BEFORE + "    compression: xz\n"),
        ]
    )
    assert made == (True, True)
    assert merged.after.decode() == (
        BEFORE.replace("n: xz", "n: lzo") + "    compression: xz\n"
    )


def test_equal_edits_are_made_once() -> None:
    after = BEFORE.replace("n: xz", "n: lzo")
    merged, made = merge_edits([edit(after), edit(after)])
    assert (merged.after.decode(), made) == (after, (True, True))


def test_of_edits_that_contradict_each_other_the_first_is_made() -> None:
    before = "name: x\nconfinement: strict\n"
    first = "name: x\ncompression: lzo\nconfinement: strict\n"
    second = "name: x\ncompression: xz\nconfinement: strict\n"
    merged, made = merge_edits([edit(first, before), edit(second, before)])
    assert (merged.after.decode(), made) == (first, (True, False))


@given(st.text("ab\n", max_size=20), st.text("ab\n", max_size=20))
def test_one_edit_alone_is_itself(before: str, after: str) -> None:
    merged, made = merge_edits([edit(after, before)])
    assert (merged.after.decode(), made) == (after, (True,))
