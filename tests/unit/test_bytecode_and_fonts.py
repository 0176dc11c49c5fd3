"""Python's bytecode and fontconfig's caches: whether they'd be taken."""

from __future__ import annotations

import pytest

from cache_files import (
    bytecode,
    font_cache,
    font_cache_name,
    hashed_bytecode,
    make_tree,
)
from snapcraft_compression_advisor.payload.bytecode import bytecode_faults
from snapcraft_compression_advisor.payload.font_caches import font_faults

SITE = "lib/python3.12/site-packages"
SOURCE = f"{SITE}/hello.py"
COMPILED = f"{SITE}/__pycache__/hello.cpython-312.pyc"
TEXT = b"print('hello')\n"

FONTCONFIG = "usr/lib/x86_64-linux-gnu/libfontconfig.so.1"
FONTS = "usr/share/fonts/truetype/dejavu"
MANY = {f"{FONTS}/font{n}.ttf": b"x" for n in range(12)}
CACHE = font_cache_name(f"/{FONTS}")


def test_a_module_without_bytecode_is_found() -> None:
    (fault,) = bytecode_faults(make_tree({SOURCE: TEXT}))
    assert fault.kind == "python-bytecode"
    assert fault.state == "missing"
    assert fault.path == SITE
    assert fault.sources == (SOURCE,)
    assert "Python 3.12" in fault.reason


def test_bytecode_of_another_python_does_not_count() -> None:
    other = f"{SITE}/__pycache__/hello.cpython-311.pyc"
    (fault,) = bytecode_faults(make_tree({SOURCE: TEXT, other: bytecode(TEXT)}))
    assert fault.state == "missing"


def test_the_snaps_own_python_counts_before_its_bases() -> None:
    site = "usr/lib/python3/dist-packages"
    files = {
        "usr/bin/python3.11": b"ELF",
        f"{site}/a.py": TEXT,
        f"{site}/__pycache__/a.cpython-311.pyc": bytecode(TEXT),
    }
    assert not list(bytecode_faults(make_tree(files)))


def test_where_no_python_is_known_nothing_is_said() -> None:
    assert not list(bytecode_faults(make_tree({SOURCE: TEXT}, base="core99")))


@pytest.mark.parametrize(
    "path",
    [
        f"{SITE}/numpy/tests/test_it.py",
        f"{SITE}/pkg/not-a-module.py",
        "usr/share/doc/examples/hello.py",
        "etc/python3.12/sitecustomize.py",
        "lib/python3.9/site-packages/hello.py",
    ],
)
def test_what_nobody_imports_needs_no_bytecode(path: str) -> None:
    assert not list(bytecode_faults(make_tree({path: TEXT})))


def test_bytecode_of_a_source_of_another_length_is_stale() -> None:
    files = {SOURCE: TEXT, COMPILED: bytecode(TEXT + b"#")}
    (fault,) = bytecode_faults(make_tree(files))
    assert fault.state == "stale"
    assert fault.sources == (SOURCE,)
    files = {SOURCE: TEXT, COMPILED: bytecode(TEXT)}
    assert not list(bytecode_faults(make_tree(files)))


def test_times_count_in_a_built_snap_only() -> None:
    files = {SOURCE: TEXT, COMPILED: bytecode(TEXT, modified_s=77)}
    times = {SOURCE: 78}
    assert not list(bytecode_faults(make_tree(files, times=times)))
    (fault,) = bytecode_faults(make_tree(files, built=True, times=times))
    assert fault.state == "stale"
    assert not list(bytecode_faults(make_tree(files, built=True, times={SOURCE: 77})))


def test_times_after_that_of_the_pack_count_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = make_tree({SOURCE: TEXT, COMPILED: bytecode(TEXT, modified_s=77)})
    for epoch, stale in (("76", True), ("77", False), ("soon", False), ("", False)):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        assert bool([*bytecode_faults(tree)]) is stale


