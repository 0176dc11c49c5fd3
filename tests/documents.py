"""JSON reports as tests read them: by attribute or by key."""

from __future__ import annotations

import json
from typing import Any


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
