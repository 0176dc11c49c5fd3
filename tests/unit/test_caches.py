"""Caches of GLib, gdk-pixbuf, GTK and GIO: whether they know what is shipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cache_files import make_tree, schema
from elf_files import make_elf
from snapcraft_compression_advisor.payload.caches import (
    icon_faults,
    module_faults,
    schema_faults,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.payload.caches import CacheFault

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


@pytest.mark.parametrize("compiled", [b"GVariant org.b one", b"GVariant org.a two"])
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


def test_schemas_that_no_library_reads_need_no_compiled_form() -> None:
    files = {f"{SCHEMAS}/a.gschema.xml": schema("org.a")}
    assert not list(schema_faults(make_tree(files)))


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


def test_modules_that_no_library_loads_need_no_list() -> None:
    assert not list(module_faults(make_tree({f"{MODULES}/libdconfsettings.so": b""})))


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
    assert not list(icon_faults(make_tree(ICONS)))


def test_a_small_theme_needs_no_cache() -> None:
    few = dict(list(ICONS.items())[:20])
    assert not list(icon_faults(make_tree({GTK: b"", **few})))


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
