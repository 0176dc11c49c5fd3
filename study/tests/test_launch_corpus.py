"""The script that builds the launch corpus: arguments, places, what stays behind."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import launch_corpus
from corpus_applications import APPLICATIONS, Application
from launch_corpus import FREE_BYTES, PROGRAMS, Builder
from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JQ = Application(name="jq", kind="cli", packages=("jq",), command=("usr/bin/jq",))
GIT = Application(name="git", kind="cli", packages=("git",), command=("usr/bin/git",))


def make_tree(root: Path) -> None:
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "snap.yaml").touch()


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Return an empty directory for trees, beside a cache with a base in it."""
    (tmp_path / "cache" / "base-bookworm").mkdir(parents=True)
    (tmp_path / "trees").mkdir()
    return tmp_path / "trees"


def nothing(*_: object) -> None:
    """Do what a step does that isn't looked at."""


def failing(error: BaseException | type[BaseException]) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


BUILDER = Builder(
    is_root=True,
    free_bytes=lambda _: FREE_BYTES,
    build_base=lambda root, _: root.mkdir(),
    copy_tree=lambda _, root: root.mkdir(),
    install=nothing,
    finish=lambda root, _: make_tree(root),
)
"""Makes trees that are finished and empty, without root and the network."""


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


def test_the_table_is_printed_without_root(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch_corpus.main(["--list"], Builder(is_root=False)) == os.EX_OK
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == [it.name for it in APPLICATIONS]


def test_building_without_root_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "trees"
    status = launch_corpus.main(["-o", str(output)], Builder(is_root=False))
    assert status == os.EX_NOPERM
    assert "run it with sudo" in capsys.readouterr().err
    assert not output.exists()


def test_a_missing_debootstrap_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = replace(BUILDER, path=str(tmp_path))
    status = launch_corpus.main(["-o", str(tmp_path / "trees")], builder)
    assert status == os.EX_UNAVAILABLE
    assert "apt-get install debootstrap" in capsys.readouterr().err


def test_a_disk_without_room_is_refused_before_the_build(tmp_path: Path) -> None:
    builder = replace(BUILDER, free_bytes=lambda _: FREE_BYTES - 1)
    with pytest.raises(PrimeError, match="free some space") as raised:
        launch_corpus.make_base("bookworm", tmp_path, builder)
    assert raised.value.exit_status == os.EX_CANTCREAT
    assert not list(tmp_path.iterdir())


def test_a_tree_is_put_in_place_when_it_is_whole(output: Path) -> None:
    launch_corpus.build(JQ, output, output.parent / "cache", BUILDER)
    assert launch_corpus.is_finished(output / "jq")
    assert [path.name for path in output.iterdir()] == ["jq"]


def test_a_finished_tree_isnt_built_again(output: Path) -> None:
    make_tree(output / "jq")
    builder = replace(BUILDER, install=failing(AssertionError))
    launch_corpus.build(JQ, output, output.parent / "cache", builder)


def test_a_directory_that_is_no_tree_is_left_alone(output: Path) -> None:
    (output / "jq").mkdir()
    (output / "jq" / "letters").touch()
    with pytest.raises(PrimeError, match="in the way") as raised:
        launch_corpus.is_finished(output / "jq")
    assert raised.value.exit_status == os.EX_CANTCREAT
    assert (output / "jq" / "letters").exists()


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, OSError])
def test_a_build_that_ends_early_leaves_nothing(
    output: Path, end: type[BaseException]
) -> None:
    builder = replace(BUILDER, install=failing(end))
    with pytest.raises(end):
        launch_corpus.build(JQ, output, output.parent / "cache", builder)
    assert not list(output.iterdir())


def test_one_that_apt_cant_install_doesnt_keep_others_from_being_built(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def install(_root: Path, application: Application, _archives: Path) -> None:
        if application is JQ:
            message = "E: Unable to locate"
            raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)

    builder = replace(BUILDER, install=install)
    with pytest.raises(PrimeError, match="Not built: jq") as raised:
        launch_corpus.build_all([JQ, GIT], output, output.parent / "cache", builder)
    assert raised.value.exit_status == os.EX_UNAVAILABLE
    assert "jq: E: Unable to locate" in capsys.readouterr().err
    assert [path.name for path in output.iterdir()] == ["git"]


def test_a_full_disk_ends_the_run(output: Path) -> None:
    installed = []

    def install(_root: Path, application: Application, _archives: Path) -> None:
        installed.append(application)
        message = "The disk is full"
        raise PrimeError(message, exit_status=os.EX_IOERR)

    builder = replace(BUILDER, install=install)
    with pytest.raises(PrimeError, match="disk is full"):
        launch_corpus.build_all([JQ, GIT], output, output.parent / "cache", builder)
    assert installed == [JQ]


def test_a_half_built_base_isnt_kept(tmp_path: Path) -> None:
    def break_off(root: Path, _: str) -> None:
        root.mkdir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch_corpus.make_base(
            "bookworm", tmp_path, replace(BUILDER, build_base=break_off)
        )
    assert not list(tmp_path.iterdir())


def test_the_base_is_built_once(tmp_path: Path) -> None:
    launch_corpus.make_base("bookworm", tmp_path, BUILDER)
    again = replace(BUILDER, build_base=failing(AssertionError))
    launch_corpus.make_base("bookworm", tmp_path, again)
    assert [path.name for path in tmp_path.iterdir()] == ["base-bookworm"]


def test_the_packages_of_a_kind_are_installed_once(output: Path) -> None:
    installed = []
    builder = replace(BUILDER, install=lambda _, it, __: installed.append(it.packages))
    for name in ("one", "two"):
        application = replace(JQ, name=name, packages=(name,), kind="gtk4")
        launch_corpus.build(application, output, output.parent / "cache", builder)
    assert installed == [(), ("one",), ("two",)]
    bases = sorted(path.name for path in (output.parent / "cache").iterdir())
    assert bases == ["base-bookworm", "base-bookworm-gtk4"]


def test_only_what_is_named_is_built(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).touch(mode=0o755)
    output, cache = tmp_path / "trees", tmp_path / "cache"
    status = launch_corpus.main(
        ["jq", "-o", str(output), "--cache", str(cache)],
        replace(BUILDER, path=str(programs)),
    )
    assert status == os.EX_OK
    assert [path.name for path in output.iterdir()] == ["jq"]
