"""Texts that tests compare with files, and JSON that they read."""

import json
import os
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "unit" / "golden"
WRITE = "WRITE_GOLDEN"
"""Environment variable with which tests write the files instead of comparing them."""


def assert_golden(name: str, text: str) -> None:
    """Compare a text with a golden file."""
    if os.environ.get(WRITE):
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


class Document(dict[str, Any]):
    """An object of JSON whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 # JSON
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


def read_document(text: str | bytes) -> Document:
    """Return what JSON text holds."""
    document: Document = json.loads(text, object_hook=Document)
    return document
