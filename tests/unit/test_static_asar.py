"""Electron's applications: which parts of their archive a launch reads."""

import json
import struct
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from guesses import guessed
from payloads import make_payload
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.candidates import (
    Candidates,
    find_candidates,
)
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.priors import (
    UNKNOWN_FILE_SHARE,
    UNKNOWN_SHARES,
    Counts,
    Priors,
)
from snapcraft_compression_advisor.launch.guess.runtimes.electron import (
    HEADER_MAX_BYTES,
)
from snapcraft_compression_advisor.launch.guess.runtimes.runtime import (
    MAX_MEMBERS_BYTES,
    MEMBER_MAX_BYTES,
)
from snapcraft_compression_advisor.launch.launch_set import BlindSpot
from snapcraft_compression_advisor.payload.source import Payload

PROGRAM = "opt/hello/hello"
ASAR = "opt/hello/resources/app.asar"
UNPACKED = f"{ASAR}.unpacked"
EXTENSION = "electron-extensions"
FAR = b" " * DATA_BLOCK_BYTES
PACKAGE = b'{"main": "main"}'


def framed(header: bytes, members: bytes = b"") -> bytes:
    """Return an archive: its header as a pickle of a string, and members."""
    padded = header + b"\0" * (-len(header) % 4)
    sizes = (4, len(padded) + 8, len(padded) + 4, len(header))
    return struct.pack("<4I", *sizes) + padded + members


def make_asar(
    members: Mapping[str, bytes], others: Mapping[str, dict[str, object]] | None = None
) -> bytes:
    """Return an archive of members, one behind the other, and of other entries."""
    entries: dict[str, dict[str, object]] = {}
    end = 0
    for path, content in members.items():
        entries[path] = {"size": len(content), "offset": str(end)}
        end += len(content)
    root: dict[str, object] = {}
    for path, entry in {**entries, **(others or {})}.items():
        *folders, name = path.split("/")
        files: dict[str, object] = root
        for folder in folders:
            inner = files.setdefault(folder, {"files": {}})
            assert isinstance(inner, dict)
            files = inner["files"]
        files[name] = entry
    return framed(json.dumps({"files": root}).encode(), b"".join(members.values()))


def payload_of(archive: bytes, files: Mapping[str, bytes] | None = None) -> Payload:
    return make_payload(
        {PROGRAM: make_elf(), ASAR: archive, **(files or {})},
        base="bare",
        apps={"hello": {"command": PROGRAM}},
    )


def found_of(archive: bytes, files: Mapping[str, bytes] | None = None) -> Candidates:
    return find_candidates(payload_of(archive, files), "hello")


def reached(candidates: Candidates) -> frozenset[int] | None:
    (archive,) = (each for each in candidates.files if each.entry.path == ASAR)
    return archive.reached


def spots(candidates: Candidates) -> set[str]:
    return {spot.reason for spot in candidates.blind_spots if spot.where == ASAR}


def read_of(main: bytes, others: Mapping[str, bytes]) -> set[str]:
    """Return what an app reads of members that have a block of their own each."""
    members = {"package.json": PACKAGE, "main.js": main}
    for number, (path, content) in enumerate(others.items()):
        members |= {f"gap{number}": FAR, path: content}
    found = reached(found_of(make_asar(members)))
    assert found is not None
    return {path for number, path in enumerate(others, 1) if number in found}


def test_only_blocks_of_the_header_and_of_loaded_members_are_expected() -> None:
    members = {
        "package.json": PACKAGE,
        "main.js": b"require('./far')",
        "unread": FAR,
        "far.js": b"require('./farther.js')",
        "other": FAR * 2,
        "farther.js": b"0",
    }
    payload, share = payload_of(make_asar(members)), Interval.exactly(1.0)
    priors = Priors(
        files=Counts(),
        blocks=Counts(),
        read_share=share,
        seek_share=share,
        unseen_share=share,
    )
    files = static_launch_set(payload, "hello", priors=priors).files
    (archive,) = (file for file in files if file.path == ASAR)
    loaded, rest = (round(UNKNOWN_FILE_SHARE * x, 2) for x in UNKNOWN_SHARES.values())
    assert [*archive.ranges()] == [(0, 1, loaded), (2, 2, rest), (3, 3, loaded)]


