"""What the machine's own apt is asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from apt_tools import debian_mirror, run_tool
from prime_error import PrimeError

if TYPE_CHECKING:
    from pytest_mock import MockerFixture


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="missing: apt-get")
def test_mirror_is_one_of_this_machines_sources() -> None:
    if not run_tool(["apt-get", "indextargets", "Label: Debian"]):
        pytest.skip("apt knows no Debian archive here, as on Ubuntu")
    places = [Path("/etc/apt/sources.list"), *Path("/etc/apt").glob("sources.list.d/*")]
    texts = [path.read_text(encoding="utf-8") for path in places if path.is_file()]
    assert any(debian_mirror().rstrip("/") in text for text in texts)


def test_first_mirror_counts(mocker: MockerFixture) -> None:
    mocker.patch("apt_tools.run_tool", return_value="http://a.example/\nhttp://b/\n")
    assert debian_mirror() == "http://a.example/"


def test_machine_without_a_mirror_is_told_what_to_do(mocker: MockerFixture) -> None:
    mocker.patch("apt_tools.run_tool", return_value="")
    with pytest.raises(PrimeError, match="apt-get update") as raised:
        debian_mirror("Debian-Security")
    assert raised.value.exit_status == os.EX_UNAVAILABLE
    assert "'Debian-Security'" in str(raised.value)
