"""Closures and downloads of prime_from_debs.py, with apt's answers made up."""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path

import pytest

from apt_closure import (
    AptClosure,
    BaseList,
    Package,
    known_spelling,
    read_base_list,
)
from apt_tools import Apt
from deb_cache import fetch_archives
from prime_error import PrimeError

CORE24 = Path(__file__).parents[2] / "study" / "core24-packages.txt"
BASE = BaseList(installed=("bash", "libp11-3t64"), removed=("perl",), staged_anyway=())


class AnsweringApt(Apt):
    """Answers from a table of names to Inst lines; downloads made-up files."""

    def __init__(self, directory: Path, simulations: dict[str, str]) -> None:
        self.statuses: list[str] = []
        super().__init__(directory)
        self.simulations = simulations
        self.downloads: list[str] = []
        self.content = b"a deb"

    def set_status(self, text: str) -> None:
        self.statuses.append(text)

    def run(self, program: str, *arguments: str, directory: Path | None = None) -> str:
        assert program in {"apt-get", "apt-cache"}
        if arguments[0] == "pkgnames":
            return "bash\nfoo\nlibp11-3\nperl\nlibfoo1\n"
        if arguments[0] == "show":
            return "\n\n".join(
                f"Package: {name}\nVersion: 1\nDepends: perl\nProvides: sh\nSize: 9"
                for name in arguments[2:]
            )
        if arguments[0] == "--simulate":
            return self.simulations[" ".join(arguments[3:])]
        return self._download(arguments, directory)

    def _download(self, arguments: tuple[str, ...], directory: Path | None) -> str:
        assert directory is not None
        packages = [word for word in arguments if "=" in word]
        names = [f"{word.replace('=', '_')}_all.deb" for word in packages]
        if arguments[0] == "--print-uris":
            digest = hashlib.sha256(b"a deb").hexdigest()
            return "\n".join(f"'copy:/{it}' {it} 5 SHA256:{digest}" for it in names)
        for name in names:
            (directory / name).write_bytes(self.content)
        self.downloads += packages
        return ""


SIMULATIONS = {
    "bash libp11-3": "Inst bash (5 Debian:12 [amd64])\nInst perl (1 D [all])\n"
    "Inst libp11-3 (3 Debian:12 [amd64])",
    "foo": "Remv bar [1]\nInst perl [1] (1 D:12/s [all])\n"
    "Inst libfoo1 (1:1.0-1 D:12/s, S:12 [amd64]) []\n"
    "Inst foo (2+b1 Debian:12/stable [all])\nConf foo (2+b1 D [all])",
    "bash": "Inst bash (5 Debian:12 [amd64])",
}


@pytest.fixture
def apt(tmp_path: Path) -> AnsweringApt:
    (tmp_path / "apt").mkdir()
    return AnsweringApt(tmp_path / "apt", SIMULATIONS)


@pytest.mark.parametrize(
    ("asked", "known", "found"),
    [
        ("libfoo1t64", {"libfoo1"}, "libfoo1"),
        ("libfoo1", {"libfoo1t64"}, "libfoo1t64"),
        ("libfoo1", {"libfoo1", "libfoo1t64"}, "libfoo1"),
        ("libfoo1", {"libfoo2"}, None),
    ],
)
def test_a_name_is_found_with_and_without_t64(
    asked: str, known: set[str], found: str | None
) -> None:
    assert known_spelling(asked, known) == found


def test_the_list_of_core24_reads_and_contradicts_itself_nowhere() -> None:
    base = read_base_list(CORE24)
    assert {"libc6", "systemd", "libp11-3t64"} < set(base.installed)
    assert "perl-base" in base.removed
    assert "python3-yaml" in base.staged_anyway
    assert not set(base.removed) & set(base.staged_anyway)
    assert len(set(base.installed)) == len(base.installed)


def test_a_base_without_a_list_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(PrimeError, match="add --keep-base") as raised:
        read_base_list(tmp_path / "core16-packages.txt")
    assert raised.value.exit_status == os.EX_USAGE


def test_the_closure_is_what_apt_would_install_sorted_by_name(
    apt: AnsweringApt,
) -> None:
    packages = AptClosure(apt).resolve(["foo"])
    assert packages == [
        Package(name="foo", version="2+b1", architecture="all"),
        Package(name="libfoo1", version="1:1.0-1", architecture="amd64"),
    ]


