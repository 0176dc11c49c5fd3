"""Deep trees and files that change, that aren't files or that have no end."""

import os
import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from pytest_mock import MockerFixture

from guesses import shell_words
from payloads import make_payload
from snapcraft_compression_advisor.capture.images import payload_copy
from snapcraft_compression_advisor.core.files import entries_below
from snapcraft_compression_advisor.core.scratch import (
    PREFIX,
    held_directory,
    hold,
    remove_tree,
)
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.launch.guess.runtimes import electron, gobject
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
    PERL,
    RUBY,
)
from snapcraft_compression_advisor.payload.caches import _ELEMENT
from snapcraft_compression_advisor.payload.inventory import Entry
from snapcraft_compression_advisor.payload.source import Payload, open_payload
from trees import fill, make_deep

BEYOND_PATH_MAX = 5000
WITHIN_PATH_MAX = 1500  # more than Python recurses


@pytest.fixture
def memory() -> Iterator[Path]:
    """Return a directory in which thousands of others take no time."""
    place = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield place
    remove_tree(place)


def without_times(payload: Payload) -> list[Entry]:
    return [
        entry._replace(modified_s=0) for entry in payload.inventory.entries.values()
    ]


def test_removing_a_tree_doesnt_recurse(memory: Path) -> None:
    remove_tree(make_deep(memory / "tree", BEYOND_PATH_MAX))
    assert list(memory.iterdir()) == []


def test_unreadable_directories_are_removed(tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"closed/inner/file": ""})
    (tree / "closed/inner").chmod(0)
    (tree / "closed").chmod(0)
    remove_tree(tree)
    assert not tree.exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "kept").touch()
    tree.mkdir()
    (tree / "door").symlink_to(outside)
    os.mkfifo(tree / "fifo")
    (tree / "odd\n\udcff").mkdir()
    remove_tree(tree)
    assert not tree.exists()
    assert list(outside.iterdir()) == [outside / "kept"]
    assert outside.stat().st_mode & 0o777 == 0o750


def test_what_cannot_be_removed_is_said_and_all_else_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "busy").mkdir(parents=True)
    (tree / "file").touch()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(16, "Device or resource busy")  # as of a mount point

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(OSError, match="busy"):
        remove_tree(tree)
    assert list(tree.iterdir()) == [tree / "busy"]


def test_deep_leftovers_do_not_fail_a_later_run(memory: Path) -> None:
    left = make_deep(memory / f"{PREFIX}left", WITHIN_PATH_MAX)
    lock = hold(left)
    assert lock is not None
    os.close(lock)
    with held_directory(memory) as name:
        assert list(memory.iterdir()) == [Path(name)]


def test_listing_a_deep_tree_doesnt_recurse(memory: Path) -> None:
    make_deep(memory / "tree", WITHIN_PATH_MAX)
    assert [entry.name for entry in entries_below(memory / "tree")] == [
        *["a"] * WITHIN_PATH_MAX,
        "file",
    ]


def test_a_deep_payload_is_copied_with_its_modes_and_links(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(memory))
    prime = make_deep(memory / "prime", WITHIN_PATH_MAX)
    (prime / "meta").mkdir(mode=0o711)
    (prime / "meta/snap.yaml").write_text("name: deep\n")
    (prime / "link").symlink_to("nowhere")
    (prime / "a").chmod(0o555)
    with (
        open_payload(prime) as payload,
        payload_copy(payload) as copy,
        open_payload(copy) as copied,
    ):
        assert without_times(copied) == without_times(payload)
        assert (copy / "meta/snap.yaml").samefile(prime / "meta/snap.yaml")
    assert [each.name for each in memory.iterdir()] == ["prime"]


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
        "{": "a,",
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


LANGUAGES = (PERL, RUBY)
PATTERNS = [
    pattern
    for pattern in (
        *(value for module in (electron, gobject) for value in vars(module).values()),
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
