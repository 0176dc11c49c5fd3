"""Everything that is said of installing works from a clone or a wheel."""

from __future__ import annotations

import ast
import re
import shlex
import sys

import pytest

from doc_commands import ROOT, pages
from snapcraft_compression_advisor.installing import (
    DISTRIBUTION,
    EXTRAS,
    install_command,
)

PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
TEXTS = [
    *pages(),
    *sorted((ROOT / "snapcraft_compression_advisor").rglob("*.py")),
    *(ROOT / name for name in ("action.yml", "script/github-action", "script/demo")),
    *sorted((ROOT / "share").rglob("compression-advisor*")),
]
INSTALLS = re.compile(r"(?:pip|pipx|uv)\"? (?:install|inject|run) ([^\n`]*)")


def test_nothing_is_installed_by_a_name_that_is_not_published() -> None:
    for path in TEXTS:
        for found in INSTALLS.finditer(path.read_text(encoding="utf-8")):
            named = re.sub(r"\S*/\S*", "", found[1])  # but paths and addresses
            assert DISTRIBUTION not in named, f"{path}: {found[0]}"


def test_what_an_extra_brings_is_what_the_project_declares() -> None:
    for extra, requirements in EXTRAS.items():
        listed = re.search(
            rf"^{extra} = (\[.*?^\])", PYPROJECT, re.MULTILINE | re.DOTALL
        )
        assert listed is not None
        assert tuple(ast.literal_eval(listed[1])) == requirements


def test_the_command_is_one_for_this_python_and_a_shell() -> None:
    words = shlex.split(install_command("report"))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert words[4:] == [*EXTRAS["report"]]


def test_pages_that_speak_of_the_source_say_where_it_is_explained() -> None:
    install = ROOT / "docs/how-to/install.md"
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if re.search(r"\bADVISOR\b", text) and page != install:
            assert "install.md" in text, page
    assert "It isn't on PyPI yet" in install.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["snapcraft.md", "how-to/install.md"])
def test_repeating_an_installation_installs_the_later_version(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    commands = re.findall(r"^    .*(pipx? install .*)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        removed = "--target" in command and "    rm -rf ~/.local/share" in text
        assert removed or {"--upgrade", "--force"} & {*command.split()}, command
    assert "*.whl" not in text  # of two versions, pip installs neither
