"""How Sphinx builds these pages; warnings are errors (``.ci/run``)."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from snapcraft_compression_advisor import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Snapcraft compression advisor"
release = __version__
extensions = ["myst_parser", "sphinx_design"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"{project} {release}"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]  # tabs that GitHub shows as text
smartquotes = False  # it would make dashes of options

_LINK = re.compile(r"\[([^][]+)\]\(((?:\.\./)+[^)#\s]+)[^)\s]*\)")
_FOLDER = Path(__file__).parent.resolve()


def without_outward_links(page: str, text: str) -> str:
    """Return a page with links to the rest of the repository as plain text.

    They serve who reads it there; what lies outside isn't built.

    :param page: its name, as Sphinx has it: the path in this folder, no suffix.
    """
    place = _FOLDER / PurePosixPath(page).parent

    def reworded(link: re.Match[str]) -> str:
        target = (place / link[2]).resolve()
        return link[0] if target.is_relative_to(_FOLDER) else link[1]

    return _LINK.sub(reworded, text)


def setup(app: Sphinx) -> None:
    """Have Sphinx read pages so."""

    def read(_app: Sphinx, page: str, source: list[str]) -> None:
        source[:] = [without_outward_links(page, text) for text in source]

    app.connect("source-read", read)
