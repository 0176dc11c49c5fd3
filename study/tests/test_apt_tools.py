"""What the machine's own apt is asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from apt_tools import debian_mirror, run_tool
from machine import write_script
from prime_error import PrimeError


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="missing: apt-get")
def test_mirror_is_one_of_this_machines_sources() -> None:
    if not run_tool(["apt-get", "indextargets", "Label: Debian"]):
        pytest.skip("apt knows no Debian archive here, as on Ubuntu")
    places = [Path("/etc/apt/sources.list"), *Path("/etc/apt").glob("sources.list.d/*")]
    texts = [path.read_text(encoding="utf-8") for path in places if path.is_file()]
    assert any(debian_mirror().rstrip("/") in text for text in texts)


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the script is to be that is apt-get."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "apt-get"


def test_first_mirror_counts(apt: Path) -> None:
    write_script(apt, "echo http://a.example/; echo http://b/")
    assert debian_mirror() == "http://a.example/"


def test_machine_without_a_mirror_is_told_what_to_do(apt: Path) -> None:
    write_script(apt, 'test "$5" = "Label: Debian-Security"')
    with pytest.raises(PrimeError, match="apt-get update") as raised:
        debian_mirror("Debian-Security")
    assert raised.value.exit_status == os.EX_UNAVAILABLE
    assert "'Debian-Security'" in str(raised.value)
