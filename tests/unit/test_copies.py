"""Copies of libraries, and which a launch reaches."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.payload.copies import find_copies, find_supplied

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
) -> list[str | None]:
    app = {"command": "bin/app", "command-chain": ["snap/command-chain/desktop-launch"]}
    payload = make_payload(
        {
            "bin/app": make_elf(needed=["libfoo.so.1"], interpreter=LOADER),
            f"{LIB}/libfoo.so.1": FOO,
            "snap/command-chain/desktop-launch": launcher.encode() or b"none",
        },
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