def test_own_code_is_read_and_what_it_requires_of_packages() -> None:
    code = {
        "ui/page.html": b"<script>require('unread')</script>",
        "ui/style.css": b"0",
        "ui/early.js": b'import x from"pkg"',
        "node_modules/pkg/index.js": b"import('./deep/of')",
        "node_modules/pkg/deep/of.js": b"x = '../other.js'",
    }
    others = dict.fromkeys(
        (
            "ui/tray.png",
            "node_modules/pkg/page.html",
            "node_modules/unread/index.js",
        ),
        b"0",
    )
    assert read_of(b"0", {**code, **others}) == {*code}


def test_extensions_of_loaded_packages_are_read_and_no_others() -> None:
    beside = {
        "node_modules/used/prebuilds/linux-x64/a.node": make_elf(),
        "node_modules/unused/build/Release/b.node": make_elf(),
        "node_modules/plain/index.js": b"0",
        "own/c.node": make_elf(),
        "own/d.node": make_elf(),
    }
    members = {
        "package.json": PACKAGE,
        "main.js": b"require('used'); require('./own/c.node'); require('plain')",
        "node_modules/used/index.js": b"require('bindings')('a')",
    }
    entry: dict[str, object] = {"size": 1, "unpacked": True}
    archive = make_asar(members, {path: dict(entry) for path in beside})
    files = {f"{UNPACKED}/{path}": content for path, content in beside.items()}
    found = {each.entry.path: each.way for each in found_of(archive, files).files}
    assert {path: way for path, way in found.items() if path in files} == {
        f"{UNPACKED}/node_modules/used/prebuilds/linux-x64/a.node": EXTENSION,
        f"{UNPACKED}/own/c.node": EXTENSION,
        f"{UNPACKED}/node_modules/plain/index.js": "node-module",
    }


def test_code_in_a_directory_is_read_and_what_it_requires() -> None:
    app = "opt/hello/resources/app"
    code = {
        "package.json": PACKAGE,
        "main.js": b"load(join(__dirname, name)); require('./lib/far')",
        "page.html": b"<script>require('pkg')</script>",
        "lib/far.js": b"import(name)",
        "node_modules/pkg/index.js": b"0",
    }
    unread = dict.fromkeys(("lib/other.js", "node_modules/other/index.js"), b"0")
    files = {f"{app}/{path}": text for path, text in {**code, **unread}.items()}
    payload = make_payload(
        {PROGRAM: make_elf(), **files},
        base="bare",
        apps={"hello": {"command": PROGRAM}},
    )
    candidates = find_candidates(payload, "hello")
    read = {each.entry.path for each in candidates.files} - {PROGRAM}
    assert read == {f"{app}/{path}" for path in code}
    spot = BlindSpot(reason="computed-import", where=f"{app}/lib/far.js")
    assert candidates.blind_spots == (spot,)


def test_archive_that_electron_is_given_is_followed() -> None:
    members = {"package.json": PACKAGE, "main.js": b"0"}
    found = guessed(
        {"usr/bin/electron": make_elf(), "lib/hello/app.asar": make_asar(members)},
        "usr/bin/electron $SNAP/lib/hello/app.asar",
    ).files
    assert {each.entry.path: each.reached for each in found} == {
        "usr/bin/electron": None,
        "lib/hello/app.asar": {0},
    }


@pytest.mark.parametrize(
    ("main", "said"),
    [
        (b"const a = require(name)", {"computed-import"}),
        (b"await import(name)", {"computed-import"}),
        (b"function f() {\n  require(name)\n}", {"computed-import"}),
        (b"// require(name)", set()),
        (b"require('./a')", set()),
        (b"require('./code')", {"embedded-code"}),
        (b"require('./code.jsc')", {"embedded-code"}),
        (b"require('q')", set()),
        (b"require('q/sub')", {"unresolved-import"}),
    ],
)
def test_what_cannot_be_followed_is_a_blind_spot(main: bytes, said: set[str]) -> None:
    members = {"package.json": PACKAGE, "main.js": main, "code.jsc": b"0"}
    members["node_modules/q/package.json"] = b'{"exports": "./lib.js"}'
    members["node_modules/q/lib.js"] = b"0"
    assert spots(found_of(make_asar(members))) == said


