"""What toolkits and applications open, on small trees of every kind."""

import pytest

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import (
    NO_WINDOW,
    find_candidates,
)

LIB = "usr/lib/x86_64-linux-gnu"
PYTHON = "usr/lib/python3.12"


def linked_to(*libraries: str) -> dict[str, bytes]:
    """Return a program that needs libraries, and these."""
    return {
        "usr/bin/hello": make_elf(needed=libraries),
        **{f"{LIB}/{name}": make_elf() for name in libraries},
    }


@pytest.mark.parametrize(
    ("library", "opened"),
    [
        ("libgtk-3.so.0", f"{LIB}/gdk-pixbuf-2.0/2.10.0/loaders.cache"),
        ("libgtk-3.so.0", "usr/share/icons/Adwaita/icon-theme.cache"),
        ("libgtk-4.so.1", f"{LIB}/dri/swrast_dri.so"),
        ("libgtk-4.so.1", f"{LIB}/gdk-pixbuf-2.0/2.10.0/loaders/libsvg.so"),
        ("libgio-2.0.so.0", f"{LIB}/gio/modules/giomodule.cache"),
        ("libgio-2.0.so.0", "usr/share/glib-2.0/schemas/gschemas.compiled"),
        ("libgio-2.0.so.0", "usr/share/mime/mime.cache"),
        ("libfontconfig.so.1", "etc/fonts/fonts.conf"),
        ("libecore.so.1", "usr/share/elementary/themes/default.edj"),
        ("libecore.so.1", f"{LIB}/edje/modules/elm/v-1.26/module.so"),
        ("libguile-3.0.so.1", f"{LIB}/guile/3.0/ccache/ice-9/boot-9.go"),
        (
            "libgnustep-gui.so.0.31",
            f"{LIB}/ImageMagick-7.1.1/modules-Q16/coders/png.so",
        ),
        ("libfontconfig.so.1", "var/cache/fontconfig/x.cache-8"),
        ("libfontconfig.so.1", "usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
        ("libQt5Gui.so.5", f"{LIB}/qt5/plugins/platforms/libqxcb.so"),
        ("libQt6Gui.so.6", f"{LIB}/qt6/plugins/xcbglintegrations/libqxcb-glx.so"),
        ("libQt5Gui.so.5", f"{LIB}/qt5/plugins/platformthemes/libqgtk3.so"),
        ("libKF5TextEditor.so.5", f"{LIB}/qt5/plugins/ktexteditor/x.so"),
        ("libSDL2-2.0.so.0", f"{LIB}/dri/swrast_dri.so"),
        ("libQt5WebEngineCore.so.5", "usr/share/qt5/resources/icudtl.dat"),
        ("libgegl-0.4.so.0", f"{LIB}/gegl-0.4/common.so"),
    ],
)
def test_toolkit_opens_its_files(library: str, opened: str) -> None:
    assert opened in found({**linked_to(library), opened: make_elf()}, "usr/bin/hello")
    other = {**linked_to("libother.so"), opened: make_elf()}
    assert opened not in found(other, "usr/bin/hello")


def test_libraries_of_a_plugin_are_read_with_it() -> None:
    driver = f"{LIB}/dri/swrast_dri.so"
    files = {
        **linked_to("libgtk-4.so.1"),
        driver: make_elf(needed=["libLLVM-15.so.1"]),
        f"{LIB}/libLLVM-15.so.1": make_elf(),
    }
    llvm = found(files, "usr/bin/hello")[f"{LIB}/libLLVM-15.so.1"]
    assert llvm.way == "mesa-driver of gtk4"
    assert not llvm.direct


def test_driver_is_opened_for_a_program_that_links_opengl_not_for_its_libraries() -> (
    None
):
    driver = f"{LIB}/dri/swrast_dri.so"
    files = {
        "usr/bin/hello": make_elf(needed=["liba.so", "libGL.so.1"]),
        f"{LIB}/liba.so": make_elf(needed=["libGL.so.1"]),
        f"{LIB}/libGL.so.1": make_elf(),
        driver: make_elf(),
    }
    assert driver in found(files, "usr/bin/hello")
    files["usr/bin/hello"] = make_elf(needed=["liba.so"])
    assert driver not in found(files, "usr/bin/hello")


def test_program_that_opens_no_window_hardly_reads_what_windows_need() -> None:
    files = {
        "usr/bin/hello": make_elf(needed=["liba.so"]),
        f"{LIB}/liba.so": make_elf(needed=["libfontconfig.so.1"]),
        f"{LIB}/libfontconfig.so.1": make_elf(),
        "etc/fonts/fonts.conf": b"x",
    }
    assert found(files, "usr/bin/hello")["etc/fonts/fonts.conf"].way == (
        "font-settings" + NO_WINDOW
    )
    with_desktop_file = {**files, "meta/gui/hello.desktop": b""}
    assert found(with_desktop_file, "usr/bin/hello")["etc/fonts/fonts.conf"].way == (
        "font-settings"
    )


@pytest.mark.parametrize(
    ("needed", "windows"),
    [
        ({"hello": ["libhello.so"], "libhello.so": ["libgtk-3.so.0"]}, True),
        (
            {"hello": ["liba.so"], "liba.so": ["libb.so"], "libb.so": ["libQt6Gui.so"]},
            True,
        ),
        ({"hello": ["libgtk-3.so.0"]}, True),
        ({"hello": ["libSDL2-2.0.so.0"]}, True),
        ({"hello": ["libavdevice.so"], "libavdevice.so": ["libSDL2-2.0.so.0"]}, False),
        ({"hello": ["libplot.so"], "libplot.so": ["libX11.so.6"]}, False),
    ],
)
def test_toolkit_far_away_opens_windows_and_what_it_stands_on_only_near(
    needed: dict[str, list[str]], *, windows: bool
) -> None:
    files = {"usr/bin/hello": make_elf(needed=[*needed["hello"], "libfontconfig.so.1"])}
    for name, libraries in needed.items():
        files |= {f"{LIB}/{library}": make_elf() for library in libraries}
        if name != "hello":
            files[f"{LIB}/{name}"] = make_elf(needed=libraries)
    files |= {f"{LIB}/libfontconfig.so.1": make_elf(), "etc/fonts/fonts.conf": b"x"}
    way = found(files, "usr/bin/hello")["etc/fonts/fonts.conf"].way
    assert (way == "font-settings") is windows


def test_toolkit_of_a_content_snap_opens_windows_however_far_away() -> None:
    payload = make_payload(
        {
            "usr/bin/hello": make_elf(needed=["libhello.so"]),
            f"{LIB}/libhello.so": make_elf(needed=["libgtk-3.so.0"]),
        },
        base="bare",
        apps={"hello": {"command": "usr/bin/hello"}},
    )
    assert find_candidates(payload, "hello").kind == "GTK 3"


@pytest.mark.parametrize(
    ("needed", "windows"), [("libtk8.6.so", True), ("libviewer.so", False)]
)
def test_module_opens_windows_by_a_toolkit_that_it_links_itself(
    needed: str, *, windows: bool
) -> None:
    module = f"{PYTHON}/lib-dynload/_seen.cpython-312-x86_64-linux-gnu.so"
    files = {
        "usr/bin/hello": b"#!/usr/bin/python3.12\nimport _seen\n",
        "usr/bin/python3.12": make_elf(),
        module: make_elf(needed=[needed]),
        f"{LIB}/libtk8.6.so": make_elf(),
        f"{LIB}/libviewer.so": make_elf(needed=["libgtk-3.so.0"]),
        f"{LIB}/libgtk-3.so.0": make_elf(needed=["libfontconfig.so.1"]),
        f"{LIB}/libfontconfig.so.1": make_elf(),
        "etc/fonts/fonts.conf": b"x",
    }
    if windows:
        files[f"{LIB}/libtk8.6.so"] = make_elf(needed=["libfontconfig.so.1"])
    candidates = found(files, "usr/bin/hello")
    assert module in candidates
    way = candidates["etc/fonts/fonts.conf"].way
    assert (way == "font-settings") is windows


def test_library_linked_by_a_library_is_told_from_one_linked_by_the_program() -> None:
    files = {
        "usr/bin/hello": make_elf(needed=["liba.so"]),
        f"{LIB}/liba.so": make_elf(needed=["libb.so"]),
        f"{LIB}/libb.so": make_elf(),
    }
    candidates = found(files, "usr/bin/hello")
    assert candidates[f"{LIB}/liba.so"].role == "library"
    assert candidates[f"{LIB}/libb.so"].role == "distant"


def test_browser_of_mozilla_reads_its_library_and_archives() -> None:
    files = {
        "usr/lib/fox/fox": make_elf(),
        "usr/lib/fox/libxul.so": make_elf(needed=["libmozsqlite3.so"]),
        "usr/lib/fox/libmozsqlite3.so": make_elf(),
        "usr/lib/fox/omni.ja": b"x",
        "usr/lib/fox/browser/omni.ja": b"x",
    }
    assert set(found(files, "usr/lib/fox/fox")) == set(files)


@pytest.mark.parametrize("command", ["soffice --writer", "lowriter"])
def test_office_reads_the_part_that_its_command_names(command: str) -> None:
    program = "usr/lib/libreoffice/program"
    files = {
        f"{program}/oosplash": make_elf(),
        "usr/bin/soffice": b"#!/bin/sh\nexec /usr/lib/libreoffice/program/oosplash\n",
        "usr/bin/lowriter": b'#!/bin/sh\nexec /usr/bin/soffice --writer "$@"\n',
        f"{program}/soffice.bin": make_elf(),
        f"{program}/libswlo.so": make_elf(),
        f"{program}/libsclo.so": make_elf(),
        "usr/lib/libreoffice/share/registry/main.xcd": b"x",
    }
    candidates = found(files, f"usr/bin/{command}")
    assert candidates[f"{program}/libswlo.so"].way == "office-writer"
    assert f"{program}/libsclo.so" not in candidates


def test_typesetter_reads_the_format_of_its_own_name() -> None:
    files = {
        "usr/bin/pdftex": make_elf(),
        "var/lib/texmf/web2c/pdftex/pdflatex.fmt": b"x",
        "var/lib/texmf/web2c/pdftex/latex.fmt": b"x",
    }
    named = found(files, "usr/bin/pdflatex x.tex", links={"usr/bin/pdflatex": "pdftex"})
    assert set(named) == set(files) - {"var/lib/texmf/web2c/pdftex/latex.fmt"}


MESA = {
    f"{LIB}/dri/swrast_dri.so": make_elf(needed=["libLLVM-15.so.1"]),
    f"{LIB}/libLLVM-15.so.1": make_elf(),
}


@pytest.mark.parametrize(
    ("needed", "symbols", "kind"),
    [
        (["libSDL2-2.0.so.0"], ["SDL_GL_CreateContext"], "imported"),
        (["libSDL2-2.0.so.0"], ["SDL_Init"], "sdl"),
        (["libSDL-1.2.so.0"], ["SDL_Init"], "sdl1"),
        (["libsfml-window.so.2"], ["_ZN2sf12RenderWindowC1Ev"], "imported"),
        (["libglut.so.3", "libGL.so.1"], ["glutCreateWindow", "glEnd"], "imported"),
        (["libgtk-3.so.0"], ["gtk_gl_area_new"], "drawn"),
        (["libfltk.so.1"], ["glEnd"], "drawn"),
        (["libgtk-4.so.1"], ["epoxy_glEnd", "glEnd"], "gtk4"),
        (["libQt5Gui.so.5"], ["glEnd"], "qt"),
        (["libQt6Gui.so.6"], ["glEnd"], "drawn"),
        (["libgtk-x11-2.0.so.0"], ["dlopen", "libGL.so.1"], "opened"),
        (["libgtk-3.so.0"], ["libGL.so.1"], "gtk3"),
        (["libX11.so.6", "libGL.so.1"], ["dlopen"], "linked"),
        (["libgtk-3.so.0"], ["gtk_window_new"], "gtk3"),
        (["libQt5Gui.so.5"], [], "qt"),
        (["libQt6Gui.so.6"], [], "qt6"),
        (["libQt6Gui.so.6", "libQt6Qml.so.6"], [], "qt-quick"),
    ],
)
def test_way_to_the_driver_is_that_of_calls_before_that_of_toolkits(
    needed: list[str], symbols: list[str], kind: str
) -> None:
    program = make_elf(needed=needed, symbols=symbols)
    files = {**linked_to(*needed), **MESA, "usr/bin/hello": program}
    way = f"mesa-driver of {kind}"
    assert found(files, "usr/bin/hello")[f"{LIB}/libLLVM-15.so.1"].way == way


def test_toolkit_that_only_a_library_of_a_module_links_opens_nothing() -> None:
    files = {
        "usr/bin/hello": b"#!/usr/bin/python3\nimport gui, numbers_qt\n",
        "usr/bin/python3": make_elf(),
        f"{PYTHON}/gui.so": make_elf(needed=["libgtk-3.so.0"]),
        f"{PYTHON}/numbers_qt.so": make_elf(needed=["libnumbers.so"]),
        f"{LIB}/libnumbers.so": make_elf(needed=["libQt5Gui.so.5"]),
        f"{LIB}/libQt5Gui.so.5": make_elf(),
        f"{LIB}/libgtk-3.so.0": make_elf(),
        f"{LIB}/qt5/plugins/platforms/libqxcb.so": make_elf(),
        **MESA,
    }
    named = found(files, "usr/bin/hello")
    assert f"{LIB}/libQt5Gui.so.5" in named
    assert f"{LIB}/qt5/plugins/platforms/libqxcb.so" not in named
    assert named[f"{LIB}/libLLVM-15.so.1"].way == "mesa-driver of gtk3"


def test_what_a_library_opens_has_another_way_if_only_a_library_links_it() -> None:
    opened = f"{LIB}/openmpi/lib/openmpi3/mca_a.so"
    files = {**linked_to("libmpi.so.40"), opened: make_elf()}
    assert found(files, "usr/bin/hello")[opened].way == "mpi-components"
    files |= linked_to("libother.so")
    files[f"{LIB}/libother.so"] = make_elf(needed=["libmpi.so.40"])
    assert found(files, "usr/bin/hello")[opened].way == "mpi-components of libraries"


def test_driver_that_others_link_is_found_as_the_driver() -> None:
    files = {
        **linked_to("libgtk-4.so.1"),
        f"{LIB}/libGLX_mesa.so.0": make_elf(needed=["libgallium-25.so"]),
        f"{LIB}/libgallium-25.so": make_elf(needed=["libLLVM.so.19.1"]),
        f"{LIB}/libLLVM.so.19.1": make_elf(),
        f"{LIB}/dri/libdril_dri.so": make_elf(),
    }
    links = {f"{LIB}/dri/swrast_dri.so": "libdril_dri.so"}
    ways = {
        path.rpartition("/")[2]: candidate.way
        for path, candidate in found(files, "usr/bin/hello", links=links).items()
    }
    assert ways["libGLX_mesa.so.0"] == "glvnd of gtk4"
    assert ways["libgallium-25.so"] == ways["libLLVM.so.19.1"] == "mesa-driver of gtk4"
    assert ways["libdril_dri.so"] == "mesa-stub of gtk4"


def test_program_started_in_the_background_opens_no_window() -> None:
    files = {**linked_to("libSDL2-2.0.so.0"), **MESA}
    ways = {
        command: found(files, command)[f"{LIB}/libLLVM-15.so.1"].way
        for command in ("usr/bin/hello", "usr/bin/hello --background")
    }
    assert ways["usr/bin/hello"] == "mesa-driver of sdl"
    assert ways["usr/bin/hello --background"] == "mesa-driver of sdl" + NO_WINDOW
