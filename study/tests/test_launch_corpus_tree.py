"""The trees of the launch corpus: what is written, kept and removed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import corpus_tree
from corpus_applications import KIND_PACKAGES, Application
from machine import write_script
from prime_error import PrimeError
from snapcraft_compression_advisor.payload.snap_yaml import parse_snap_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONG_AGO_NS = 10**18
SCRIPT = Application(
    name="script",
    kind="python",
    packages=("python3", "python3-numpy"),
    command=("usr/bin/python3", "/opt/launch/a b.py"),
    event="exit",
    environment={"SEED": "1"},
    files={"opt/launch/a b.py": "import numpy\n"},
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with a program, a database of packages, and a log."""
    root = tmp_path / "root"
    for name in ("usr/bin/python3", "var/lib/dpkg/status", "var/log/apt/term.log"):
        (root / name).parent.mkdir(parents=True)
        (root / name).touch(mode=0o755)
    return root


@pytest.fixture(autouse=True)
def _tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer in place of dpkg and apt."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    listed = "ii  python3 1:3.11\\nii  python3-numpy 1.24\\nrc  gone 1"
    for name, said in (
        ("dpkg", "amd64"), ("dpkg-query", listed), ("apt-get", "http://mirror/"),
    ):  # fmt: skip
        write_script(programs / name, f"printf '{said}\\n'")


def test_a_finished_tree_has_metadata_that_the_advisor_reads(root: Path) -> None:
    corpus_tree.finish(root, SCRIPT)
    text = (root / "meta" / "snap.yaml").read_bytes()
    snap = parse_snap_yaml(text, where="meta/snap.yaml")
    assert (snap.name, snap.base) == ("script", "bare")
    assert snap.apps["script"].command == "usr/bin/python3 '/opt/launch/a b.py'"
    assert snap.environment["SEED"] == "1"
    assert b'version: "3.11"' in text


def test_a_finished_tree_has_scripts_and_package_versions_and_no_logs(
    root: Path,
) -> None:
    corpus_tree.finish(root, SCRIPT)
    assert (root / "opt" / "launch" / "a b.py").read_text() == "import numpy\n"
    assert list((root / "var" / "log").iterdir()) == []
    manifest = (root / "snap" / "manifest.yaml").read_text()
    assert manifest == (
        "primed-stage-packages:\n- python3=1:3.11\n- python3-numpy=1.24\n"
    )


@pytest.mark.parametrize(("event", "shown"), [("window", True), ("exit", False)])
def test_only_what_shows_a_window_has_a_desktop_file(
    root: Path, event: str, *, shown: bool
) -> None:
    application = Application(
        name="app",
        kind="cli",
        packages=("python3",),
        command=("usr/bin/python3",),
        event=event,
    )
    corpus_tree.finish(root, application)
    assert (root / "meta" / "gui" / "app.desktop").exists() is shown


def test_a_command_that_isnt_in_the_tree_is_refused(root: Path) -> None:
    (root / "usr" / "bin" / "python3").unlink()
    with pytest.raises(PrimeError, match="There's no program 'usr/bin/python3'"):
        corpus_tree.finish(root, SCRIPT)
    assert not (root / "meta").exists()


def test_a_program_that_is_an_alternative_is_found(root: Path) -> None:
    alternative = root / "etc" / "alternatives" / "python3"
    alternative.parent.mkdir(parents=True)
    (root / "usr" / "bin" / "python3").rename(root / "usr" / "bin" / "python3.11")
    (root / "usr" / "bin" / "python3").symlink_to("/etc/alternatives/python3")
    alternative.symlink_to("/usr/bin/python3.11")
    corpus_tree.finish(root, SCRIPT)
    assert (root / "usr" / "bin" / "python3").resolve().name == "python3.11"


