"""What messages name is something that their readers have."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2] / "snapcraft_compression_advisor"
MODULES = sorted(PACKAGE.rglob("*.py"))
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


@pytest.mark.parametrize("module", MODULES, ids=lambda each: str(each.name))
def test_no_message_names_a_file_of_the_repository(module: Path) -> None:
    for text in texts(module):
        found = OF_THE_REPOSITORY.search(text)
        assert found is None, text