def test_program_that_is_too_long_to_follow_is_a_blind_spot() -> None:
    count = MAX_MEMBERS_BYTES // MEMBER_MAX_BYTES + 1
    main = b"".join(b"require('./%d')\n" % number for number in range(count))
    members = {"package.json": PACKAGE, "main.js": main}
    first = {"offset": "0", "size": len(PACKAGE) + len(main) + MEMBER_MAX_BYTES}
    others: dict[str, dict[str, object]] = {
        f"{number}.js": dict(first) for number in range(count)
    }
    archive = make_asar(members, others) + b" " * MEMBER_MAX_BYTES
    assert spots(found_of(archive)) == {"limit-reached"}


LONG = b'{"files": {"index.js": {"size": 0, "offset": "0"}}}'
BROKEN = {
    "empty": b"",
    "short": b"\x04\0\0\0",
    "not framed": LONG * 2,
    "no JSON": framed(b"{"),
    "no object": framed(b"[]"),
    "no files": framed(b"{}"),
    "files that are none": framed(b'{"files": 1}'),
    "no text": framed(b"\xff\xfe\xfd"),
    "nesting": framed(b'{"files":' * 100_000),
    "header beyond the end": struct.pack("<4I", 4, 2**32 - 1, 2**32 - 5, 8) + b"{}",
    "text beyond the header": struct.pack("<4I", 4, 8, 4, len(LONG)) + LONG,
    "long header": framed(LONG + b" " * HEADER_MAX_BYTES),
    "no program": make_asar({"package.json": b'{"main": "main.ts"}', "main.ts": b""}),
    "link": make_asar({}, {"index.js": {"link": "a"}}),
    **{
        f"{key} {value!r}": make_asar({}, {"index.js": {**good, key: value}})
        for good in ({"size": 0, "offset": "0"},)
        for key, value in (
            ("size", 2**70),
            ("size", -1),
            ("size", "1"),
            ("size", None),
            ("offset", "-1"),
            ("offset", "9" * 19),
            ("offset", "9" * 10_000),
            ("offset", 0),
            ("unpacked", True),
        )
    },
}


def test_archive_without_these_faults_is_read() -> None:
    assert reached(found_of(framed(LONG))) == frozenset({0})


@pytest.mark.parametrize("archive", BROKEN.values(), ids=BROKEN.keys())
def test_archive_that_cannot_be_read_is_expected_as_a_whole(archive: bytes) -> None:
    extension = f"{UNPACKED}/a.node"
    found = found_of(archive, {extension: b"x"})
    assert reached(found) is None
    assert {each.entry.path for each in found.files} == {PROGRAM, ASAR, extension}
    assert spots(found) == {"embedded-code"}


NAMES = st.sampled_from(
    ["files", "package.json", "index.js", "a", "..", "", "\ud800", "size"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.sampled_from(["0", "-1", "9" * 30, "a/../b", "/", "files", "\ud800", "²"]),
    lambda inner: (
        st.dictionaries(NAMES | st.sampled_from(["offset", "unpacked"]), inner)
        | st.lists(inner, max_size=2)
    ),
)


@given(files=st.dictionaries(NAMES, VALUES), members=st.binary(max_size=60))
def test_header_of_anything_is_looked_through(
    files: dict[str, object], members: bytes
) -> None:
    index = {"size": 24, "offset": "0"}
    header = json.dumps({"files": {"index.js": index, **files}}).encode()
    main = b"require('./a');require('files')"
    found = reached(found_of(framed(header, main + members)))
    assert found is None or found <= {0}


def test_long_names_of_folders_are_not_multiplied() -> None:
    members = {
        "package.json": PACKAGE,
        "main.js": b"0",
        **{f"{'x' * 100_000}/{number}.js": b"" for number in range(1000)},
    }
    assert reached(found_of(make_asar(members))) == frozenset({0, 1})
