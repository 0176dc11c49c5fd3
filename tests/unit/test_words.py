"""Words that don't come back: a technical writer has a standard one for each."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from doc_commands import ROOT, pages

STANDARD = {
    r"fore(told|tells?|telling)": "predicted",
    r"mend(s|ed|ing)?": "fixed",
    r"weight(ier|iest)|\bweighty\b": "more severe, larger, more important",
    r"bears? the": "is named after",
    r"(hasn't|haven't) (got|any)": "doesn't have",
    r"apps? that counts?": "target app",
    r"of (its|their) own accord": "by itself, or say what does it",
    r"so many times as many": "scale factor",
    r"heirs?": "inheriting",
    r"had better": "should",
    r"tells? of": "says about, shows, names",
    r"for the asking": "on request",
    r"one sees": "you see",
    r"so it is with": "likewise",
    r"cut short": "truncated",
    r"nought": "zero",
    r"may be given again": "may be repeated",
    r"takes root": "requires root",
    r"(go|goes|reach|reaches) past": "extends past",
    r"nothing can be said": "can't be estimated",
    r"keeps the budget of": "meets the … budget",
    r"(packed|read|numbered) otherwise": "differently",
    r"pass(es|ed)? (it |them )?over": "ignores",
    r"is no (file|report|directory|prime directory|number|regular file|mapping)": (
        "isn't a …"
    ),
    r"can't be told (from|by)": "can't be derived from, can't be identified by",
    r"weighs? something": "takes up space in the image",
    r"there(of|by|in|upon)|where(of|in)": "of it, by it, in it",
}
"""A pattern, and what to write."""

ON_PAGES = {
    r"anew": "again",
    r"told apart": "distinguished",
    r"in vain": "say what fails",
    r"at hand": "available",
    r"for want of": "because … is missing",
    r"leaves? open": "say what isn't known",
    r"held against|holds? \w+ against": "compared with",
    r"goes before": "precedes",
    r"looked (at|into)": "examined, checked",
    r"(stands?|lies?) (in|below|beside|above|there)": "is in, is below",
    r"nothing is said": "it reports nothing",
    r"whose launch counts": "target app",
    r"but for": "except",
    r"so many": "a number",
    r"upon": "on",
    r"whatever the": "for any",
    r"told by": "recognised by",
    r"has it that": "says",
}
"""What the pages of docs avoid besides; output and quoted texts may have it."""

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
    # Parts of names count: an underscore is no letter.
    pattern = re.compile(
        rf"(?<![^\W_])(?:{'|'.join(STANDARD)})(?![^\W_])", re.IGNORECASE
    )
    found = [
        f"{name}: {match.group()!r}"
        for name in names
        if ROOT / name != Path(__file__)
        for match in pattern.finditer(
            " ".join((ROOT / name).read_text(encoding="utf-8").split())
        )
    ]
    assert found == []


CODE = re.compile(r"^(````*).*?^\1$|^ {4}.*?$|`[^`]*`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    pages(),
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_pages_are_in_plain_technical_english(page: Path) -> None:
    text = " ".join(CODE.sub("", page.read_text(encoding="utf-8")).split())
    pattern = re.compile(rf"\b(?:{'|'.join(ON_PAGES)})\b", re.IGNORECASE)
    found = [
        text[match.start() - 30 : match.end() + 20] for match in pattern.finditer(text)
    ]
    assert found == []
