"""Caches that are missing or stale: schemas, modules, icons, bytecode, fonts."""

import struct
from collections.abc import Callable, Iterable, Mapping

import pytest

from elf_files import make_elf
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.payload.caches import (
    CacheFault,
    Tree,
    icon_faults,
    module_faults,
    schema_faults,
)
from snapcraft_compression_advisor.payload.file_caches import (
    bytecode_faults,
    font_faults,
)
from snapcraft_compression_advisor.payload.inventory import Inventory


def make_tree(  # noqa: PLR0913 # keywords, each with a default
    files: Mapping[str, bytes],
    *,
    built: bool = False,
    times: Mapping[str, int] | None = None,
    base: str = "core24",
    plugs: Mapping[str, object] | None = None,
    layout: Mapping[str, object] | None = None,
) -> Tree:
    """Return the tree of a payload.

    :param built: whether it is a built snap rather than a prime directory.
    :param times: when entries changed, seconds; all others never did.
    """
    payload = make_payload(files, base=base, plugs=plugs, layout=layout)
    return Tree(timed(payload, times or {}, built=built))


def timed(
    payload: MemoryPayload, times: Mapping[str, int], *, built: bool
) -> MemoryPayload:
    """Return a payload whose entries changed at these times."""
    payload.kind = "snap" if built else "prime"
    payload.inventory = Inventory.of(
        entry._replace(modified_s=times.get(entry.path, 0))
        for entry in payload.inventory.entries.values()
    )
    return payload


def schema(name: str, *keys: str) -> bytes:
    """Return a schema's XML."""
    lines = "".join(f'<key name="{key}" type="b"></key>\n' for key in keys)
    text = f"<schemalist><schema path='/x/' id='{name}'>\n{lines}</schema></schemalist>"
    return text.encode()


def bytecode(source: bytes, *, modified_s: int = 0) -> bytes:
    """Return the header of a source's bytecode, checked by time and length."""
    return b"\xa7\r\r\n" + struct.pack("<III", 0, modified_s, len(source))


def hashed_bytecode() -> bytes:
    """Return the header of bytecode that is checked by a hash."""
    return b"\xa7\r\r\n" + struct.pack("<I", 3) + bytes(8)


LIB = "usr/lib/x86_64-linux-gnu"
GIO = f"{LIB}/libgio-2.0.so.0"
GTK = f"{LIB}/libgtk-3.so.0"
SCHEMAS = "usr/share/glib-2.0/schemas"
LOADERS = f"{LIB}/gdk-pixbuf-2.0/2.10.0/loaders"
PIXBUF = f"{LIB}/libgdk_pixbuf-2.0.so.0"
METHODS = f"{LIB}/gtk-3.0/3.0.0/immodules"
GTK2 = f"{LIB}/libgtk-x11-2.0.so.0"
METHODS2 = f"{LIB}/gtk-2.0/2.10.0/immodules"
MODULES = f"{LIB}/gio/modules"
THEME = "usr/share/icons/Adwaita"
ICONS = {f"{THEME}/16x16/actions/icon-{n}.png": b"x" for n in range(120)}


def one(faults: list[CacheFault]) -> CacheFault:
    assert len(faults) == 1
    return faults[0]


def test_schemas_without_their_compiled_form_are_found() -> None:
    tree = make_tree({GIO: b"", f"{SCHEMAS}/a.gschema.xml": schema("org.a", "one")})
    fault = one(list(schema_faults(tree)))
    assert fault.kind == "settings-schemas"
    assert fault.state == "missing"
    assert fault.path == f"{SCHEMAS}/gschemas.compiled"
    assert fault.sources == (f"{SCHEMAS}/a.gschema.xml",)


@pytest.mark.parametrize("compiled", [b"GVariant org.b one", b"GVariant org.a", b""])
def test_a_compiled_form_that_lacks_a_schema_or_key_is_stale(compiled: bytes) -> None:
    tree = make_tree(
        {
            GIO: b"",
            f"{SCHEMAS}/a.gschema.xml": schema("org.a", "one"),
            f"{SCHEMAS}/gschemas.compiled": compiled,
        }
    )
    fault = one(list(schema_faults(tree)))
    assert fault.state == "stale"
    assert fault.sources == (f"{SCHEMAS}/a.gschema.xml",)