def test_the_base_less_what_it_removes_counts_as_installed(apt: AnsweringApt) -> None:
    AptClosure(apt).resolve(["foo"], base=BASE)
    status = apt.statuses[-1]
    names = [line for line in status.splitlines() if line.startswith("Package:")]
    assert names == ["Package: bash", "Package: libp11-3"]
    assert status.count("Status: install ok installed") == 2
    assert "Provides: sh" in status
    assert "Depends" not in status


def test_excluded_packages_count_as_installed(apt: AnsweringApt) -> None:
    AptClosure(apt).resolve(["foo"], excluded=["perl"])
    assert "Package: perl\n" in apt.statuses[-1]


def test_a_package_asked_for_is_in_the_closure_though_the_base_has_it(
    apt: AnsweringApt,
) -> None:
    packages = AptClosure(apt).resolve(["bash"], base=BASE)
    assert [package.name for package in packages] == ["bash"]
    assert "Package: bash" not in apt.statuses[-1]


@pytest.mark.parametrize("names", [["fooo"], ["foo", "-o=x"], ["foo-"], ["fo.*"]])
def test_names_that_apt_doesnt_list_are_refused_before_apt_sees_them(
    apt: AnsweringApt, names: list[str]
) -> None:
    with pytest.raises(PrimeError, match="knows no package") as raised:
        AptClosure(apt).resolve(names)
    assert raised.value.exit_status == os.EX_NOINPUT


PACKAGES = [
    Package(name=name, version="1", architecture="all") for name in ("foo", "libfoo1")
]


def test_archives_are_downloaded_once(apt: AnsweringApt, tmp_path: Path) -> None:
    lines: list[str] = []
    for _ in range(2):
        archives = fetch_archives(PACKAGES, tmp_path / "c", apt=apt, note=lines.append)
        assert [archive.path.name for archive in archives] == [
            "foo_1_all.deb",
            "libfoo1_1_all.deb",
        ]
    assert apt.downloads == ["foo=1", "libfoo1=1"]
    assert lines == ["2 packages to download, 0.0 MB"]


def test_another_build_waits_for_the_downloads(
    apt: AnsweringApt, tmp_path: Path
) -> None:
    """Else it would delete what this one has begun to read."""
    waits = []

    def note(_line: str) -> None:
        with (tmp_path / ".lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        waits.append(True)

    fetch_archives(PACKAGES, tmp_path, apt=apt, note=note)
    assert waits


@pytest.mark.parametrize("damaged", [b"A DEB", b"a de", b""])
def test_a_damaged_archive_is_downloaded_again(
    apt: AnsweringApt, tmp_path: Path, damaged: bytes
) -> None:
    fetch_archives(PACKAGES, tmp_path, apt=apt, note=print)
    (tmp_path / "foo_1_all.deb").write_bytes(damaged)
    fetch_archives(PACKAGES, tmp_path, apt=apt, note=print)
    assert apt.downloads == ["foo=1", "libfoo1=1", "foo=1"]
    assert (tmp_path / "foo_1_all.deb").read_bytes() == b"a deb"


def test_a_download_with_another_hash_is_refused(
    apt: AnsweringApt, tmp_path: Path
) -> None:
    apt.content = b"a dog"
    with pytest.raises(PrimeError, match="isn't what apt's index says") as raised:
        fetch_archives(PACKAGES, tmp_path, apt=apt, note=print)
    assert raised.value.exit_status == os.EX_DATAERR


def test_a_package_without_a_file_is_named(apt: AnsweringApt, tmp_path: Path) -> None:
    foreign = [Package(name="foo", version="1", architecture="i386")]
    with pytest.raises(PrimeError, match="no file to download for foo"):
        fetch_archives(foreign, tmp_path, apt=apt, note=print)


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("echo 'E: Failed to fetch x' >&2; exit 100", os.EX_UNAVAILABLE, "fetch x"),
        ("echo 'tar: No space left on device'; exit 2", os.EX_IOERR, "disk is full"),
    ],
    ids=["no network", "disk full"],
)
def test_what_apt_complains_of_is_passed_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    status: int,
    said: str,
) -> None:
    program = tmp_path / "apt-get"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(PrimeError, match=said) as raised:
        Apt(tmp_path).run("apt-get", "download", "foo")
    assert raised.value.exit_status == status
