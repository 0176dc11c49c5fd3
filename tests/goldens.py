"""Golden files: each text as it was last accepted, so that a change of it is seen."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "unit" / "golden"
WRITE = "WRITE_GOLDEN"
"""Environment variable with which tests write the files instead of comparing them."""


def assert_golden(name: str, text: str) -> None:
    """Compare a text with a golden file."""
    if os.environ.get(WRITE):
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")
