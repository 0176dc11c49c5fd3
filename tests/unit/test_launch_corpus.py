"""The script that builds the launch corpus: arguments, places, what stays behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import launch_corpus
from corpus_applications import APPLICATIONS, Application
from prime_error import PrimeError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

JQ = Application(name="jq", kind="cli", packages=("jq",), command=("usr/bin/jq",))
GIT = Application(name="git", kind="cli", packages=("git",), command=("usr/bin/git",))


def make_tree(root: Path) -> None:
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "snap.yaml").touch()


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Return an empty directory for trees, beside a cache with a base in it."""
    (tmp_path / "cache" / "base").mkdir(parents=True)
    (tmp_path / "trees").mkdir()
    return tmp_path / "trees"


@pytest.fixture
def _stages(mocker: MockerFixture) -> None:
    """Replace the stages that need root and the network."""
    mocker.patch("launch_corpus.check_space")
    mocker.patch("launch_corpus.copy_tree", side_effect=lambda _, root: root.mkdir())
    mocker.patch("launch_corpus.install")
    mocker.patch("launch_corpus.finish", side_effect=lambda root, _: make_tree(root))


@pytest.mark.parametrize(
    "arguments",
    [[], ["jq"], ["no-such-app", "-o", "trees"], ["-o", "trees", "--no-such-option"]],
    ids=["no output", "name without output", "unknown name", "unknown option"],
)
def test_arguments_that_dont_fit_end_with_status_64(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        launch_corpus.main(arguments)
    assert raised.value.code == os.EX_USAGE
    assert "launch_corpus.py: " in capsys.readouterr().err


def test_the_table_is_printed_without_root(
    mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    mocker.patch("os.geteuid", return_value=1000)
    assert launch_corpus.main(["--list"]) == os.EX_OK
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == [it.name for it in APPLICATIONS]


def test_building_without_root_says_what_to_do(
    tmp_path: Path, mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    mocker.patch("launch_corpus.make_base")
    mocker.patch("launch_corpus.build_all")
    mocker.patch("os.geteuid", return_value=1000)
    output = tmp_path / "trees"
    assert launch_corpus.main(["-o", str(output)]) == os.EX_NOPERM
    assert "run it with sudo" in capsys.readouterr().err
    assert not output.exists()


def test_a_missing_debootstrap_says_what_to_install(
    tmp_path: Path, mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    mocker.patch("launch_corpus.make_base")
    mocker.patch("launch_corpus.build_all")
    mocker.patch("os.geteuid", return_value=0)
    mocker.patch("shutil.which", return_value=None)
    status = launch_corpus.main(["-o", str(tmp_path / "trees")])
    assert status == os.EX_UNAVAILABLE
    assert "apt-get install debootstrap" in capsys.readouterr().err


def test_a_disk_without_room_is_refused_before_the_build(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    usage = mocker.patch("shutil.disk_usage")
    usage.return_value.free = launch_corpus.FREE_BYTES - 1
    with pytest.raises(PrimeError, match="free some space") as raised:
        launch_corpus.check_space(tmp_path)
    assert raised.value.exit_status == os.EX_CANTCREAT


@pytest.mark.usefixtures("_stages")
def test_a_tree_is_put_in_place_when_it_is_whole(output: Path) -> None:
    launch_corpus.build(JQ, output, output.parent / "cache")
    assert launch_corpus.is_finished(output / "jq")
    assert [path.name for path in output.iterdir()] == ["jq"]


@pytest.mark.usefixtures("_stages")
def test_a_finished_tree_isnt_built_again(output: Path, mocker: MockerFixture) -> None:
    make_tree(output / "jq")
    install = mocker.patch("launch_corpus.install")
    launch_corpus.build(JQ, output, output.parent / "cache")
    install.assert_not_called()


def test_a_directory_that_is_no_tree_is_left_alone(output: Path) -> None:
    (output / "jq").mkdir()
    (output / "jq" / "letters").touch()
    with pytest.raises(PrimeError, match="in the way") as raised:
        launch_corpus.is_finished(output / "jq")
    assert raised.value.exit_status == os.EX_CANTCREAT
    assert (output / "jq" / "letters").exists()


@pytest.mark.usefixtures("_stages")
@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, OSError])
def test_a_build_that_ends_early_leaves_nothing(
    output: Path, mocker: MockerFixture, end: type[BaseException]
) -> None:
    mocker.patch("launch_corpus.install", side_effect=end)
    with pytest.raises(end):
        launch_corpus.build(JQ, output, output.parent / "cache")
    assert not list(output.iterdir())


@pytest.mark.usefixtures("_stages")
def test_one_that_apt_cant_install_doesnt_keep_others_from_being_built(
    output: Path, mocker: MockerFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = PrimeError("E: Unable to locate", exit_status=os.EX_UNAVAILABLE)
    mocker.patch("launch_corpus.install", side_effect=[unknown, None])
    with pytest.raises(PrimeError, match="Not built: jq") as raised:
        launch_corpus.build_all([JQ, GIT], output, output.parent / "cache")
    assert raised.value.exit_status == os.EX_UNAVAILABLE
    assert "jq: E: Unable to locate" in capsys.readouterr().err
    assert [path.name for path in output.iterdir()] == ["git"]


@pytest.mark.usefixtures("_stages")
def test_a_full_disk_ends_the_run(output: Path, mocker: MockerFixture) -> None:
    full = PrimeError("The disk is full", exit_status=os.EX_IOERR)
    install = mocker.patch("launch_corpus.install", side_effect=full)
    with pytest.raises(PrimeError, match="disk is full"):
        launch_corpus.build_all([JQ, GIT], output, output.parent / "cache")
    install.assert_called_once()


def test_a_half_built_base_isnt_kept(tmp_path: Path, mocker: MockerFixture) -> None:
    def break_off(root: Path) -> None:
        root.mkdir()
        raise KeyboardInterrupt

    mocker.patch("launch_corpus.check_space")
    mocker.patch("launch_corpus.build_base", side_effect=break_off)
    with pytest.raises(KeyboardInterrupt):
        launch_corpus.make_base(tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_base_is_built_once(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch("launch_corpus.check_space")
    build_base = mocker.patch(
        "launch_corpus.build_base", side_effect=lambda root: root.mkdir()
    )
    launch_corpus.make_base(tmp_path)
    launch_corpus.make_base(tmp_path)
    build_base.assert_called_once()
    assert [path.name for path in tmp_path.iterdir()] == ["base"]


@pytest.mark.usefixtures("_stages")
def test_only_what_is_named_is_built(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch("launch_corpus.check_machine")
    mocker.patch("launch_corpus.build_base", side_effect=lambda root: root.mkdir())
    output, cache = tmp_path / "trees", tmp_path / "cache"
    status = launch_corpus.main(["jq", "-o", str(output), "--cache", str(cache)])
    assert status == os.EX_OK
    assert [path.name for path in output.iterdir()] == ["jq"]
