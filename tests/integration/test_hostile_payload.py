"""Every command on a payload that means harm, watched by strace."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from hostile_payload import make_hostile_prime
from image_sources import mksquashfs, needs_mksquashfs
from snapcraft_compression_advisor.report.lint_formats import FORMATS

pytestmark = [pytest.mark.strace, needs_mksquashfs]
OPENED = re.compile(r"open(?:at)?2?\(.*= \d+<([^>]*)>")
STARTED = re.compile(r'execve\("([^"]*)".*= 0')
OURS = (
    *{sys.prefix, sys.base_prefix, sysconfig.get_path("purelib")},
    *("/usr", "/lib", "/bin", "/etc", "/proc", "/sys", "/dev"),
    os.fspath(Path(__file__).resolve().parents[2]),
)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
"""Markdown shows what is in one as it is (CommonMark 6.1)."""
CONTROL = re.compile(
    r"[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
CODE = (
    "import sys; from snapcraft_compression_advisor.cli.main import main;"
    "sys.exit(main())"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a project with an image and a directory of a hostile prime directory.

    What is outside isn't a folder of the project, which may be looked through.
    """
    payload = tmp_path / "payload"
    payload.mkdir()
    make_hostile_prime(payload / "prime", payload / "outside")
    mksquashfs(payload / "prime", tmp_path / "x.snap", "-no-fragments", "-all-root")
    (tmp_path / "snapcraft.yaml").write_text("name: x\nbase: core24\n")
    (tmp_path / "scratch").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("advise", "payload/prime"),
        ("advise", "x.snap", "--format", "json"),
        ("lint", "payload/prime", "x.snap"),
        ("launch-set", "payload/prime"),
        ("launch-set", "payload/prime", "--app", "elf"),
        ("launch-set", "payload/prime", "--app", "linked"),
        ("launch-set", "x.snap", "--format", "json"),
        ("diff", "payload/prime", "x.snap"),
        ("refresh", "payload/prime", "x.snap"),
        ("set", "--compression", "lzo"),
    ],
    ids=" ".join,
)
def test_nothing_outside_is_opened_and_nothing_is_executed(
    hostile: Path, arguments: tuple[str, ...]
) -> None:
    log = hostile / "scratch/log"
    command = [sys.executable, "-c", CODE, *arguments]
    watch = ["strace", "-f", "-y", "-qq", "-s", "4096", "-o", os.fspath(log)]
    result = subprocess.run(
        [*watch, "-e", "trace=open,openat,openat2,execve", *command],
        cwd=hostile,
        capture_output=True,
        check=False,
        env={
            **os.environ,
            "TMPDIR": str(hostile / "scratch"),
            "HOME": str(hostile / "scratch"),
        },
    )
    assert result.returncode in {0, 1}, result.stderr
    assert b"Traceback" not in result.stderr
    assert not CONTROL.search(result.stdout.decode())
    lines = log.read_text(errors="surrogateescape").splitlines()
    opened = {match[1] for line in lines if (match := OPENED.search(line))}
    started = {match[1] for line in lines if (match := STARTED.search(line))}
    assert any(path.startswith(f"{hostile}/") for path in opened)
    foreign = {
        path
        for path in opened
        if not path.startswith(("pipe:", "anon_inode:", *OURS))
        and not _inside(path, hostile)
    }
    assert foreign == set()
    assert "/etc/shadow" not in opened
    assert not {path for path in started if not path.startswith(OURS)}
    outside = {path.name for path in (hostile / "payload/outside").iterdir()}
    assert outside == {"canary", "liboutside.so"}


def test_no_page_has_a_name_that_does_more_than_name(hostile: Path) -> None:
    pages = {name: hostile / f"page.{name}" for name in (*FORMATS, "html", "md")}
    also = (("--also", f"{name}={pages[name]}") for name in FORMATS)
    for arguments in (
        ("-v", "lint", "x.snap", *(each for pair in also for each in pair)),
        *(("advise", "x.snap", "--report", pages[name]) for name in ("html", "md")),
    ):
        subprocess.run(
            [sys.executable, "-c", CODE, *arguments],
            cwd=hostile,
            capture_output=True,
            check=False,
        )
    for name, page in pages.items():
        text = page.read_text(encoding="utf-8")  # no half of a character either
        assert not CONTROL.search(text), name
        shown = CODE_SPAN.sub("", text) if name == "md" else text
        assert not re.search(r"^::error file=x::|<b>tag", shown, re.MULTILINE), name
        assert name in {"github", "gitlab"} or re.search(r"red\\+x1b", text), name


def _inside(path: str, hostile: Path) -> bool:
    """Return whether a path is one that the command was given, or its scratch."""
    allowed = (
        "payload/prime",
        "x.snap",
        "scratch",
        "snapcraft.yaml",
        ".compression-advisor.",  # takes the place of snapcraft.yaml
    )
    return path in {f"{hostile}", f"{hostile}/payload"} or any(
        path.startswith(f"{hostile}/{name}") for name in allowed
    )
