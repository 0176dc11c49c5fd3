"""Libraries that nothing links or names, and what names a library."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.payload import unused
from snapcraft_compression_advisor.payload.unused import find_unused

if TYPE_CHECKING:
    from collections.abc import Mapping

LIB = "usr/lib/x86_64-linux-gnu"
SPARE = f"{LIB}/libspare.so.2.1"
PROGRAM = make_elf(interpreter="/lib64/ld-linux-x86-64.so.2", needed=["libused.so.1"])
FILES: Mapping[str, bytes] = {
    "bin/app": PROGRAM,
    f"{LIB}/libused.so.1": make_elf(soname="libused.so.1", needed=["libfar.so.3"]),
    f"{LIB}/libfar.so.3": make_elf(soname="libfar.so.3"),
    SPARE: make_elf(soname="libspare.so.2", needed=["libof-spare.so.1"]),
    f"{LIB}/libof-spare.so.1": make_elf(soname="libof-spare.so.1"),
}
LINKS = {
    f"{LIB}/libspare.so.2": "libspare.so.2.1",
    f"{LIB}/libspare.so": "libspare.so.2",
}
BOTH = {SPARE, f"{LIB}/libof-spare.so.1"}


def unused_of(
    files: Mapping[str, bytes],
    links: Mapping[str, str] = LINKS,
    plugs: Mapping[str, object] | None = None,
) -> dict[str, str | None]:
    payload = make_payload({**FILES, **files}, links=links, plugs=plugs)
    return {each.path: each.doubt for each in find_unused(payload)}


def test_library_that_nothing_links_or_names_is_found_with_what_it_links() -> None:
    assert unused_of({}) == dict.fromkeys(BOTH)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'load("libspare.so.2")', id="by its name"),
        pytest.param(b'find_library("spare")', id="by its short name"),
        pytest.param(b"\0\0spare\0", id="between NULs"),
        pytest.param("»libspare«".encode("utf-16-le"), id="UTF-16"),
        pytest.param("x libspare.so.2".encode("utf-32-le"), id="UTF-32"),
        pytest.param(b"\1" + "spare".encode("utf-16-le"), id="odd offset"),
        pytest.param(b"spare", id="nothing else"),
        pytest.param(b"libspa%s.so", id="the end put in"),
        pytest.param(b"libspa${end}.so", id="the end of a variable"),
        pytest.param("libspa%1".encode("utf-16-le"), id="the end put in, UTF-16"),
        pytest.param(
            bytes(unused._PIECE_BYTES - 7) + b"libspare.so.2", id="across pieces"
        ),
        pytest.param(
            make_elf(needed=["libspare.so.2"], soname="mod.so"), id="a plug-in's"
        ),
    ],
)
def test_library_that_a_file_names_stays_with_what_it_links(content: bytes) -> None:
    assert not unused_of({"usr/lib/app/module": content})


@pytest.mark.parametrize(
    "content",
    [b"libsparest", b"xspare", b"spare2", b"s\0pare", b"lib%s.so", b"sPare"],
)
def test_other_words_name_nothing(content: bytes) -> None:
    assert unused_of({"usr/lib/app/module": content}).keys() == BOTH


@pytest.mark.parametrize(
    "content",
    [
        b"dlopen('libGLX_' + vendor)",
        b"libGLX_%s.so.0",
        b"\0GLX_\0",
        "GLX_%1".encode("utf-16-le"),
    ],
)
def test_beginning_of_a_name_names_all_that_begin_so(content: bytes) -> None:
    library = {f"{LIB}/libGLX_mesa.so.0": make_elf(soname="libGLX_mesa.so.0")}
    assert unused_of(library).keys() == {*BOTH, *library}
    assert unused_of({**library, "bin/gl": b"GLX_EXT"}).keys() == {*BOTH, *library}
    assert unused_of({**library, "bin/gl": content}).keys() == BOTH


def test_name_in_a_library_that_is_itself_named_counts() -> None:
    files = {
        f"{LIB}/libother.so.1": make_elf(soname="libother.so.1", symbols=["spare"]),
    }
    assert unused_of(files).keys() == {*BOTH, f"{LIB}/libother.so.1"}
    assert not unused_of({**files, "bin/run": b"other"})


@pytest.mark.parametrize(
    "path",
    [
        "usr/lib/app/libplugin.so.1",
        f"{LIB}/libplugin.so",
        f"{LIB}/libnss_mine.so.2",
        f"{LIB}/libm.so.6",
    ],
)
def test_what_is_not_loaded_by_its_name_alone_stays(path: str) -> None:
    files = {path: make_elf(soname="libplugin.so.1")}
    assert unused_of(files).keys() == BOTH


def test_library_with_a_link_elsewhere_stays() -> None:
    links = {**LINKS, "usr/lib/app/plugins/spare.so": f"../../../../{SPARE}"}
    assert not unused_of({}, links)


def test_program_and_what_has_no_soname_stay() -> None:
    assert (
        unused_of(
            {
                f"{LIB}/librun.so.1": make_elf(interpreter="/lib/ld.so", soname="x"),
                f"{LIB}/libbare.so.1": make_elf(),
                f"{LIB}/libtext.so.1": b"GROUP ( libc.so.6 )",
            }
        ).keys()
        == BOTH
    )


def test_documentation_and_the_index_of_libraries_name_nothing() -> None:
    payload = make_payload(
        {**FILES, "usr/share/doc/x": b"libspare", "etc/ld.so.cache": b"libspare.so.2"}
    )
    ignored = {"usr/share/doc/x"}
    found = {each.path for each in find_unused(payload, ignored=ignored)}
    assert found == BOTH
    assert not find_unused(payload)


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("Main.class", b"libspare" * 40)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        archive(),
        b"#!/bin/sh\n" + archive(),
        gzip.compress(b"libspare", mtime=0),
        b"\x7fELF" + bytes(100) + b"UPX!" + bytes(100),
        b"\x7fELF" + bytes(5000) + b"MEI\x0c\x0b\x0a\x0b\x0e" + bytes(80),
    ],
    ids=["jar", "jar-in-script", "gzip", "upx", "pyinstaller"],
)
def test_compressed_file_may_name_it(content: bytes) -> None:
    found = unused_of({"usr/share/app/packed": content})
    doubt = "'usr/share/app/packed' is compressed, and may name it"
    assert found == dict.fromkeys(BOTH, doubt)


def test_compiler_or_shared_content_may_load_it() -> None:
    found = unused_of({"usr/bin/gcc-12": b"x"})
    reason = "the snap also ships 'usr/bin/gcc-12', which links such files"
    assert found == dict.fromkeys(BOTH, reason)
    plugs = {"gnome": {"interface": "content"}}
    found = unused_of({}, plugs=plugs)
    reason = "a snap that shares content with this one may load it"
    assert found == dict.fromkeys(BOTH, reason)


def test_payload_that_is_too_large_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unused, "MOST_BYTES", 100)
    assert not unused_of({})


@given(content=st.binary(max_size=200), at=st.integers(0, 200))
def test_whatever_stands_around_a_name_it_is_found(content: bytes, at: int) -> None:
    payload = make_payload({"x": content[:at] + b"\0libspare.so\0" + content[at:]})
    files = payload.inventory.files()
    assert unused.names_in(payload, files, {"libspare"}) == {"libspare"}
