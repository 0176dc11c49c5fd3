"""Paths as a snap's programs see them, and what a dynamic loader brings in."""

import pytest

from elf_files import EM_AARCH64, elf_in, make_elf
from payloads import MemoryPayload, make_inventory, make_payload
from snapcraft_compression_advisor.payload.inventory import PathResolver
from snapcraft_compression_advisor.payload.linkage import (
    Closure,
    LibraryFinder,
    library_path,
)

INVENTORY = make_inventory(
    {
        "usr/lib/libx.so.1.2": 10,
        "usr/bin/x": 10,
        "new": 10,
        "new\nline/x": 10,
        "new\nline/x\n": 10,
    },
    links={
        "usr/lib/libx.so.1": "libx.so.1.2",
        "lib": "usr/lib",
        "bin/x": "../usr/bin/x",
        "own": "/snap/hello/current/usr/bin/x",
        "base": "/usr/share/base",
        "basedir/data": "/usr/share",
        "loop": "loop",
        "a": "b",
        "b": "a",
        "out": "../../etc/passwd",
        "dangling": "nothing",
        "odd": "/snap/hello/x1/new\nline/x\n",
    },
)
RESOLVER = PathResolver(INVENTORY, snap_name="hello")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("usr/bin/x", "usr/bin/x"),
        ("$SNAP/usr/bin/x", "usr/bin/x"),
        ("${SNAP}/usr//bin/./x", "usr/bin/x"),
        ("/snap/hello/x1/usr/bin/x", "usr/bin/x"),
        ("lib/libx.so.1", "usr/lib/libx.so.1.2"),
        ("bin/x", "usr/bin/x"),
        ("usr/lib/../bin/x", "usr/bin/x"),
        ("own", "usr/bin/x"),
        ("$SNAP/new\nline/x", "new\nline/x"),
        ("odd", "new\nline/x\n"),
    ],
)
def test_paths_and_links_inside_are_followed(path: str, found: str) -> None:
    location = RESOLVER.locate(path)
    assert location.entry is not None
    assert location.entry.path == found


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("/usr/bin/python3", "/usr/bin/python3"),
        ("/snap/other/current/x", "/snap/other/current/x"),
        ("base", "/usr/share/base"),
        ("basedir/data/icons/x.png", "/usr/share/icons/x.png"),
        ("$HOME/x", "$HOME/x"),
        ("$SNAP_DATA/x", "$SNAP_DATA/x"),
    ],
)
def test_absolute_paths_are_the_base(path: str, outside: str) -> None:
    location = RESOLVER.locate(path)
    assert location.entry is None
    assert location.outside == outside


@pytest.mark.parametrize("path", ["nothing", "loop", "a", "out", "dangling", "../x"])
def test_what_leads_nowhere_has_neither(path: str) -> None:
    location = RESOLVER.locate(path)
    assert (location.entry, location.outside) == (None, None)


def closure_of(
    payload: MemoryPayload,
    program: str,
    *,
    search: tuple[str, ...] = (),
    elsewhere: str = "base",
) -> Closure:
    resolver = PathResolver(payload.inventory, snap_name="hello")
    finder = LibraryFinder(payload, resolver, search=search, elsewhere=elsewhere)
    return finder.closure(payload.inventory.entries[program])


def paths(closure: Closure) -> list[str]:
    return [entry.path for entry in closure.files]


def missing(closure: Closure) -> dict[str, str]:
    return {item.name: item.supplier for item in closure.unresolved}


def test_headers_of_the_loader_are_read() -> None:
    content = make_elf(
        needed=["liba.so.1", "libb.so"],
        interpreter="/lib64/ld-linux-x86-64.so.2",
        rpath="$ORIGIN/../lib:/opt",
        runpath="/run",
    )
    elf = elf_in(content)
    assert elf is not None
    linkage = elf.linkage()
    assert linkage.machine == (64, "x86_64-linux-gnu")
    assert linkage.interpreter == "/lib64/ld-linux-x86-64.so.2"
    assert linkage.needed == ("liba.so.1", "libb.so")
    assert linkage.rpath == ("$ORIGIN/../lib", "/opt")
    assert linkage.runpath == ("/run",)