def test_a_compiled_form_that_knows_all_is_fine_whatever_its_time() -> None:
    source = b"<!-- <schema id='org.never'> -->" + schema("org.a", "one", "two")
    files = {
        GIO: b"",
        f"{SCHEMAS}/a.gschema.xml": source,
        f"{SCHEMAS}/gschemas.compiled": b"GVariant org.a one two",
    }
    times = {f"{SCHEMAS}/a.gschema.xml": 9}
    assert not list(schema_faults(make_tree(files, built=True, times=times)))


def test_a_gnome_content_snap_reads_schemas_too() -> None:
    plug = {"interface": "content", "default-provider": "gnome-46-2404"}
    files = {f"{SCHEMAS}/a.gschema.xml": schema("org.a")}
    themes = {"interface": "content", "default-provider": "gtk-common-themes"}
    assert not list(schema_faults(make_tree(files, plugs={"themes": themes})))
    assert list(schema_faults(make_tree(files, plugs={"gnome": plug})))


@pytest.mark.parametrize(
    ("library", "module", "cache", "line"),
    [
        (PIXBUF, f"{LOADERS}/libpixbufloader-svg.so", "loaders.cache", '"{}"\n'),
        (GTK, f"{METHODS}/im-ibus.so", "immodules.cache", '"{}" \n"ibus" "IBus"\n'),
        (GTK2, f"{METHODS2}/im-xim.so", "immodules.cache", '"{}" \n"xim" "XIM"\n'),
        (GIO, f"{MODULES}/libdconfsettings.so", "modules/giomodule.cache", "{}: x\n"),
    ],
    ids=["loaders", "input methods", "input methods of GTK 2", "gio"],
)
def test_a_list_of_modules_is_missing_stale_or_complete(
    library: str, module: str, cache: str, line: str
) -> None:
    directory = module.rpartition("/")[0].rpartition("/")[0]
    path = f"{directory}/{cache}"
    name = module.rpartition("/")[2]
    text = line.format(name if cache.startswith("modules") else f"/snap/x/9/{module}")
    files = {library: b"", module: b"ELF"}
    assert one(list(module_faults(make_tree(files)))).state == "missing"
    listed = {**files, path: text.encode()}
    assert not list(module_faults(make_tree(listed)))
    more = {**listed, module.replace(".so", "-new.so"): b"ELF"}
    fault = one(list(module_faults(make_tree(more))))
    assert fault.state == "stale"
    assert fault.path == path
    assert fault.sources == (module.replace(".so", "-new.so"),)


@pytest.mark.parametrize(
    ("needed", "forgotten"),
    [
        (("libgio-2.0.so.0", "libc.so.6"), True),
        (("libz.so.1",), True),  # of core24
        (("libproxy.so.1",), False),
        (("libnowhere.so.1",), False),
    ],
)
def test_a_module_that_cannot_be_loaded_is_in_no_list(
    needed: tuple[str, ...], *, forgotten: bool
) -> None:
    """Debian 13's libproxy finds its own library by an absolute runpath only."""
    files = {
        GIO: make_elf(),
        f"{LIB}/libproxy.so.1": make_elf(
            needed=("libpxbackend-1.0.so",), runpath=f"/{LIB}/libproxy"
        ),
        f"{LIB}/libproxy/libpxbackend-1.0.so": make_elf(),
        f"{MODULES}/libdconfsettings.so": make_elf(),
        f"{MODULES}/libgiolibproxy.so": make_elf(needed=needed),
        f"{MODULES}/giomodule.cache": b"libdconfsettings.so: gsettings-backend\n",
    }
    faults = list(module_faults(make_tree(files)))
    assert [each.sources for each in faults] == (
        [(f"{MODULES}/libgiolibproxy.so",)] if forgotten else []
    )


def test_gio_passes_over_an_entry_that_is_older_than_its_module() -> None:
    module, cache = f"{MODULES}/libproxy.so", f"{MODULES}/giomodule.cache"
    files = {GIO: b"", module: b"", cache: b"libproxy.so: gio-proxy-resolver\n"}
    times = {module: 100, cache: 99}
    assert one(list(module_faults(make_tree(files, built=True, times=times)))).sources
    # The time of a file in a prime directory may be that of a copy.
    assert not list(module_faults(make_tree(files, times=times)))
    times = {module: 100, cache: 100}
    assert not list(module_faults(make_tree(files, built=True, times=times)))


