"""Command lines of the pages, and the pages and files made of the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_pages import render_man_page
from completion import render_bash_completion
from conf import without_outward_links
from doc_commands import ROOT, pages, shown_commands, shown_scripts
from snapcraft_compression_advisor.cli.command_texts import (
    command_parser,
    read_commands,
    read_global_options,
)
from snapcraft_compression_advisor.cli.commands import (
    COMMANDS,
    load_command,
    split_command,
)

COMPLETE = """\
source /dev/stdin
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
compopt() { :; }
_compression_advisor
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(*words: str, cwd: Path | None = None) -> list[str]:
    """Return what bash offers for the last word."""
    run = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", "compression-advisor", *words],
        input=render_bash_completion(),
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
    )
    assert run.stderr == ""
    return run.stdout.split()


def shown() -> list[object]:
    return [
        pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)}"[:120])
        for page in pages()
        for words in shown_commands(page)
    ]


@pytest.mark.parametrize("words", shown())
def test_every_command_line_of_the_pages_is_one_that_the_program_takes(
    words: list[str],
) -> None:
    general = {name for each in read_global_options() for name in each.names}
    if words[0] in general | {"help"}:
        return
    name, *rest = split_command(words)
    assert name in COMMANDS
    parser = command_parser(load_command(name))
    parser.parse_args([word for word in rest if word not in general])


@pytest.mark.parametrize(("script", "options"), sorted(shown_scripts().items()))
def test_every_script_of_the_pages_takes_the_options_shown(
    script: str, options: set[str]
) -> None:
    run = subprocess.run(
        [sys.executable, script, "--help"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert options <= set(re.findall(r"--?[a-z][\w-]*", run.stdout))
    assert os.access(ROOT / script, os.X_OK)


def test_pages_show_command_lines_of_every_command() -> None:
    shown = (words for page in pages() for words in shown_commands(page))
    used = {split_command(words)[0] for words in shown}
    assert {command.name for command in read_commands()} <= used


def test_bash_completes_commands_options_and_values(tmp_path: Path) -> None:
    assert completed("la") == ["launch-set"]
    assert completed("lint", "--exi") == ["--exit-zero"]
    assert completed("--quiet", "set", "--compression", "") == ["xz", "lzo"]
    assert completed("lint", "--format", "=", "gi") == ["github", "gitlab"]
    assert completed("schema", "la") == ["launch-profile"]
    assert completed("rule", "SCA50")[:2] == ["SCA501", "SCA502"]
    assert completed("advise", "--device", "nvme") == ["nvme-laptop"]
    (tmp_path / "nvme.yaml").touch()
    assert "nvme.yaml" in completed("advise", "--device", "nvme", cwd=tmp_path)
    (tmp_path / "home").mkdir()
    assert completed("record", "--home", "", cwd=tmp_path) == ["home"]
    assert completed("advise", "") == []


def test_manual_page_names_every_command_and_option() -> None:
    page = render_man_page().replace("\\-", "-")
    for command in read_commands():
        assert f'.SS "{command.name}"' in page
        for argument in command.arguments:
            assert all(rf"\fB{name}" in page for name in argument.names)


def test_manual_page_has_no_line_that_roff_takes_for_another_request() -> None:
    requests = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".br"}
    for line in render_man_page().splitlines():
        assert line
        assert line[0] not in ".'" or line.split(" ")[0] in requests


def test_pages_that_are_built_have_no_link_out_of_their_folder() -> None:
    said = without_outward_links("how-to/x", "[a](../../LICENSE), [b](../trust.md#c)")
    assert said == "a, [b](../trust.md#c)"


def test_every_page_is_in_a_table_of_contents() -> None:
    docs = ROOT / "docs"
    listed = {docs / "index.md", docs / "study/index.md", *docs.glob("rules/SCA*.md")}
    for page in docs.glob("**/*.md"):
        _, *contents = page.read_text(encoding="utf-8").split("```{toctree}")
        for text in contents:
            for line in text.partition("```")[0].splitlines():
                if line and not line.startswith(":"):
                    listed.add(Path(os.path.normpath(page.parent / f"{line}.md")))
    assert set(docs.glob("**/*.md")) <= listed
