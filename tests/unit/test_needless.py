"""Files that needn't ship: kinds of them, parts of files, and copies of libraries."""

from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import OBJECT, elf_in, make_elf, make_sections
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.payload.copies import find_copies, find_supplied
from snapcraft_compression_advisor.payload.elf import (
    ET_DYN,
    BrokenElfError,
    Elf,
    Section,
    Segment,
)
from snapcraft_compression_advisor.payload.needless import (
    LEAST_BYTES,
    needless_by_name,
    needless_parts,
    unstripped_files,
)
from snapcraft_compression_advisor.payload.survey import take_survey

ARCHIVE = b"!<arch>\n"
CODE = b"c" * 1000


def parts_of(data: bytes) -> tuple[tuple[int, int], ...]:
    try:
        elf = elf_in(data)
        return needless_parts(elf) if elf else ()
    except BrokenElfError:
        return ()


@pytest.mark.parametrize(
    ("path", "contents", "kind"),
    [
        ("usr/lib/debug/.build-id/ab/cd.debug", b"\x7fELF", "debug-symbols"),
        ("usr/lib/libx.so.1.debug", b"\x7fELF", "debug-symbols"),
        ("usr/lib/x86_64-linux-gnu/libx.a", ARCHIVE, "static-libraries"),
        ("lib/libx.a", ARCHIVE, "static-libraries"),
        ("usr/include/x/y.h", b"#pragma once", "development-files"),
        ("usr/lib/x86_64-linux-gnu/pkgconfig/x.pc", b"x", "development-files"),
        ("usr/share/pkgconfig/x.pc", b"x", "development-files"),
        ("usr/lib/x86_64-linux-gnu/cmake/X/XConfig.cmake", b"x", "development-files"),
        ("usr/lib/libx.la", b"x", "development-files"),
        ("usr/share/gir-1.0/Gtk-3.0.gir", b"x", "development-files"),
        ("usr/lib/jvm/java/jmods/java.base.jmod", b"x", "development-files"),
        ("usr/share/man/man1/x.1.gz", b"x", "documentation"),
        ("share/info/x.info.gz", b"x", "documentation"),
        ("usr/share/doc/x/changelog.gz", b"x", "documentation"),
        ("usr/share/gtk-doc/html/x/index.html", b"x", "documentation"),
        ("var/lib/dpkg/status", b"x", "package-caches"),
        ("var/cache/apt/pkgcache.bin", b"x", "package-caches"),
        ("root/.cache/pip/http/a", b"x", "package-caches"),
        ("home/.npm/_cacache/index", b"x", "package-caches"),
        ("var/lib/gems/3.1.0/cache/rake-13.gem", b"x", "package-caches"),
    ],
)
def test_kinds_of_needless_files(path: str, contents: bytes, kind: str) -> None:
    found = needless_by_name(make_payload({path: contents}))
    assert {name for name, files in found.items() if files} == {kind}
    (file,) = (file for files in found.values() for file in files)
    assert (file.path, file.size_bytes) == (path, len(contents))


@pytest.mark.parametrize(
    ("path", "contents"),
    [
        ("usr/share/doc/x/copyright", b"GPL"),
        ("usr/share/doc/x/LICENSE.txt", b"GPL"),
        ("usr/share/doc/x/NOTICE", b"Apache"),
        ("usr/share/doc/empty", b""),
        ("usr/lib/not-an-archive.a", b"data"),
        ("share/game/level.a", ARCHIVE),
        ("usr/lib/x/settings.debug", b"level=3"),
        ("usr/share/blender/scripts/include/kernel.h", b"x"),
        ("usr/share/help/C/app/index.page", b"x"),
        ("usr/share/vim/vim90/doc/help.txt", b"x"),
        ("usr/lib/python3/dist-packages/numpy/core/include/numpy/a.h", b"x"),
        ("usr/share/cmake-3.25/Modules/FindX.cmake", b"x"),
    ],
)
def test_files_that_are_needed_or_may_be(path: str, contents: bytes) -> None:
    assert not any(needless_by_name(make_payload({path: contents})).values())


@pytest.mark.parametrize(
    ("path", "contents", "reader"),
    [
        ("usr/lib/libx.a", ARCHIVE, "usr/bin/x86_64-linux-gnu-gcc-12"),
        ("jre/jmods/java.base.jmod", b"x", "jre/bin/jlink"),
        ("usr/include/x.h", b"x", "usr/bin/clang"),
        ("usr/share/man/man1/git.1.gz", b"x", "usr/bin/man"),
        ("usr/share/info/emacs.info.gz", b"x", "usr/bin/emacs-gtk"),
        ("var/lib/dpkg/status", b"x", "usr/bin/dpkg"),
    ],
)
def test_a_program_that_reads_such_files_raises_a_doubt(
    path: str, contents: bytes, reader: str
) -> None:
    found = needless_by_name(make_payload({path: contents, reader: b""}))
    (file,) = (file for files in found.values() for file in files)
    assert file.doubt is not None
    assert reader in file.doubt
    found = needless_by_name(make_payload({path: contents}))
    (file,) = (file for files in found.values() for file in files)
    assert file.doubt is None


