"""The corpus of vendor-built applications: the draw, and how they are started."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ruamel.yaml import YAML

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from vendor_draw import (
    DRAWN_BEFORE,
    LOOKED_AT,
    MORE_SOURCES,
    SEEDS,
    draw,
    drawn_before,
    read_drawn,
    read_kinds,
    sources,
    untried,
)
from vendor_launchers import LAUNCHERS, OF_JAVA


def test_the_same_list_and_seed_draw_what_the_table_has() -> None:
    drawn = {row.source: row for row in draw(read_kinds(), SEEDS[0])}
    rows = read_drawn(DRAWN_BEFORE[0])
    assert len(rows) == len(drawn) >= 90
    for row in rows:
        wanted = drawn[row.source]
        same = replace(row, version="", outcome="", reason="")
        assert same in (wanted, replace(wanted, set=row.set))
        assert not wanted.set or row.set == wanted.set


def test_the_last_draw_has_what_no_earlier_one_tried() -> None:
    again = draw(untried(), SEEDS[-1], blind=True)
    rows = read_drawn()
    assert [replace(row, version="", outcome="", reason="") for row in rows] == again
    tried = {row.source for row in drawn_before() if row.outcome}
    assert not tried & {row.source for row in rows}


def test_a_replacement_has_the_set_of_what_failed() -> None:
    rows = read_drawn(DRAWN_BEFORE[0])
    for kind in read_kinds():
        for name in ("fit", "blind"):
            own = [row for row in rows if (row.kind, row.set) == (kind, name)]
            failed = sum(row.outcome == "failed" for row in own)
            wanted = sum(
                (row.kind, row.set) == (kind, name)
                for row in draw(read_kinds(), SEEDS[0])
            )
            assert wanted <= len(own) <= wanted + failed


def test_no_list_has_a_source_of_another() -> None:
    yaml = YAML(typ="safe", pure=True)
    lists = [read_kinds(), *(yaml.load(path) for path in MORE_SOURCES)]
    names = [
        name
        for kinds in lists
        for sources_of in kinds.values()
        for name in sources_of.get("sources", sources_of)
    ]
    assert len(names) == len(set(names))
    assert set(read_kinds()) == set().union(*lists)
    assert not LOOKED_AT & {row.source for row in read_drawn()}


def test_every_source_has_a_way_to_be_built() -> None:
    for source in sources().values():
        assert source.run or source.code
        assert source.npm or source.pip or source.mvn or source.go


@pytest.mark.parametrize("name", [name for name, text in LAUNCHERS.items() if text])
def test_a_launcher_of_the_corpus_is_followed(name: str) -> None:
    program = "jre/bin/java" if "java" in LAUNCHERS[name].lower() else "opt/app/app"
    text = LAUNCHERS[name].format(
        program=program,
        folder="opt/app",
        name="app",
        arguments="Main --version",
        listed=["--version"],
        classpath="$APP_HOME/lib/app.jar",
    )
    assert program in reached(text, program)


@pytest.mark.parametrize("text", OF_JAVA.values(), ids=OF_JAVA)
def test_a_launcher_of_java_is_followed(text: str) -> None:
    script = text.format(arguments="Main")
    assert "jre/bin/java" in reached(script, "jre/bin/java")


def reached(script: str, program: str) -> set[str]:
    """Return what a search finds from a launcher in front of a program."""
    payload = make_payload(
        {
            "bin/launch": script.encode(),
            program: make_elf(),
            "lib/app.jar": b"PK",
            "usr/bin/node": make_elf(),
            "bin/node": make_elf(),
            "usr/bin/python3": make_elf(),
        },
        base="bare",
        apps={
            "hello": {
                "command": "bin/launch",
                "environment": {"JAVA_HOME": "$SNAP/jre", "PATH": "$SNAP/bin:$PATH"},
            }
        },
    )
    return {each.entry.path for each in find_candidates(payload, "hello").files}