def test_logs_and_lists_go_and_places_to_mount_on_stay(root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc" / "resolv.conf").touch()
    corpus_tree.strip(root)
    assert not (root / "etc" / "resolv.conf").exists()
    for name in ("var/log", "var/lib/dpkg", "dev", "proc", "run", "tmp", "var/tmp"):
        assert list((root / name).iterdir()) == []


def test_absolute_links_become_relative_and_directories_keep_their_times(
    root: Path,
) -> None:
    fonts = root / "usr" / "share" / "fonts"
    fonts.mkdir(parents=True)
    (fonts / "link").symlink_to("/usr/bin/python3")
    os.utime(fonts, ns=(LONG_AGO_NS, LONG_AGO_NS))
    corpus_tree.finish(root, SCRIPT)
    assert (fonts / "link").readlink() == Path("../../bin/python3")
    assert fonts.stat().st_mtime_ns == LONG_AGO_NS


@dataclass
class Apt:
    """Takes what apt is to do in a tree, and does nothing of it."""

    root: Path = Path()
    words: list[str] = field(default_factory=list)
    binds: Mapping[Path, str] = field(default_factory=dict)

    def __call__(
        self, root: Path, words: Sequence[str], *, binds: Mapping[Path, str]
    ) -> str:
        self.root, self.words, self.binds = root, list(words), binds
        return ""


def debootstrap(words: Sequence[str]) -> str:
    """Make the directories that a minimal system has, where the release is known."""
    program, variant, suite, root, mirror = words
    assert (program, variant, suite) == ("debootstrap", "--variant=minbase", "trixie")
    assert mirror == "http://mirror/"
    for name in ("etc/apt", "etc/dpkg/dpkg.cfg.d", "usr/sbin"):
        (Path(root) / name).mkdir(parents=True)
    return ""


def test_apt_runs_in_the_tree_with_the_packages_of_the_kind(
    root: Path,
) -> None:
    apt = Apt()
    gtk = replace(SCRIPT, kind="gtk3")
    corpus_tree.install(root, gtk, Path("/cache/archives"), run_inside=apt)
    packages = apt.words[apt.words.index("install") + 1 :]
    assert packages == ["python3", "python3-numpy", *KIND_PACKAGES["gtk3"]]
    assert KIND_PACKAGES["gtk3"]
    assert "--no-install-recommends" in apt.words
    assert apt.root == root
    assert apt.binds[Path("/cache/archives")] == "var/cache/apt/archives"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a base of Debian 13, of which debootstrap made empty directories."""
    apt = Apt()
    corpus_tree.build_base(tmp_path / "base", "trixie", run=debootstrap, run_inside=apt)
    assert (apt.root, apt.words[-1]) == (tmp_path / "base", "update")
    return tmp_path / "base"


def test_a_base_starts_no_services(base: Path) -> None:
    root = base
    policy = root / "usr" / "sbin" / "policy-rc.d"
    assert os.access(policy, os.X_OK)
    assert policy.read_text().endswith("exit 101\n")
    assert "trixie-security" in (root / "etc" / "apt" / "sources.list").read_text()


def test_a_base_has_no_documentation_and_a_tree_no_trace_of_that(
    base: Path, root: Path
) -> None:
    settings = base / "etc" / "dpkg" / "dpkg.cfg.d"
    (path,) = settings.iterdir()
    assert "path-exclude=/usr/share/doc/*\n" in path.read_text()
    assert "/man/" not in path.read_text()
    (root / "etc" / "dpkg").mkdir(parents=True)
    settings.rename(root / "etc" / "dpkg" / "dpkg.cfg.d")
    corpus_tree.strip(root)
    assert list((root / "etc" / "dpkg" / "dpkg.cfg.d").iterdir()) == []


def fill_tree(tree: Path, **contents: bytes) -> Path:
    tree.mkdir()
    for name, content in contents.items():
        (tree / name).write_bytes(content)
        os.utime(tree / name, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return tree


def test_equal_files_of_two_trees_are_one(tmp_path: Path) -> None:
    data, other = b"a" * 5000, b"b" * 5000
    one = fill_tree(tmp_path / "one", library=data, font=other)
    two = fill_tree(tmp_path / "two", library=data, font=data)
    for tree in (one, two):
        corpus_tree.share_files(tree, tmp_path / "shared")
    assert (one / "library").samefile(two / "library")
    assert (two / "font").read_bytes() == data
    assert (one / "font").read_bytes() == other


def test_equal_files_of_one_tree_stay_two(tmp_path: Path) -> None:
    tree = fill_tree(tmp_path / "tree", one=b"a" * 5000, two=b"a" * 5000)
    corpus_tree.share_files(tree, tmp_path / "shared")
    assert not (tree / "one").samefile(tree / "two")


def test_a_file_of_another_time_stays_alone(tmp_path: Path) -> None:
    one = fill_tree(tmp_path / "one", cache=b"a" * 5000)
    two = fill_tree(tmp_path / "two", cache=b"a" * 5000)
    os.utime(two / "cache")
    for tree in (one, two):
        corpus_tree.share_files(tree, tmp_path / "shared")
    assert not (one / "cache").samefile(two / "cache")