def test_pages_may_be_an_applications_help() -> None:
    found = needless_by_name(make_payload({"usr/share/doc/x/manual.html": b"x"}))
    assert found["documentation"][0].doubt is not None


PROGRAM = {".text": CODE, ".symtab": CODE}
ALL = {".text": CODE, ".debug_info": CODE, ".symtab": CODE, ".strtab": CODE}
MIXED = {".debug_info": CODE, ".data": CODE, ".symtab": CODE}
STRIPPED = {".text": CODE, ".comment": CODE, ".gnu_debuglink": b"x"}


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        pytest.param(make_sections(ALL), ((1064, 4064),), id="joined"),
        pytest.param(make_sections(ALL, big_endian=True), ((1064, 4064),), id="MSB"),
        pytest.param(make_sections(MIXED), ((64, 1064), (2064, 3064)), id="mixed"),
        pytest.param(make_sections(STRIPPED), (), id="stripped"),
        pytest.param(make_sections(PROGRAM, kind=OBJECT), (), id="object"),
        pytest.param(make_sections(PROGRAM, behind=b"an archive"), (), id="archive"),
        pytest.param(b"", (), id="empty"),
        pytest.param(b"#!/bin/sh\n" * 100, (), id="script"),
        pytest.param(b"\x7fELF" + bytes(12), (), id="broken"),
    ],
)
def test_sections_that_strip_takes_out_are_found(
    data: bytes, parts: tuple[tuple[int, int], ...]
) -> None:
    assert parts_of(data) == parts


@given(st.integers(0, 3500), st.binary(min_size=1, max_size=40))
def test_broken_headers_are_no_error(at: int, junk: bytes) -> None:
    whole = make_sections({".text": CODE, ".symtab": CODE, ".strtab": CODE})
    broken = whole[:at] + junk + whole[at + len(junk) :]
    for data in (broken, whole[:at], whole[:at] + junk):
        for start, end in parts_of(data):
            assert 0 <= start < end <= len(data)


def test_large_programs_and_libraries_are_looked_at() -> None:
    library = make_sections({".text": CODE, ".symtab": bytes(LEAST_BYTES)})
    payload = make_payload(
        {
            "usr/lib/libx.so.1": library,
            "usr/lib/libasan.so.8": library,
            "bin/small": make_sections({".text": CODE, ".symtab": CODE}),
        }
    )
    sure, sanitizer = sorted(
        unstripped_files(payload), key=lambda file: file.doubt or ""
    )
    assert sure.path == "usr/lib/libx.so.1"
    assert sure.size_bytes == LEAST_BYTES
    assert sanitizer.doubt is not None


def test_a_survey_lists_kinds_with_the_largest_file_first() -> None:
    library = make_sections({".text": CODE, ".symtab": bytes(LEAST_BYTES)})
    payload = make_payload(
        {
            "usr/lib/debug/x.debug": library,
            "usr/lib/libx.so": library,
            "usr/share/man/b": b"xx",
            "usr/share/man/a": b"xx",
            "usr/share/man/c": b"xxx",
            "lib/python3.12/site-packages/a.py": b"x",
        }
    )
    survey = take_survey(payload)
    assert [fault.kind for fault in survey.caches] == ["python-bytecode"]
    debug, documentation = survey.needless
    assert debug.kind == "debug-symbols"
    assert [(file.path, bool(file.parts)) for file in debug.files] == [
        ("usr/lib/debug/x.debug", False),
        ("usr/lib/libx.so", True),
    ]
    assert [file.path for file in documentation.files] == [
        "usr/share/man/c",
        "usr/share/man/a",
        "usr/share/man/b",
    ]
    assert documentation.size_bytes == 7


@pytest.mark.parametrize(
    ("loaded_bytes", "aligns", "named"),
    [
        (1000, (4096,), True),
        (1000 + 3000, (4096, 8192), True),
        (1000 + 8192, (4096, 4096), True),
        (1000 + 36_000, (4096, 2 * 1024 * 1024), False),
        (1000 + 788_000, (4096,), False),
    ],
)
def test_files_that_strip_breaks_are_left_alone(
    loaded_bytes: int, aligns: tuple[int, ...], *, named: bool
) -> None:
    end = 4096 + loaded_bytes
    elf = SimpleNamespace(
        kind=ET_DYN,
        headers_end=end + 500,
        size_bytes=end + 500,
        sections=(
            Section(b".text", 1, 2, 4096, 5096),
            Section(b".symtab", 2, 0, end, end + 400),
        ),
        segments=tuple(
            Segment(1, 5, 4096, 4096, loaded_bytes if number == 0 else 1000, align)
            for number, align in enumerate(aligns)
        ),
    )
    assert bool(needless_parts(cast("Elf", elf))) is named


