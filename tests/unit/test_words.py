"""Words that don't come back: a technical writer has a standard one for each."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
STANDARD = {
    r"fore(told|tells?|telling)": "predicted",
    r"mend(s|ed|ing)?": "fixed",
    r"weight(ier|iest|y)": "more severe, larger, more important",
    r"bears? the": "is named after",
    r"(hasn't|haven't) (got|any)": "doesn't have",
    r"apps? that counts?": "target app",
    r"of (its|their) own accord": "by itself, or say what does it",
    r"so many times as many": "scale factor",
    r"heirs?": "inheriting",
    r"had better": "should",
    r"tells? of": "says about, shows, names",
}
"""A pattern, and what to write."""

TEXTS = ("*.py", "*.md", "*.j2", "*.json", "*.html", "*.yaml", "share", "script")


def test_texts_use_the_standard_words() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *TEXTS],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = [name for name in listed.stdout.split("\0") if name]
    assert names
    pattern = re.compile(rf"\b(?:{'|'.join(STANDARD)})\b", re.IGNORECASE)
    found = [
        f"{name}: {match.group()!r}"
        for name in names
        if ROOT / name != Path(__file__)
        for match in pattern.finditer(
            " ".join((ROOT / name).read_text(encoding="utf-8").split())
        )
    ]
    assert found == []
