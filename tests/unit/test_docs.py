"""Pages and texts that are generated, or name things of the program."""

import ast
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from command_pages import render_man_page
from command_table import read_commands, read_global_options
from completion import render_bash_completion
from conf import without_outward_links
from doc_commands import ROOT, pages, shown_commands, shown_scripts
from glossary_links import TERMS
from snapcraft_compression_advisor.cli.command_texts import command_parser
from snapcraft_compression_advisor.cli.commands import (
    COMMANDS,
    load_command,
    split_command,
)
from snapcraft_compression_advisor.cli.listings import rule_list, rule_page
from snapcraft_compression_advisor.installing import (
    DISTRIBUTION,
    EXTRAS,
    install_command,
)
from snapcraft_compression_advisor.lint.rules import ALL_RULES

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
OTHERS = ("meta/", "snap/", "reviewtools/", "store/")
"""Files of snaps and of other projects, by the beginning of their paths."""

CODE = re.compile(r"^(````*)\w*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


def test_links_of_pages_lead_somewhere() -> None:
    for page in pages():
        for name, anchor in LINK.findall(prose(page)):
            target = (page.parent / name).resolve() if name else page
            assert target.exists(), f"{page}: {name}"
            assert not anchor or anchor in anchors(target), f"{page}: {name}#{anchor}"


def test_example_of_the_settings_fits_their_schema() -> None:
    text = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    example = text.partition("```yaml\n")[2].partition("```")[0]
    schema = json.loads((ROOT / "docs/compression-advisor.schema.json").read_text())
    jsonschema.validate(YAML(typ="safe").load(example), schema)


MODULE = re.compile(r"`((?:\w+/)+\w+\.(?:py|yaml|csv|patch))`")


def test_files_that_pages_name_are_there() -> None:
    for page in pages():
        folders = (ROOT, ROOT / "snapcraft_compression_advisor", page.parent)
        for name in MODULE.findall(page.read_text(encoding="utf-8")):
            there = any((folder / name).exists() for folder in folders)
            assert there or name.startswith(OTHERS), f"{page}: {name}"


def test_contributing_names_the_rooms_in_the_order_of_their_contract() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.partition("## The map")[2].split("```")[1]
    shown = [
        re.split(r"\s{2,}|(?<=preflight) ", line)[0] for line in picture.split("\n")
    ]
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = pyproject.partition("layers = [")[2].partition("]")[0]
    rooms = [layer.partition(" : ")[0] for layer in re.findall(r'"([^"]+)"', layers)]
    assert [room for room in shown if room] == rooms[1:]


def test_linked_terms_are_in_the_glossary() -> None:
    headings = anchors(ROOT / "docs/glossary.md")
    assert {term.replace(" ", "-") for term in TERMS} <= headings


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


def test_every_command_line_of_the_pages_is_one_that_the_program_takes() -> None:
    general = {name for each in read_global_options() for name in each.names}
    for words in (words for page in pages() for words in shown_commands(page)):
        if words[0] in general | {"help"}:
            continue
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


PACKAGE = Path(__file__).parents[2] / "snapcraft_compression_advisor"
OF_THE_REPOSITORY = re.compile(
    r"(?<![\w/])(?:docs/[\w./-]+\.(?:md|json)|script/\w|README\.md)"
)


def texts(module: Path) -> Iterator[str]:
    """Yield the texts in a module but docstrings, wherever these stand."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    docstrings = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in docstrings:
            yield str(node.value)


def test_no_message_names_a_file_of_the_repository() -> None:
    for module in PACKAGE.rglob("*.py"):
        for text in texts(module):
            assert OF_THE_REPOSITORY.search(text) is None, f"{module}: {text}"


DOCS = Path(__file__).parents[2] / "docs"


def test_every_rule_says_what_it_is() -> None:
    for rule in ALL_RULES:
        assert re.fullmatch(r"SCA[1-9]\d\d", rule.id)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
        said = rule.text
        for text in (said.summary, said.fails_if, said.why, said.how_to_fix):
            assert text.endswith("."), text
            assert text == text.strip()
            assert "  " not in text
        assert "\n" not in said.summary
        page = rule_page(rule)
        assert page.startswith(f"# {rule.id}: {rule.name}\n")
        assert ("## Options" in page) == bool(said.options)


def test_texts_are_of_rules_that_there_are() -> None:
    text = files("snapcraft_compression_advisor.lint").joinpath("rules.yaml")
    known = YAML(typ="safe").load(text.read_text(encoding="utf-8"))
    assert list(known) == [rule.id for rule in ALL_RULES]


def test_ids_are_in_order_and_no_id_or_name_is_there_twice() -> None:
    ids = [rule.id for rule in ALL_RULES]
    assert ids == sorted(set(ids))
    assert len({rule.name for rule in ALL_RULES}) == len(ALL_RULES)


def test_list_has_every_rule_and_fits_the_terminal() -> None:
    lines = rule_list(ALL_RULES).splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[0] for line in heads] == [rule.id for rule in ALL_RULES]
    assert max(map(len, lines)) <= 80


def test_generated_files_are_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "generate.py"))["generated_files"]()
    for name, text in made.items():
        assert (DOCS / name).read_text() == text, f"{name}: run docs/generate.py"
    kept = {f"rules/{path.name}" for path in (DOCS / "rules").iterdir()}
    assert kept == {name for name in made if name.startswith("rules/")}