LIB = "usr/lib/x86_64-linux-gnu"
NEW = make_elf(soname="libx.so.1", padding_bytes=30)
OLD = make_elf(soname="libx.so.1", padding_bytes=20)


OLDER, NEWER = f"{LIB}/libx.so.1.2.0", f"{LIB}/libx.so.1.3.0"


@pytest.mark.parametrize(
    ("new", "linked"),
    [(NEWER, NEWER), (f"{LIB}/libx.so.1", None)],
    ids=["linked", "named like the soname"],
)
def test_a_version_that_no_name_leads_to_is_older(new: str, linked: str | None) -> None:
    links = {f"{LIB}/libx.so.1": "libx.so.1.3.0"} if linked else {}
    (copy,) = find_copies(make_payload({OLDER: OLD, new: NEW}, links=links))
    assert (copy.path, copy.like, copy.doubt) == (OLDER, new, None)


def test_versions_in_two_directories_depend_on_search_paths() -> None:
    files = {"lib/libx.so.1": NEW, OLDER: OLD}
    links = {f"{LIB}/libx.so.1": "libx.so.1.2.0"}
    (copy,) = find_copies(make_payload(files, links=links))
    assert copy.path == OLDER
    assert copy.doubt is not None


@pytest.mark.parametrize("other", ["opt/a/libx.so.1.2.0", OLDER])
def test_private_versions_and_two_unlinked_ones_leave_open_which_goes(
    other: str,
) -> None:
    assert not list(find_copies(make_payload({other: OLD, NEWER: NEW})))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (make_elf(soname="libx.so.1"), make_elf(soname="libx.so.1.2.0")),
        (make_elf(soname="libx.so.1"), make_elf(soname="libx.so.1", machine=183)),
        (make_elf(soname="libx.so.1"), make_elf()),
        (make_elf(soname="libx.so.1"), b"GROUP ( libx.so.1 )"),
        (make_elf(soname="libx.so.1"), b"\x7fELF broken"),
    ],
    ids=["soname", "machine", "no soname", "linker script", "broken"],
)
def test_other_libraries_are_no_versions(first: bytes, second: bytes) -> None:
    files = {f"{LIB}/libx.so.1.3.0": first, f"{LIB}/libx.so.1.2.0": second}
    links = {f"{LIB}/libx.so.1": "libx.so.1.3.0"}
    assert not list(find_copies(make_payload(files, links=links)))


def supplier(files: dict[str, bytes], name: str = "core24") -> MemoryPayload:
    return make_payload(files, name=name, type="base")


def test_a_library_equal_to_the_bases_is_found() -> None:
    payload = make_payload(
        {f"{LIB}/libz.so.1.3": b"zlib"}, links={f"{LIB}/libz.so.1": "libz.so.1.3"}
    )
    base = supplier({f"{LIB}/libz.so.1": b"zlib"})
    found = {each.path: each for each in find_supplied(payload, [base])}
    assert found[f"{LIB}/libz.so.1.3"].same is True
    assert found[f"{LIB}/libz.so.1.3"].supplier == "core24"


@pytest.mark.parametrize("theirs", [b"zlib 1.2", b"zlib"])
def test_another_build_of_a_library_is_not_the_same(theirs: bytes) -> None:
    payload = make_payload({f"{LIB}/libz.so.1": b"zlib 1.3"})
    (found,) = find_supplied(payload, [supplier({f"{LIB}/libz.so.1": theirs})])
    assert found.same is False


def test_a_content_snap_with_the_same_counts_before_a_base_with_another() -> None:
    payload = make_payload(
        {f"{LIB}/libz.so.1": b"zlib"},
        plugs={"gnome-46-2404": {"interface": "content", "target": "$SNAP/gnome"}},
        apps={"app": {"environment": {"LD_LIBRARY_PATH": f"$SNAP/gnome/{LIB}"}}},
    )
    base = supplier({f"{LIB}/libz.so.1": b"older"})
    content = make_payload(
        {f"{LIB}/libz.so.1": b"zlib"},
        name="gnome-46-2404",
        slots={"gnome-46-2404": "content"},
    )
    (found,) = find_supplied(payload, [base, content])
    assert (found.supplier, found.same) == ("gnome-46-2404", True)


def test_without_the_base_only_names_are_known() -> None:
    (found,) = find_supplied(make_payload({f"{LIB}/libz.so.1.3": b"zlib"}), [])
    assert (found.supplier, found.same) == ("core24", None)