def test_hashed_bytecode_is_left_alone() -> None:
    files = {SOURCE: TEXT, COMPILED: hashed_bytecode()}
    assert not list(bytecode_faults(make_tree(files, built=True, times={SOURCE: 5})))


def test_of_many_files_of_bytecode_some_stand_for_all() -> None:
    files = {}
    for number in range(300):
        files[f"{SITE}/m{number:03}.py"] = TEXT
        files[f"{SITE}/__pycache__/m{number:03}.cpython-312.pyc"] = bytecode(b"other")
    (fault,) = bytecode_faults(make_tree(files))
    assert len(fault.sources) == 100
    assert fault.source_count == 300
    assert "100 of 300 checked" in fault.reason


def test_bytecode_that_is_cut_off_is_stale() -> None:
    assert list(bytecode_faults(make_tree({SOURCE: TEXT, COMPILED: b"\xa7\r"})))


def test_fonts_at_known_paths_without_any_cache_are_found() -> None:
    (fault,) = font_faults(make_tree({FONTCONFIG: b"", **MANY}, base="bare"))
    assert fault.state == "missing"
    assert fault.doubt is None
    assert fault.source_count == len(MANY)


def test_fonts_at_unknown_paths_leave_it_open() -> None:
    (fault,) = font_faults(make_tree({FONTCONFIG: b"", **MANY}))
    assert fault.doubt is not None
    layout = {
        "/usr/share/fonts": {"bind": "$SNAP/usr/share/fonts"},
        "/var/cache/fontconfig": {"bind": "$SNAP/var/cache/fontconfig"},
    }
    (fault,) = font_faults(make_tree({FONTCONFIG: b"", **MANY}, layout=layout))
    assert fault.doubt is None


def test_a_cache_of_a_time_in_nanoseconds_is_never_taken_from_an_image() -> None:
    files = {FONTCONFIG: b"", **MANY, CACHE: font_cache(100, 5)}
    times = {FONTS: 100}
    (fault,) = font_faults(make_tree(files, times=times, base="bare"))
    assert fault.state == "stale"
    assert "nanoseconds" in fault.reason
    files[CACHE] = font_cache(100)
    assert not list(font_faults(make_tree(files, times=times, base="bare")))


def test_caches_that_the_running_snap_may_look_for_elsewhere_are_left_alone() -> None:
    files = {FONTCONFIG: b"", **MANY, CACHE: font_cache(100, 5)}
    assert not list(font_faults(make_tree(files, base="core24")))


def test_a_cache_of_another_time_is_stale_in_a_built_snap() -> None:
    files = {FONTCONFIG: b"", **MANY, CACHE: font_cache(100)}
    times = {FONTS: 101}
    assert not list(font_faults(make_tree(files, times=times, base="bare")))
    assert list(font_faults(make_tree(files, built=True, times=times, base="bare")))


def test_a_directory_that_has_no_cache_while_others_do_is_found() -> None:
    other = font_cache_name("/usr/share/fonts/other")
    files = {FONTCONFIG: b"", **MANY, other: font_cache(1)}
    (fault,) = font_faults(make_tree(files, base="bare"))
    assert fault.state == "stale"


def test_a_few_fonts_without_a_cache_beside_many_that_have_one_are_left_alone() -> None:
    few = {f"usr/share/fonts/other/font{n}.ttf": b"x" for n in range(3)}
    files = {FONTCONFIG: b"", **MANY, **few, CACHE: font_cache(100)}
    times = {FONTS: 100}
    assert not list(font_faults(make_tree(files, times=times, base="bare")))


def test_few_fonts_or_fonts_without_fontconfig_need_no_cache() -> None:
    few = dict(list(MANY.items())[:3])
    assert not list(font_faults(make_tree({FONTCONFIG: b"", **few}, base="bare")))
    assert not list(font_faults(make_tree(MANY, base="bare")))


def test_what_is_no_font_cache_has_no_times() -> None:
    for data in (b"", bytes(64)):
        files = {FONTCONFIG: b"", **MANY, CACHE: data}
        assert not list(font_faults(make_tree(files, base="bare")))
