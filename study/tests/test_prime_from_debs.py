"""The script that builds prime directories: arguments, places, files."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

import prime_from_debs
import prime_tree
from prime_error import PrimeError, run_script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["jq"],
        ["jq", "-o", "prime", "--app", "no-command"],
        ["jq", "-o", "prime", "--no-such-option"],
    ],
    ids=["no package", "no output", "app without command", "unknown option"],
)
def test_arguments_that_dont_fit_end_with_status_64(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        prime_from_debs.main(arguments)
    assert raised.value.code == os.EX_USAGE
    assert "prime_from_debs.py: " in capsys.readouterr().err


def test_a_missing_apt_is_one_message_and_status_69(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status = prime_from_debs.main(["jq", "-o", str(tmp_path / "prime")])
    assert status == os.EX_UNAVAILABLE
    assert "'apt-cache' isn't on this machine" in capsys.readouterr().err


def test_a_name_that_snapd_refuses_is_refused_before_apt_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # without apt: to ask it is status 69
    arguments = ["jq", "-o", str(tmp_path / "prime"), "--name", "Not_A_Name"]
    assert prime_from_debs.main(arguments) == os.EX_USAGE


def test_an_os_error_is_one_line_that_names_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fill_the_disk() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/here/file")

    assert run_script("build.py", fill_the_disk) == os.EX_IOERR
    printed = capsys.readouterr().err
    assert printed == (
        "build.py: /here/file: No space left on device; free some space.\n"
    )


def test_a_directory_that_isnt_there_or_is_empty_may_be_built(tmp_path: Path) -> None:
    prime_from_debs.check_output(tmp_path / "absent", force=False)
    prime_from_debs.check_output(tmp_path, force=False)


@pytest.mark.parametrize("force", [False, True])
def test_a_directory_without_snap_yaml_is_never_replaced(
    tmp_path: Path, *, force: bool
) -> None:
    (tmp_path / "letters").touch()
    with pytest.raises(PrimeError, match="in the way") as raised:
        prime_from_debs.check_output(tmp_path, force=force)
    assert raised.value.exit_status == os.EX_CANTCREAT


def test_a_prime_directory_is_replaced_only_if_forced(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "snap.yaml").touch()
    prime_from_debs.check_output(tmp_path, force=True)
    with pytest.raises(PrimeError, match="add --force"):
        prime_from_debs.check_output(tmp_path, force=False)


def test_a_link_in_the_outputs_place_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    with pytest.raises(PrimeError, match="a directory"):
        prime_from_debs.check_output(link, force=True)


def test_absolute_links_into_the_tree_become_relative(tmp_path: Path) -> None:
    (tmp_path / "usr" / "lib").mkdir(parents=True)
    (tmp_path / "usr" / "lib" / "libfoo.so.1").write_text("foo", encoding="utf-8")
    link = tmp_path / "usr" / "libfoo.so"
    link.symlink_to("/usr/lib/libfoo.so.1")
    prime_tree.make_fit_for_snap(tmp_path)
    assert str(link.readlink()) == "lib/libfoo.so.1"


def test_links_through_other_absolute_links_become_relative(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").touch()
    (tmp_path / "a").symlink_to("/z/file")
    (tmp_path / "z").symlink_to("/data")
    prime_tree.make_fit_for_snap(tmp_path)
    assert str((tmp_path / "a").readlink()) == "z/file"
    assert (tmp_path / "a").is_file()


@pytest.mark.parametrize("target", ["/etc/alternatives/none", "/../../outside", "/a"])
def test_absolute_links_out_of_the_tree_or_to_themselves_stay(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "a").symlink_to(target)
    prime_tree.make_fit_for_snap(tmp_path)
    assert str((tmp_path / "a").readlink()) == target


def test_set_id_bits_go_and_everything_becomes_readable(tmp_path: Path) -> None:
    modes = {"su": 0o4755, "secret": 0o600, "program": 0o700, "write": 0o2555}
    for name, mode in modes.items():
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    prime_tree.make_fit_for_snap(tmp_path)
    settled = {name: (tmp_path / name).stat().st_mode & 0o7777 for name in modes}
    assert settled == {
        "su": 0o755,
        "secret": 0o644,
        "program": 0o755,
        "write": 0o755,
    }


def test_sitecustomize_goes_and_other_modules_stay(tmp_path: Path) -> None:
    python = tmp_path / "usr" / "lib" / "python3.11"
    python.mkdir(parents=True)
    for name in ("sitecustomize.py", "json.py"):
        (python / name).touch()
    prime_tree.make_fit_for_snap(tmp_path)
    assert [path.name for path in python.iterdir()] == ["json.py"]


def test_documentation_goes_when_asked(tmp_path: Path) -> None:
    for name in ("doc/foo", "man/man1", "icons"):
        (tmp_path / "usr" / "share" / name).mkdir(parents=True)
    prime_tree.strip_documentation(tmp_path)
    left = [path.name for path in (tmp_path / "usr" / "share").iterdir()]
    assert left == ["icons"]


def test_times_follow_from_the_packages_files_alone(tmp_path: Path) -> None:
    generated = tmp_path / "meta" / "snap.yaml"
    for path in (tmp_path / "usr" / "old", tmp_path / "usr" / "new", generated):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    os.utime(tmp_path / "usr" / "old", (1000, 1000))
    os.utime(tmp_path / "usr" / "new", (2000, 2000))
    prime_tree.settle_times(tmp_path, [generated])
    for path in (generated, generated.parent, tmp_path / "usr", tmp_path):
        assert path.stat().st_mtime == 2000


def test_hard_links_count_once(tmp_path: Path) -> None:
    (tmp_path / "driver").write_bytes(b"12345")
    (tmp_path / "same").hardlink_to(tmp_path / "driver")
    (tmp_path / "link").symlink_to("driver")
    assert prime_tree.file_figures(tmp_path) == (1, 5)
