"""The commands that the pages show."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = "compression-advisor"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SCRIPT = re.compile(r"\b((?:benchmarks|study)/\w+\.py)([^`|\n]*)")
_PLACEHOLDER = re.compile(r"[|…\[\](){}]")


def pages() -> list[Path]:
    """Return every page that people read, in order."""
    folders = ("*.md", "docs/**/*.md", "examples/*.md", "study/*.md")
    found = [page for folder in folders for page in ROOT.glob(folder)]
    return sorted(page for page in found if page.name != "CHANGELOG.md")


def shell_script(page: Path) -> str:
    """Return all shell blocks of a page as one script."""
    blocks = _FENCE.findall(page.read_text(encoding="utf-8"))
    return "".join(text for language, text in blocks if language == "sh")


def shown_outputs(page: Path) -> list[str]:
    """Return the blocks of printed text of a page."""
    blocks = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in blocks if language == "text"]


def without_figures(text: str) -> str:
    """Return a text without figures, bars and line ends: these differ by machine."""
    drawn = re.sub("[│┊━╋][│┊━╋ ]*", "0 ", text)
    return " ".join(re.sub(r"\d[\d.,]*", "0", drawn).split())


def shown_scripts() -> dict[str, set[str]]:
    """Return the benchmarks and studies that pages name, with the options shown."""
    shown: dict[str, set[str]] = {}
    for page in pages():
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for script, arguments in _SCRIPT.findall(text):
            options = re.findall(r"(?<!\S)--?[a-z][\w-]*", arguments)
            shown.setdefault(script, set()).update(options)
    return shown


def shown_commands(page: Path) -> Iterator[Sequence[str]]:
    """Yield the words of each command line of the advisor, without its name.

    Those in shell blocks and indented ones count. Lines that say what may stand there
    (``xz|lzo``, ``[PATH]``) are no command lines.
    """
    text = page.read_text(encoding="utf-8")
    script = "\n".join(
        body for language, body in _FENCE.findall(text) if language == "sh"
    )
    indented = "\n".join(
        line[4:]
        for line in _FENCE.sub("", text).splitlines()
        if line.startswith("    ")
    )
    for line in f"{script}\n{indented}".replace("\\\n", " ").splitlines():
        command = re.match(rf"(?:sudo )?(?:[\w./~-]*/)?{PROGRAM} (.*)$", line.strip())
        if command and not _PLACEHOLDER.search(command[1]):
            yield shlex.split(command[1], comments=True)
