"""Rows of a fleet are added once, whole, and to a data set of their own kind."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from doc_commands import ROOT
from fleets import make_row, rows_of
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    StorageError,
    UsageError,
)
from snapcraft_compression_advisor.fleet import dataset as dataset_module
from snapcraft_compression_advisor.fleet import imported
from snapcraft_compression_advisor.fleet.columns import COLUMNS, KNOWN, decode
from snapcraft_compression_advisor.fleet.dataset import (
    Dataset,
    current_rows,
    part_files,
)
from snapcraft_compression_advisor.fleet.sources import Snap
from trees import fill


def names(root: Path) -> list[str]:
    return sorted(row["name"] for row in rows_of(root))


def test_rows_are_read_back_as_they_were_added(tmp_path: Path) -> None:
    row = make_row("a", saved_s_mid=0.5, findings=[
        {"rule": "SCA101", "severity": "error", "message": "Large"}
    ])  # fmt: skip
    assert Dataset(tmp_path, settings="s").add([row]) == 1
    (file,) = part_files(tmp_path)
    ((read,), settings) = decode(file)
    assert settings == "s"
    assert [*read] == [column.name for column in COLUMNS]
    filled = {name: value for name, value in read.items() if value is not None}
    assert {**filled, "state": "1"} == row


def test_a_digest_has_one_row_whoever_adds_it(tmp_path: Path) -> None:
    first, second = (Dataset(tmp_path, settings="s") for _ in range(2))
    assert first.add([make_row("a"), make_row("b"), make_row("b")]) == 2
    # The second run began before these rows were there.
    assert second.add([make_row("b"), make_row("c")]) == 1
    assert names(tmp_path) == ["a", "b", "c"]


def test_a_failure_is_replaced_and_never_replaces(tmp_path: Path) -> None:
    data = Dataset(tmp_path, settings="s")
    data.add([make_row("a"), make_row("b", error="Broken", verdict=None)])
    data.add([make_row("a", error="Broken"), make_row("b")])
    rows = {row["name"]: row for row in decode(part_files(tmp_path)[0])[0]}
    assert [rows[name]["error"] for name in "ab"] == [None, None]


def test_failures_are_retried_on_request_and_then_replaced(tmp_path: Path) -> None:
    failed = make_row("b", error="Broken", error_status=os.EX_DATAERR)
    Dataset(tmp_path, settings="s").add([make_row("a"), failed])
    data = Dataset(tmp_path, settings="s")
    snaps = [Snap(path=f"{n}.snap", file_bytes=10_000_000, state="1") for n in "ab"]
    assert [data.has(snap) for snap in snaps] == [True, True]
    data = Dataset(tmp_path, settings="s", retries=True)
    assert [data.has(snap) for snap in snaps] == [True, False]
    assert data.digests() == {"sha256:a"}
    assert data.add([make_row("b")]) == 1
    assert names(tmp_path) == ["a", "b"]


def test_a_snap_is_known_by_its_path_length_and_state(tmp_path: Path) -> None:
    gone = {"digest": None, "error": "Cannot read", "error_status": os.EX_NOINPUT}
    unsure = make_row("c", state="")
    rows = [make_row("a"), make_row("b", **gone), unsure]
    Dataset(tmp_path, settings="s").add(rows)
    data = Dataset(tmp_path, settings="s")
    known = Snap(path="a.snap", file_bytes=10_000_000, state="1")
    assert data.has(known)
    others = [
        replace(known, state="2"),
        replace(known, file_bytes=10_000_001),
        Snap(path="a.snap"),
        replace(known, path="b.snap"),
        replace(known, path="c.snap"),
        replace(known, path="c.snap", state=""),
    ]
    assert not any(map(data.has, others))


def test_files_of_runs_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    runs = [Dataset(tmp_path, settings="s") for _ in range(2)]
    for data, name in zip(runs, "ab", strict=True):
        data.add([make_row(name)])
    data = Dataset(tmp_path, settings="s")
    snaps = [Snap(path=f"{n}.snap", file_bytes=10_000_000, state="1") for n in "ab"]
    assert [*map(data.has, snaps)] == [True, True]


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"a.snap": [1]}', b"\xff"])
def test_a_broken_list_of_files_only_makes_them_be_read(
    tmp_path: Path, content: bytes
) -> None:
    Dataset(tmp_path, settings="s").add([make_row("a")])
    (file,) = tmp_path.glob("*/_files.json")
    file.write_bytes(content)
    data = Dataset(tmp_path, settings="s")
    known = Snap(path="a.snap", file_bytes=10_000_000, state="1")
    assert not data.has(known)
    assert data.add([{**make_row("a"), KNOWN: True}]) == 0
    assert data.has(known)
    assert names(tmp_path) == ["a"]


def test_a_known_file_replaces_no_row(tmp_path: Path) -> None:
    data = Dataset(tmp_path, settings="s")
    data.add([make_row("a", error="Broken", error_status=os.EX_DATAERR)])
    known = {"path": "b.snap", "digest": "sha256:a", "state": "1", KNOWN: True}
    assert data.add([{**known, "file_bytes": 10_000_000}]) == 0
    assert names(tmp_path) == ["a"]
    assert data.has(Snap(path="b.snap", file_bytes=10_000_000, state="1"))


def test_a_part_that_was_removed_makes_its_files_be_read(tmp_path: Path) -> None:
    Dataset(tmp_path, settings="s").add([make_row("a")])
    part_files(tmp_path)[0].unlink()
    data = Dataset(tmp_path, settings="s")
    assert not data.has(Snap(path="a.snap", file_bytes=10_000_000, state="1"))


def test_rows_of_other_settings_are_refused(tmp_path: Path) -> None:
    Dataset(tmp_path, settings="s").add([make_row("a")])
    with pytest.raises(UsageError, match="other settings"):
        Dataset(tmp_path, settings="t")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"schema": 3, "settings": "s"}, "schema version 3, not 2"),
        (None, "isn't a part"),
        ({"schema": 1}, "isn't a part"),
    ],
)
def test_files_of_another_schema_are_refused(
    tmp_path: Path, told: object, said: str
) -> None:
    file = tmp_path / "advisor_version=0.1.0" / "part-1.parquet"
    file.parent.mkdir()
    metadata = {"compression-advisor fleet": json.dumps(told)}
    table = imported("pyarrow").table({"path": ["a"]})
    table = table.replace_schema_metadata(metadata)
    imported("pyarrow.parquet").write_table(table, file)
    with pytest.raises(BadDataError, match=said):
        Dataset(tmp_path, settings="s")


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    Dataset(tmp_path, settings="s").add([make_row("a")])
    (file,) = part_files(tmp_path)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(BadDataError, match=file.name):
        Dataset(tmp_path, settings="s")


def test_what_a_killed_run_left_is_removed_and_not_read(tmp_path: Path) -> None:
    Dataset(tmp_path, settings="s").add([make_row("a")])
    (file,) = part_files(tmp_path)
    leftover = file.parent / ".compression-advisor.x1"
    leftover.write_bytes(b"PAR1")
    assert names(tmp_path) == ["a"]
    Dataset(tmp_path, settings="s")
    assert not leftover.exists()


def test_a_full_disk_leaves_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Dataset(tmp_path, settings="s")
    data.add([make_row("a")])
    small = tmp_path / "small"
    small.mkdir()

    def full(target: Path, _content: bytes, *, mode: int) -> None:
        # As the real one does where writing its temporary file fails.
        raise OSError(28, "No space left on device", str(target), mode)

    monkeypatch.setattr(dataset_module, "replace_bytes", full)
    with pytest.raises(StorageError, match="No space left") as caught:
        data.add([make_row("b")])
    assert "same command again" in (caught.value.resolution or "")
    monkeypatch.undo()
    assert names(tmp_path) == ["a"]
    assert data.add([make_row("b")]) == 1


def test_only_rows_of_the_latest_version_are_read(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0"):
        fill(tmp_path, {f"advisor_version={version}/part-1.parquet": b""})
    assert [file.parent.name for file in part_files(tmp_path)] == [
        "advisor_version=0.10.0"
    ]
    with pytest.raises(NoInputError, match="isn't a fleet's data set"):
        part_files(tmp_path / "nothing")


def test_the_page_names_every_column_with_its_text() -> None:
    page = (ROOT / "docs/study/fleet-data.md").read_text(encoding="utf-8")
    listed = [line for line in page.splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in listed] == [each.name for each in COLUMNS]
    for line, column in zip(listed, COLUMNS, strict=True):
        assert line.endswith(f"| {column.text} |")


def shown(root: Path) -> list[tuple[str, str | None]]:
    rows = current_rows(root, ["digest"])
    found = [(row["path"], row["digest"]) for row in rows]
    return sorted(found, key=str)


def test_of_a_path_that_has_a_new_build_only_this_is_shown(tmp_path: Path) -> None:
    data = Dataset(tmp_path, settings="s")
    data.add([make_row("a"), make_row("b")])
    rebuilt = make_row("a", digest="sha256:a2", state="")
    data.add([rebuilt])
    assert shown(tmp_path) == [("a.snap", "sha256:a2"), ("b.snap", "sha256:b")]
    # The row of the earlier build stays, for where that comes back.
    assert names(tmp_path) == ["a", "a", "b"]
    data.add([{**make_row("a", state="3"), KNOWN: True}])
    assert shown(tmp_path) == [("a.snap", "sha256:a"), ("b.snap", "sha256:b")]


def test_a_build_that_is_still_at_another_path_is_shown(tmp_path: Path) -> None:
    data = Dataset(tmp_path, settings="s")
    data.add([make_row("a")])
    data.add([make_row("a", path="copy.snap") | {KNOWN: True}])
    data.add([make_row("a", digest="sha256:a2", state="2")])
    assert shown(tmp_path) == [("a.snap", "sha256:a"), ("a.snap", "sha256:a2")]


def test_what_could_not_be_read_is_shown_until_it_is_read(tmp_path: Path) -> None:
    gone = {"digest": None, "error": "Cannot read", "error_status": os.EX_NOINPUT}
    data = Dataset(tmp_path, settings="s")
    data.add([make_row("a", **gone)])
    assert shown(tmp_path) == [("a.snap", None)]
    data.add([make_row("a")])
    assert shown(tmp_path) == [("a.snap", "sha256:a")]
    # Gone again: the row of what was there is shown, too.
    data.add([make_row("a", **gone)])
    assert {digest for _, digest in shown(tmp_path)} == {None, "sha256:a"}