def test_a_large_theme_without_cache_is_found_if_something_looks_for_icons() -> None:
    fault = one(list(icon_faults(make_tree({GTK: b"", **ICONS}))))
    assert fault.state == "missing"
    assert fault.path == f"{THEME}/icon-theme.cache"
    assert fault.source_count == len(ICONS)


def test_kde_looks_for_icons_by_itself() -> None:
    qt, kde = f"{LIB}/libQt5Gui.so.5", f"{LIB}/libKF5IconThemes.so.5"
    assert list(icon_faults(make_tree({qt: b"", **ICONS})))
    assert not list(icon_faults(make_tree({qt: b"", kde: b"", **ICONS})))


def test_a_built_snap_with_a_cache_older_than_its_theme_has_none() -> None:
    path = f"{THEME}/icon-theme.cache"
    files = {GTK: b"", **ICONS, path: b"icons"}
    older = {THEME: 100, path: 99}
    assert one(list(icon_faults(make_tree(files, built=True, times=older)))).sources
    assert not list(icon_faults(make_tree(files, times=older)))
    same = {THEME: 100, path: 100}
    assert not list(icon_faults(make_tree(files, built=True, times=same)))


@pytest.mark.parametrize(
    "source",
    [b"<!--" * 200_000, b"<key " * 200_000, b"<schema id='" * 100_000],
    ids=["comments", "elements", "values"],
)
def test_a_source_that_never_ends_is_read_once(source: bytes) -> None:
    compiled = b"GVariant org.a one two"
    path = f"{SCHEMAS}/gschemas.compiled"
    files = {GIO: b"", f"{SCHEMAS}/a.gschema.xml": source, path: compiled}
    assert not list(schema_faults(make_tree(files)))


SITE = "lib/python3.12/site-packages"
SOURCE = f"{SITE}/hello.py"
COMPILED = f"{SITE}/__pycache__/hello.cpython-312.pyc"
TEXT = b"print('hello')\n"

FONTCONFIG = "usr/lib/x86_64-linux-gnu/libfontconfig.so.1"
FONTS = "usr/share/fonts/truetype/dejavu"
MANY = {f"{FONTS}/font{n}.ttf": b"x" for n in range(12)}
CACHE = "var/cache/fontconfig/0-le64.cache-8"


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


@pytest.mark.parametrize("own", ["usr/bin/python3.11", "usr/lib/python3.11/os.py"])
def test_the_snaps_own_python_counts_before_its_bases(own: str) -> None:
    site = "usr/lib/python3/dist-packages"
    files = {
        own: b"",
        f"{site}/a.py": TEXT,
        f"{site}/__pycache__/a.cpython-311.pyc": bytecode(TEXT),
    }
    assert not list(bytecode_faults(make_tree(files)))


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


@pytest.mark.parametrize(
    ("faults", "files", "base"),
    [
        (schema_faults, {f"{SCHEMAS}/a.gschema.xml": schema("org.a")}, "core24"),
        (module_faults, {f"{MODULES}/libdconfsettings.so": b""}, "core24"),
        (icon_faults, ICONS, "core24"),
        (icon_faults, {GTK: b"", **dict(list(ICONS.items())[:20])}, "core24"),
        (font_faults, MANY, "bare"),
        (font_faults, {FONTCONFIG: b"", **dict(list(MANY.items())[:3])}, "bare"),
        (bytecode_faults, {SOURCE: TEXT}, "core99"),
    ],
    ids=["schemas", "modules", "icons", "few icons", "fonts", "few fonts", "Python"],
)
def test_what_nothing_reads_and_few_files_need_no_cache(
    faults: Callable[[Tree], Iterable[CacheFault]], files: dict[str, bytes], base: str
) -> None:
    assert not list(faults(make_tree(files, base=base)))


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


def test_fonts_with_a_cache_are_left_alone() -> None:
    files = {FONTCONFIG: b"", **MANY, CACHE: b"x"}
    assert not list(font_faults(make_tree(files, base="bare")))
