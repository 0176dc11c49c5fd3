"""Writing snapcraft.yaml, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    StorageError,
)
from snapcraft_compression_advisor.project.edit import Edit, apply_edit, plan_edit

BEFORE = b"name: x\nbase: core24\nparts: {}\n"
AFTER = b"name: x\nbase: core24\ncompression: lzo\nparts: {}\n"


@pytest.fixture
def project_file(tmp_path: Path) -> Path:
    path = tmp_path / "snapcraft.yaml"
    path.write_bytes(BEFORE)
    return path


def test_planning_writes_nothing(project_file: Path) -> None:
    edit = plan_edit(project_file, "lzo")
    assert (edit.before, edit.after, edit.sets) == (BEFORE, AFTER, {None: "lzo"})
    assert edit.changes
    assert project_file.read_bytes() == BEFORE


def test_the_diff_names_the_path_as_it_was_given() -> None:
    edit = Edit(path=Path("snap/snapcraft.yaml"), before=BEFORE, after=AFTER)
    assert edit.diff() == (
        "--- a/snap/snapcraft.yaml\n"
        "+++ b/snap/snapcraft.yaml\n"
        "@@ -1,3 +1,4 @@\n"
        " name: x\n"
        " base: core24\n"
        "+compression: lzo\n"
        " parts: {}\n"
    )


def test_the_diff_of_a_file_without_final_line_break_says_so() -> None:
    edit = Edit(path=Path("/p/f"), before=b"a: b\r\nc: xz", after=b"a: b\r\nc: lzo")
    assert edit.diff() == (
        "--- a/p/f\n"
        "+++ b/p/f\n"
        "@@ -1,2 +1,2 @@\n"
        " a: b\r\n"
        "-c: xz\n"
        "\\ No newline at end of file\n"
        "+c: lzo\n"
        "\\ No newline at end of file\n"
    )


def test_an_edit_that_changes_nothing_has_no_diff_and_writes_nothing(
    project_file: Path, mocker: MockerFixture
) -> None:
    project_file.write_bytes(AFTER)
    edit = plan_edit(project_file, "lzo")
    opened = mocker.patch("os.open")
    apply_edit(edit)
    assert not edit.changes
    assert not edit.diff()
    opened.assert_not_called()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o2755])
def test_applying_writes_the_file_and_keeps_its_mode(
    project_file: Path, mode: int
) -> None:
    project_file.chmod(mode)
    apply_edit(plan_edit(project_file, "lzo"))
    assert project_file.read_bytes() == AFTER
    assert stat.S_IMODE(project_file.stat().st_mode) == mode
    assert list(project_file.parent.iterdir()) == [project_file]


@pytest.mark.root
def test_applying_keeps_the_owner(project_file: Path) -> None:
    os.chown(project_file, 12_345, 23_456)
    apply_edit(plan_edit(project_file, "lzo"))
    status = project_file.stat()
    assert (status.st_uid, status.st_gid) == (12_345, 23_456)


@pytest.mark.parametrize("call", ["os.fchown", "os.listxattr"])
def test_what_cannot_be_kept_of_the_file_stops_nothing(
    project_file: Path, mocker: MockerFixture, call: str
) -> None:
    mocker.patch(call, side_effect=PermissionError(errno.EPERM, "no"))
    apply_edit(plan_edit(project_file, "lzo"))
    assert project_file.read_bytes() == AFTER


def test_applying_keeps_extended_attributes_where_there_are_any(
    project_file: Path,
) -> None:
    try:
        os.setxattr(project_file, "user.note", b"kept")
    except OSError as error:
        pytest.skip(f"the file system of the tests: {error.strerror}")
    apply_edit(plan_edit(project_file, "lzo"))
    assert os.getxattr(project_file, "user.note") == b"kept"


def test_a_symbolic_link_stays_one_and_its_target_is_written(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "real.yaml"
    target.parent.mkdir()
    target.write_bytes(BEFORE)
    link = tmp_path / "project" / "snapcraft.yaml"
    link.parent.mkdir()
    link.symlink_to("../elsewhere/real.yaml")
    apply_edit(plan_edit(link, "lzo"))
    assert link.is_symlink()
    assert target.read_bytes() == AFTER
    assert len(list(tmp_path.rglob("*"))) == 4


def test_a_file_with_several_hard_links_is_refused(project_file: Path) -> None:
    other = project_file.with_name("other")
    other.hardlink_to(project_file)
    with pytest.raises(StorageError, match="2 hard links"):
        apply_edit(plan_edit(project_file, "lzo"))
    assert project_file.read_bytes() == other.read_bytes() == BEFORE


def test_a_read_only_file_is_refused_even_to_root(project_file: Path) -> None:
    project_file.chmod(0o444)
    with pytest.raises(StorageError, match="is read-only"):
        apply_edit(plan_edit(project_file, "lzo"))
    assert project_file.read_bytes() == BEFORE


def test_a_file_that_only_others_may_write_is_refused(
    project_file: Path, mocker: MockerFixture
) -> None:
    mocker.patch("os.access", return_value=False)
    with pytest.raises(StorageError, match="is read-only"):
        apply_edit(plan_edit(project_file, "lzo"))


def test_a_file_that_has_changed_since_is_refused(project_file: Path) -> None:
    edit = plan_edit(project_file, "lzo")
    project_file.write_bytes(b"name: y\n")
    with pytest.raises(BadDataError, match="has changed since it was read"):
        apply_edit(edit)
    assert project_file.read_bytes() == b"name: y\n"


def test_a_file_that_changes_during_the_writing_is_refused(
    project_file: Path, mocker: MockerFixture
) -> None:
    edit = plan_edit(project_file, "lzo")
    mocker.patch(
        "os.fsync", side_effect=lambda _: project_file.write_bytes(b"name: y\n")
    )
    with pytest.raises(BadDataError, match="has changed since it was read"):
        apply_edit(edit)
    assert list(project_file.parent.iterdir()) == [project_file]
    assert project_file.read_bytes() == b"name: y\n"


@pytest.mark.parametrize(
    "call",
    ["os.fsync", "os.fchmod", "pathlib.Path.replace", "tempfile.mkstemp"],
)
@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), StorageError),
        (OSError(errno.EROFS, "Read-only file system"), StorageError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_failure_anywhere_leaves_the_file_as_it_was_and_no_other(
    project_file: Path,
    mocker: MockerFixture,
    call: str,
    failure: BaseException,
    raised: type[BaseException],
) -> None:
    edit = plan_edit(project_file, "lzo")
    mocker.patch(call, side_effect=failure)
    with pytest.raises(raised, match=getattr(failure, "strerror", None)):
        apply_edit(edit)
    assert list(project_file.parent.iterdir()) == [project_file]
    assert project_file.read_bytes() == BEFORE


def test_the_new_text_reaches_the_disk_before_its_name_does(
    project_file: Path, mocker: MockerFixture
) -> None:
    seen = []

    def synced(descriptor: int) -> None:
        written = Path(f"/proc/self/fd/{descriptor}").read_bytes()
        seen.append((written, project_file.read_bytes()))

    mocker.patch("os.fsync", side_effect=synced)
    apply_edit(plan_edit(project_file, "lzo"))
    assert seen == [(AFTER, BEFORE)]