def test_libraries_are_found_on_the_paths_of_a_snap_through_links() -> None:
    payload = make_payload(
        {
            "bin/x": make_elf(needed=["liba.so.1"]),
            "usr/lib/x86_64-linux-gnu/liba.so.1.0": make_elf(needed=["libb.so.2"]),
            "lib/libb.so.2": make_elf(),
        },
        links={"usr/lib/x86_64-linux-gnu/liba.so.1": "liba.so.1.0"},
    )
    assert paths(closure_of(payload, "bin/x")) == [
        "bin/x",
        "usr/lib/x86_64-linux-gnu/liba.so.1.0",
        "lib/libb.so.2",
    ]


def test_library_path_goes_before_runpath_and_after_rpath() -> None:
    libraries = {f"{d}/liba.so": make_elf() for d in ("rpath", "env", "runpath")}
    search = ("$SNAP/env",)
    by_rpath = make_payload(
        {**libraries, "x": make_elf(needed=["liba.so"], rpath="$ORIGIN/rpath")}
    )
    by_runpath = make_payload(
        {**libraries, "x": make_elf(needed=["liba.so"], runpath="$ORIGIN/runpath")}
    )
    assert paths(closure_of(by_rpath, "x", search=search)) == ["x", "rpath/liba.so"]
    assert paths(closure_of(by_runpath, "x", search=search)) == ["x", "env/liba.so"]
    assert paths(closure_of(by_runpath, "x")) == ["x", "runpath/liba.so"]


def test_rpath_is_inherited_and_runpath_is_not() -> None:
    files = {"d/liba.so": make_elf(needed=["libb.so"]), "d/libb.so": make_elf()}
    for path in ("$ORIGIN/d", "/snap/hello/current/d"):
        program = make_elf(needed=["liba.so"], rpath=path)
        closure = closure_of(make_payload({**files, "x": program}), "x")
        assert paths(closure) == ["x", "d/liba.so", "d/libb.so"]
    runpath = make_payload(
        {**files, "x": make_elf(needed=["liba.so"], runpath="${ORIGIN}/d")}
    )
    assert missing(closure_of(runpath, "x")) == {"libb.so": "base"}


def test_libraries_of_another_machine_are_passed_over() -> None:
    payload = make_payload(
        {
            "x": make_elf(needed=["liba.so"]),
            "lib/liba.so": make_elf(machine=EM_AARCH64),
            "usr/lib/liba.so": make_elf(),
        }
    )
    assert paths(closure_of(payload, "x")) == ["x", "usr/lib/liba.so"]


def test_what_the_base_supplies_is_listed_as_such() -> None:
    loader = "/lib64/ld-linux-x86-64.so.2"
    program = make_elf(needed=["libc.so.6", "libssl.so.3"], interpreter=loader)
    closure = closure_of(make_payload({"x": program}), "x", elsewhere="elsewhere")
    suppliers = {loader: "base", "libc.so.6": "base", "libssl.so.3": "elsewhere"}
    assert missing(closure) == suppliers


def test_libraries_that_need_each_other_end() -> None:
    payload = make_payload(
        {
            "lib/liba.so": make_elf(needed=["libb.so"]),
            "lib/libb.so": make_elf(needed=["liba.so"]),
        }
    )
    assert paths(closure_of(payload, "lib/liba.so")) == ["lib/liba.so", "lib/libb.so"]


def test_file_that_is_no_elf_is_its_own_closure() -> None:
    payload = make_payload({"x": b"#!/bin/sh\n"})
    assert closure_of(payload, "x") == Closure(
        files=(payload.inventory.entries["x"],), unresolved=()
    )


def test_broken_elf_is_listed_as_unreadable() -> None:
    payload = make_payload(
        {
            "x": make_elf(needed=["liba.so"]),
            "lib/liba.so": b"\x7fELF\x02\x01\x01 and no more",
            "broken": b"\x7fELF",
        }
    )
    assert missing(closure_of(payload, "x")) == {"liba.so": "unreadable"}
    assert missing(closure_of(payload, "broken")) == {"broken": "unreadable"}


@pytest.mark.parametrize(
    ("value", "directories"),
    [
        ("", ()),
        ("$SNAP/lib:${SNAP}/usr/lib", ("$SNAP/lib", "${SNAP}/usr/lib")),
        (
            "${SNAP_LIBRARY_PATH}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}:$SNAP/lib",
            ("$SNAP/lib",),
        ),
        ("$LD_LIBRARY_PATH:/opt/lib:relative", ("/opt/lib",)),
    ],
)
def test_library_path_keeps_what_can_be_located(
    value: str, directories: tuple[str, ...]
) -> None:
    assert library_path(value) == directories
