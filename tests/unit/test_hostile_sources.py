"""Texts in a payload that would take hours, or all memory, to look through."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from types import FrameType

import pytest
from pytest_mock import MockerFixture

from guesses import shell_words
from payloads import make_payload
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.launch.guess.runtimes import electron, gobject, tcl
from snapcraft_compression_advisor.launch.guess.runtimes.node import (
    MAX_NAMES,
    loads,
    required_names,
)
from snapcraft_compression_advisor.launch.guess.runtimes.python.finder import (
    ModuleFinder,
)
from snapcraft_compression_advisor.launch.guess.runtimes.python.importer import (
    Importer,
    imported_names,
)
from snapcraft_compression_advisor.launch.guess.runtimes.python.search import (
    LOADED_ENTRY_POINT,
)
from snapcraft_compression_advisor.launch.guess.runtimes.script_modules import (
    LUA,
    PERL,
    RUBY,
)
from snapcraft_compression_advisor.payload.caches import _ELEMENT

LIMIT_S = 20.0
"""Of the processor: some hundred times what each takes, and far less than hours."""
TEXTS = {
    text: (text.encode() + repeated.encode() * (MIB // len(repeated)))[:MIB]
    for text, repeated in {
        "from ": ".",
        "from": " ",
        "from a": ".b",
        "import": " ",
        "import(": " ",
        "": "from a import (\n",
        "from a import (": "#\n",
        "from a import (x": "# (\n",
        "require(": " ",
        "use ": "a::",
        "  ": " ",
        'require "': "a/",
        "source ": "a.",
        "{": "a,",
        "package ifneeded a ": "\\a.",
        "load_entry_point(": "\n",
        "'": "a.b-",
        "<key": " id",
        "<key id='": " id=\"'",
        "<schema": "<key",
        "<script ": "src ",
        "<script src": " ",
        "dirname": " ",
        "dirname+": "'a longer name'+",
        "const ": " ",
        "const": " a\nconst",
        "require(__dirname": ",''\nrequire(__dirname",
        '"': ".js",
    }.items()
}


LANGUAGES = (PERL, RUBY, LUA)
PATTERNS = [
    pattern
    for pattern in (
        *(
            value
            for module in (electron, gobject, tcl)
            for value in vars(module).values()
        ),
        LOADED_ENTRY_POINT,
        *(each.statement for each in LANGUAGES),
        *(each.search for each in LANGUAGES),
        *(each.introspected for each in LANGUAGES),
        *(each.computed for each in LANGUAGES),
    )
    if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, bytes)
]
"""What the sources of other languages are searched for."""


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"more than {LIMIT_S} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_mebibyte_of_anything_is_looked_through(text: bytes) -> None:
    found = (
        *imported_names(text, package="a.b"),
        *required_names(text),
        *(match[0] for pattern in PATTERNS for match in pattern.finditer(text)),
        *(match[0] for match in _ELEMENT.finditer(text)),
    )
    assert len(found) <= len(text) // 8


def test_brackets_in_comments_are_passed_over() -> None:
    source = b"from a import (  # (b)\n    c,  # d)\n    e,\n)\nfrom . import f\n"
    assert [name for name, _ in imported_names(source, package="")] == [
        "a",
        "a.c",
        "a.e",
        "f",
    ]


def test_a_word_of_many_long_variables_stays_short() -> None:
    text = "a=" + "x" * 4000 + '\n"' + "$a" * 20_000 + '"/x\n'
    (word,) = shell_words(text)
    assert len(word) < MIB


def test_a_module_with_more_parents_than_a_path_has_is_left_out() -> None:
    payload = make_payload({"x.py": b""})
    importer = Importer(payload, ModuleFinder(payload.inventory, folders=("",)))
    source = b"import a" + b".a" * 500_000 + b"\nimport b.c"
    importer.start_source(source, file="x.py")
    importer.run()
    assert {"b", "b.c"} <= importer.names
    assert not [name for name in importer.names if len(name) > 100]


def test_a_node_program_of_many_names_is_asked_for_some(mocker: MockerFixture) -> None:
    text = b"".join(b"require('./n%d')\n" % number for number in range(60_000))
    payload = make_payload({"x.js": text})
    asked: set[str] = set()
    app = mocker.MagicMock(payload=payload)
    app.paths.file = asked.add
    app.scripts.return_value = [payload.inventory.entries["x.js"]]
    assert not [*loads(app)]
    names = {path.partition(".")[0].partition("/")[0] for path in asked}
    assert len(names) == MAX_NAMES