def test_with_the_base_its_own_list_is_all_that_counts() -> None:
    payload = make_payload({f"{LIB}/libz.so.1.3": b"zlib"})
    assert not list(find_supplied(payload, [supplier({})]))


@pytest.mark.parametrize(
    ("name", "base", "confinement"),
    [
        ("libz.so.1", "core24", "classic"),
        ("libz.so.1", "bare", "strict"),
        ("libmine.so.1", "core24", "strict"),
        ("libzstd.so.2", "core24", "strict"),
        ("libc.so.6", "core24", "strict"),
        ("libstdc++.so.6.0.33", "core24", "strict"),
    ],
)
def test_libraries_that_no_list_names(name: str, base: str, confinement: str) -> None:
    payload = make_payload({f"{LIB}/{name}": b"x"}, base=base, confinement=confinement)
    assert not list(find_supplied(payload, []))


def test_libraries_outside_of_the_loaders_directories_are_private() -> None:
    assert not list(find_supplied(make_payload({"usr/lib/app/libz.so.1": b"zlib"}), []))


FOO = make_elf(soname="libfoo.so.1")
LOADER = "/lib64/ld-linux-x86-64.so.2"
RUNTIME = {"SNAP_DESKTOP_RUNTIME": "$SNAP/runtime"}
LAUNCHER = """\
#!/bin/bash
set -e
append_dir() {
  local -n var="$1"
  export "$1=${var:+$var:}$2"
}
if [ "$SNAP_ARCH" = amd64 ]; then
  ARCH=x86_64-linux-gnu
fi
append_dir LD_LIBRARY_PATH "$SNAP_DESKTOP_RUNTIME/usr/lib/$ARCH"
exec "$@"
"""


def doubts(
    *,
    environment: dict[str, str] | None = None,
    launcher: str = "",
    content: str = "gnome-46-2404",
    own: dict[str, bytes] | None = None,
    links: dict[str, str] | None = None,
) -> list[str | None]:
    app = {"command": "bin/app", "command-chain": ["snap/command-chain/desktop-launch"]}
    payload = make_payload(
        {
            "bin/app": make_elf(needed=["libfoo.so.1"], interpreter=LOADER),
            **(own or {f"{LIB}/libfoo.so.1": FOO}),
            "snap/command-chain/desktop-launch": launcher.encode() or b"none",
        },
        links=links,
        plugs={
            "gnome-46-2404": {
                "interface": "content",
                "target": "$SNAP/runtime",
                "default-provider": "gnome-46-2404:gnome-46-2404",
            }
        },
        apps={"app": app},
        environment=environment or {},
    )
    other = make_payload(
        {f"{LIB}/libfoo.so.1": FOO},
        name=content,
        slots={"gnome-46-2404": "content"},
        links={"lib": "usr/lib"},
    )
    return [each.doubt for each in find_supplied(payload, [other])]


@pytest.mark.parametrize(
    "environment",
    [
        {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"},
        {"LD_LIBRARY_PATH": f"$SNAP/lib:${{SNAP}}/runtime/{LIB}:$LD_LIBRARY_PATH"},
        {"LD_LIBRARY_PATH": "/snap/hello/current/runtime/lib/x86_64-linux-gnu"},
        {"LD_LIBRARY_PATH": f"$SNAP_DESKTOP_RUNTIME/{LIB}", **RUNTIME},
    ],
)
def test_library_path_of_snap_yaml_leads_there(environment: dict[str, str]) -> None:
    assert doubts(environment=environment) == [None]


def test_link_for_builds_that_the_content_snap_lacks_leaves_it_open() -> None:
    path = {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"}
    links = {f"{LIB}/libfoo.so.1": "libfoo.so.1.2"}
    library = {f"{LIB}/libfoo.so.1.2": FOO}
    assert doubts(environment=path, own=library, links=links) == [None]
    links[f"{LIB}/libfoo.so"] = "libfoo.so.1.2"
    (doubt,) = doubts(environment=path, own=library, links=links)
    assert doubt == "gnome-46-2404 has no 'libfoo.so', which some file may load"


def test_launcher_of_an_extension_leads_there() -> None:
    assert doubts(environment=RUNTIME, launcher=LAUNCHER) == [None]
    (doubt,) = doubts(launcher=LAUNCHER)
    assert doubt == f"the library path of app app doesn't lead to 'runtime/{LIB}'"


def test_launcher_that_forgets_other_paths_leaves_it_open() -> None:
    path = {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"}
    launcher = "#!/bin/sh\nexport LD_LIBRARY_PATH=$SNAP/lib\n"
    (doubt,) = doubts(environment=path, launcher=launcher)
    assert doubt == ("'snap/command-chain/desktop-launch' may replace LD_LIBRARY_PATH")


def test_sdk_provides_nothing_at_run_time() -> None:
    path = {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"}
    assert doubts(environment=path, content="gnome-46-2404-sdk") == []
