"""Filters that leave files out, and files that a program looked for."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from payloads import make_inventory
from snapcraft_compression_advisor.capture.missed_files import missed_paths
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.project.changes import add_filters
from snapcraft_compression_advisor.trim.filters import filters_of

filesets = pytest.importorskip(
    "craft_parts.executor.filesets", reason="craft-parts is not installed"
)

NAMES = ("a", "b.gz", "c.gz", "README", ".hidden", "x[1]", "d.la", "é *?")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=5).map("/".join)


def primed(tree: Path, filters: tuple[str, ...]) -> set[str]:
    """Return the files that craft-parts primes with filters."""
    fileset = filesets.Fileset([f"-{each}" for each in filters], name="prime")
    files, _ = filesets.migratable_filesets(fileset, tree, "default")
    return {str(each) for each in files}


def without_clashes(paths: list[str]) -> list[str]:
    """Return paths none of which is a directory of another one."""
    return [
        path
        for path in sorted(set(paths))
        if not any(other.startswith(f"{path}/") for other in paths)
    ]


@given(data=st.data(), paths=st.lists(PATHS, min_size=1, max_size=25))
def test_craft_parts_leaves_out_these_files_and_no_others(
    data: st.DataObject, paths: list[str]
) -> None:
    files = without_clashes(paths)
    gone = data.draw(st.sets(st.sampled_from(files)))
    found = filters_of(gone, make_inventory(dict.fromkeys(files, 1)))
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / file).touch()
        everything = primed(Path(folder), ())
        assert primed(Path(folder), found) == everything - gone


DOCS = [f"usr/share/doc/{name}/changelog.gz" for name in "abc"]
VERSIONS = ["lib/libx.so", "lib/libx.so.1", "lib/libx.so.1.2", "lib/liby.so.1"]


@pytest.mark.parametrize(
    ("gone", "kept", "filters"),
    [
        (["usr/share/doc/a/x", "usr/share/doc/b"], ["bin"], ("usr",)),
        (DOCS, [f"usr/share/doc/{n}/x" for n in "abc"], ("usr/share/doc/**/*.gz",)),
        (VERSIONS, ["lib/libz.so.1", "lib/liby.so"], ("lib/libx.so*", "lib/liby.so.1")),
    ],
    ids=["a whole directory", "alike in several", "versions of a library"],
)
def test_files_are_few_filters(
    gone: list[str], kept: list[str], filters: tuple[str, ...]
) -> None:
    inventory = make_inventory(dict.fromkeys((*gone, *kept), 1))
    assert filters_of(gone, inventory) == filters


def test_pattern_leaves_out_no_file_of_the_part_that_the_snap_lacks() -> None:
    inventory = make_inventory({"lib/a.la": 1, "lib/b.la": 1, "lib/c.so": 1})
    gone = {"lib/a.la", "lib/b.la"}
    assert filters_of(gone, inventory) == ("lib/*.la",)
    assert filters_of(gone, inventory, present={"lib/z.la"}) == ("lib/a.la", "lib/b.la")


PROJECT = """\
name: calculator
parts:
  # the program
  app:
    plugin: dump   # from the archive
    source: .
    prime:
      - -usr/include   # not needed
    # below the list

  deps:
    plugin: nil
    stage-packages: [libfoo]

apps:
  calculator: {command: bin/calculator}
"""


PART = "parts:\n  app:\n    plugin: nil"
CRLF = "parts:\r\n  app:\r\n    prime:\r\n    - -a\r\n"


def added(text: str, filters: dict[str, list[str]]) -> str:
    return add_filters(text.encode(), filters, where="snapcraft.yaml").decode()


@pytest.mark.parametrize(
    ("before", "part", "filters", "after"),
    [
        (
            PROJECT,
            "app",
            ["usr/share/doc", "usr/include"],
            PROJECT.replace(
                "# not needed\n", "# not needed\n      - '-usr/share/doc'\n"
            ),
        ),
        (
            PROJECT,
            "deps",
            ["usr/man"],
            PROJECT.replace("[libfoo]\n", "[libfoo]\n    prime:\n      - '-usr/man'\n"),
        ),
        (PROJECT, "app", ["usr/include"], PROJECT),
        (f"{PART}\n", "app", ["a"], f"{PART}\n    prime:\n      - '-a'\n"),
        (PART, "app", ["a"], f"{PART}\n    prime:\n      - '-a'\n"),
        (CRLF, "app", ["b"], f"{CRLF}    - '-b'\r\n"),
    ],
    ids=["list", "no list", "nothing new", "end", "no line break", "CRLF"],
)
def test_filters_are_whole_lines_and_all_else_stays(
    before: str, part: str, filters: list[str], after: str
) -> None:
    assert added(before, {part: filters}) == after


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("parts:\n  app: {plugin: nil}\n", "line 2: not each key or item has a line"),
        ("parts:\n  app:\n    prime: [-a]\n", "line 3: not each key or item"),
        ("parts:\n  app:\n    prime: &x\n    - -a\n", "anchor"),
        ("parts:\n  app: &x\n    plugin: nil\n", "anchor"),
        (
            "parts:\n  app:\n    prime:\n    - on amd64: [-a]\n    - *x\n",
            "line 5: invalid",
        ),
        (
            "parts:\n  o:\n    &x\n    prime:\n    - -a\n  app: *x\n",
            "line 3: app has an anchor or an alias",
        ),
        ("parts:\n  other:\n    plugin: nil\n", "no part 'app'"),
        ("name: x\n", "no part 'app'"),
    ],
)
def test_what_cannot_be_added_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadDataError, match=problem):
        added(text, {"app": ["b"]})


PATTERNS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"))).filter(
        str.strip
    ),
    min_size=1,
    unique=True,
)


@given(patterns=PATTERNS)
def test_result_is_read_as_the_same_project_with_these_filters(
    patterns: list[str],
) -> None:
    yaml = YAML(typ="safe", pure=True)
    before, after = yaml.load(PROJECT), yaml.load(added(PROJECT, {"app": patterns}))
    new = [f"-{each}" for each in patterns if each != "usr/include"]
    assert after["parts"]["app"].pop("prime") == ["-usr/include", *new]
    del before["parts"]["app"]["prime"]
    assert after == before


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '12 openat(AT_FDCWD</>, "/a/b.so", O_RDONLY) = -1 ENOENT (No such)',
            "/a/b.so",
        ),
        ('12 openat(AT_FDCWD</d>, "b.so", O_RDONLY) = -1 ENOENT (No such)', "/d/b.so"),
        ('openat(5</x y>, "z", O_RDONLY) = -1 EACCES (Permission denied)', "/x y/z"),
        ('7 open("/a\\303\\244\\"\\n", O_RDONLY) = -1 ENOENT (No)', '/a\u00e4"\n'),
        ('7 execve("/bin/x", [], 0x7ffd /* 0 vars */) = -1 ENOENT (No)', "/bin/x"),
        ('7 execveat(3</d>, "x", [], NULL, 0) = -1 ENOENT (No)', "/d/x"),
    ],
)
def test_failed_call_names_a_path(line: str, expected: str) -> None:
    assert list(missed_paths([line])) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        '12 openat(AT_FDCWD</>, "/a", O_RDONLY) = 3</a>',
        '12 readlink("/a", 0x7ffd, 10) = -1 EINVAL (Invalid)',
        "12 +++ exited with 0 +++",
        "12 openat(AT_FDCWD</>, 0x7ffd, O_RDONLY) = -1 EFAULT (Bad address)",
        "",
    ],
)
def test_other_lines_name_none(line: str) -> None:
    assert list(missed_paths([line])) == []
