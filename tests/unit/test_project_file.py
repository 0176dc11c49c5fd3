"""Finding and reading a project's file, and making an edit of it."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.cli.subject import find_project_folder
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    StorageError,
    UsageError,
)
from snapcraft_compression_advisor.project.document import MAX_PROJECT_FILE_BYTES
from snapcraft_compression_advisor.project.edit import Edit, apply_edit, plan_edit
from snapcraft_compression_advisor.project.project_file import (
    PROJECT_FILES,
    ProjectFile,
    find_project_file,
    read_project,
    read_project_file,
)
from trees import fill

BEFORE = b"name: x\nbase: core24\nparts: {}\n"


@pytest.fixture
def project_file(tmp_path: Path) -> Path:
    path = tmp_path / "snapcraft.yaml"
    path.write_bytes(BEFORE)
    return path


def test_the_first_place_wins_as_it_does_for_snapcraft(tmp_path: Path) -> None:
    for name in reversed(PROJECT_FILES):
        fill(tmp_path, {name: BEFORE})
        assert find_project_file(tmp_path) == tmp_path / name


def test_a_dangling_link_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "snapcraft.yaml").symlink_to("nowhere")
    (tmp_path / ".snapcraft.yaml").write_bytes(BEFORE)
    assert find_project_file(tmp_path) == tmp_path / ".snapcraft.yaml"


def test_a_yaml_file_may_be_given_itself(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_bytes(BEFORE)
    assert find_project_file(path) == path


def test_another_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "app.snap").touch()
    with pytest.raises(UsageError, match="neither a directory nor a YAML file"):
        find_project_file(tmp_path / "app.snap")


def test_a_place_without_a_project_names_all_that_was_looked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "snap").touch()
    with pytest.raises(NoInputError, match="No project file") as missing:
        find_project_file(tmp_path)
    assert all(name in str(missing.value.details) for name in PROJECT_FILES)
    with pytest.raises(NoInputError, match="doesn't exist"):
        find_project_file(tmp_path / "absent")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("link", "symbolic links"), ("absent.yaml", "No such"), ("a\0b.yaml", "null")],
)
def test_what_cannot_be_read_is_no_input(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(NoInputError, match=f"can't be read: .*{reason}"):
        read_project_file(tmp_path / name)


@pytest.mark.parametrize("to", ["nowhere", "snapcraft.yaml"])
def test_a_link_that_leads_nowhere_is_named_if_there_is_no_other_file(
    tmp_path: Path, to: str
) -> None:
    (tmp_path / "snap").mkdir()
    (tmp_path / "snap/snapcraft.yaml").symlink_to(to)
    with pytest.raises(BadDataError, match="is a link that leads"):
        find_project_file(tmp_path)


@pytest.mark.parametrize("name", ["package.json", "electron-builder.yml"])
def test_the_file_of_another_packer_is_named_with_its_key(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).touch()
    with pytest.raises(NoInputError) as missing:
        find_project_file(tmp_path)
    assert name in str(missing.value.details)
    assert "compression" in str(missing.value.resolution)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_regular_file_is_refused_without_waiting(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "snapcraft.yaml")
    with pytest.raises(BadDataError, match="not a regular file"):
        plan_edit(find_project_file(tmp_path), "lzo")


def test_a_failing_read_is_a_storage_error() -> None:
    unmapped = Path("/proc/self/mem")  # a regular file; its first byte can't be read
    with pytest.raises(StorageError, match="Input/output error"):
        read_project_file(unmapped)


def test_a_file_beyond_the_limit_is_refused_rather_than_cut(project_file: Path) -> None:
    project_file.write_bytes(BEFORE + b"#" * MAX_PROJECT_FILE_BYTES)
    with pytest.raises(BadDataError, match="larger than"):
        plan_edit(project_file, "lzo")


@pytest.mark.parametrize("name", PROJECT_FILES)
def test_project_named_by_its_file_is_in_the_folder_above(
    tmp_path: Path, name: str
) -> None:
    file = fill(tmp_path, {name: "name: x\n"}) / name
    assert find_project_folder(tmp_path / "x.snap", file) == tmp_path


def read(text: str) -> ProjectFile:
    return read_project(Path("snapcraft.yaml"), text.encode())


def test_keys_are_found_with_their_lines() -> None:
    found = read(
        "# a comment\n"
        "name: app\n"
        "compression: lzo\n"
        "components:\n"
        "  fonts:\n"
        "    type: standard\n"
        "    compression: xz\n"
        "  data: {type: standard}\n"
        "  empty:\n"
    )
    assert (found.name, found.compression, found.compression_line) == ("app", "lzo", 3)
    assert found.components == {"fonts": "xz", "data": None, "empty": None}
    assert found.component_lines == {"fonts": 7, "data": 8, "empty": 9}


def test_nothing_said_is_nothing_found() -> None:
    found = read("base: core24\n")
    assert (found.name, found.compression, found.compression_line) == (None, None, None)
    assert (found.components, found.ignored) == ({}, ())
    found = read("name: app\ncompression:\nbase: core24\n")
    assert (found.compression, found.compression_line) == (None, 2)


@pytest.mark.parametrize(
    ("ignore", "selectors"),
    [
        ("[compression]", ("SCA",)),
        ("[library, classic: [usr/lib/*]]", ()),
        ("[compression: [SCA305, SCA2]]", ("SCA305", "SCA2")),
        ("[compression: [usr/lib/*, 'SCA303:*.a']]", ("SCA:usr/lib/*", "SCA303:*.a")),
        ("[SCA301, SCA305: [usr/share/doc/*]]", ("SCA301", "SCA305:usr/share/doc/*")),
        ("[compression, compression]", ("SCA",)),
        ("compression", ()),
        ("{compression: [SCA1]}", ()),
        ("[[compression], 3, null, {}]", ()),
        ("[SCARF, SCA-1]", ()),
    ],
)
def test_lint_ignore_names_rules_and_paths(
    ignore: str, selectors: tuple[str, ...]
) -> None:
    assert read(f"name: x\nlint:\n  ignore: {ignore}\n").ignored == selectors


def test_aliases_of_aliases_cost_nothing() -> None:
    levels = "".join(
        f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 40)
    )
    found = read(f"l0: &l0 [x]\n{levels}components: *l39\nlint: {{ignore: *l39}}\n")
    assert found.components == {}


AFTER = b"name: x\nbase: core24\ncompression: lzo\nparts: {}\n"


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
    "call", ["os.fsync", "os.fchmod", "pathlib.Path.replace", "tempfile.mkstemp"]
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
