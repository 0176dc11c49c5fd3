"""What a file belongs to by its path: a toolkit, a package or a folder.

For tables and pictures, not for decisions: a launch reads hundreds of files, and people
think of them as Qt, fonts or a Python package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

LIBRARIES = "other libraries"
PROGRAMS = "programs"

_LIB = r"(?:^|/)lib"
"""Before the rest of a library's name."""


_FAMILIES = {
    "fonts": r"(?:^|/)(?:fonts|fontconfig)/|\.(?:ttf|otf|ttc|pfb)$",
    "locale data": r"(?:^|/)(?:locale|i18n|locales|zoneinfo)/|/qt\w*/translations/",
    "icons": r"/(?:icons|pixmaps)/",
    "KDE Frameworks": rf"{_LIB}(?:KF[56]|kde|plasma)|/kf[56]/|/knotifications",
    "Qt": rf"{_LIB}(?:Qt[456]|qt)|/(?:qt[456]|qml)/|PyQt[56]|PySide",
    "LLVM and Mesa": rf"{_LIB}(?:"
    r"LLVM|clang|gallium|GL|EGL|GLX|OpenGL|glapi|drm|gbm|vulkan"
    r"|vdpau|va|z3|edit)[-._0-9a-zA-Z]*\.so|/dri/|/vulkan/|drirc",
    "GTK": rf"{_LIB}(?:gtk|gdk|adwaita|handy|graphene|vte|dazzle|webkit2?gtk"
    r"|javascriptcoregtk|atk|atspi|gail|gspell)|/gtk-?[234]|/gdk-pixbuf"
    r"|/gtksourceview|/themes/|^etc/gtk",
    "text and drawing": rf"{_LIB}(?:"
    r"cairo|pango|harfbuzz|freetype|fontconfig|pixman|rsvg|fribidi"
    r"|thai|datrie|graphite2|jpeg|png|tiff|webp|gif|jbig|lerc|lcms|openjp2"
    r"|epoxy|raqm)",
    "X11 and Wayland": rf"{_LIB}(?:"
    r"X|xcb|xkb|wayland|ICE|SM|decor|input)[-._0-9a-zA-Z]*\.so"
    r"|/X11/|/xkb/",
    "introspection data": r"/girepository-1\.0/",
    "GLib": rf"{_LIB}(?:"
    r"glib|gio|gobject|gmodule|gthread|girepository|dconf|gee|soup)"
    r"[-._0-9a-zA-Z]*\.so|/gio/|/glib-2\.0/|/mime/",
    "ICU": rf"{_LIB}icu",
    "sound and video": rf"{_LIB}(?:"
    r"gst|av(?:codec|format|util|filter|device|resample)|sw(?:scale"
    r"|resample)|pulse|pipewire|spa|SDL|asound|sndfile|vorbis|ogg|opus|FLAC"
    r"|mp3|mpg123|x26[45]|vpx|dav1d|aom|theora|openal|jack)"
    r"|/(?:gstreamer|pulseaudio|pipewire|spa|alsa|vdpau)",
    "network and cryptography": rf"{_LIB}(?:"
    r"ssl|crypto|gnutls|nettle|hogweed|gmp|p11|krb5|k5|gssapi|com_err"
    r"|curl|nghttp|ssh|ldap|lber|sasl|idn|psl|tasn1|unistring|gcrypt|gpg"
    r"|proxy|nss|nspr|sqlite)[-._0-9a-zA-Z]*\.so|/ssl/|/ca-certificates",
    "Boost": rf"{_LIB}boost",
    "C and C++ runtime": rf"{_LIB}(?:"
    r"c|m|dl|rt|pthread|resolv|nss_\w+|stdc\+\+|gcc_s|gomp|gfortran"
    r"|quadmath|atomic|util)[-.0-9]*\.so|/ld-|/gconv/",
}
_PACKAGE_OF = {
    "Python: {}": r"/(?:site|dist)-packages/([^/]+)",
    "Node: {}": r"/node_modules/((?:@[^/]+/)?[^/]+)",
    "R: {}": r"/R/(?:site-)?library/([^/]+)",
}
"""Ahead of all families: what a package holds is the package's."""

_RUNTIMES = {
    "Python's standard library": r"/python\d(?:\.\d+)?/|\blibpython|\.zip$",
    "Perl": r"/perl(?:5|-base)?/|\blibperl",
    "Ruby": r"/ruby/|\blibruby",
    "Tcl and Tk": r"/(?:tcltk|tcl\d|tk\d)|\blib(?:tcl|tk)\d",
    "Java": r"/(?:jvm|java)/|\.jar$",
    "Mono and .NET": r"/(?:mono|dotnet|cli)/|\.dll$",
    "R": r"/R/|\blibR\.so",
    "Node": r"/(?:nodejs|node)/|\blibnode",
}
_LIBRARY = re.compile(r"(?:^|/)lib(?:32|64)?/(?:[^/]+-linux-gnu[^/]*/)?[^/]+$")
_PROGRAM = re.compile(r"(?:^|/)(?:s?bin|games|libexec)/[^/]+$")
_FOLDER = re.compile(
    r"^(?:usr/local/|usr/)?(?:lib(?:32|64)?/(?:[^/]+-linux-gnu[^/]*/)?|share/games/"
    r"|share/|opt/|libexec/|games/)([^/]+)/"
)
"""A package's own folder."""


@cache
def _families() -> Mapping[str, re.Pattern[str]]:
    """Return families and runtimes, compiled: only pages ask for them."""
    return {
        name: re.compile(pattern) for name, pattern in (_FAMILIES | _RUNTIMES).items()
    }


@cache
def _packages() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in _PACKAGE_OF.items()}


def file_family(path: str) -> str:
    """Return what a file belongs to, by its path alone.

    >>> file_family("usr/lib/x86_64-linux-gnu/libgtk-4.so.1")
    'GTK'
    >>> file_family("usr/lib/python3/dist-packages/meld/filediff.py")
    'Python: meld'
    >>> file_family("usr/share/meld/ui/app.ui")
    'meld'
    """
    for name, pattern in _packages().items():
        if found := pattern.search(path):
            return name.format(found[1].removesuffix(".py"))
    for name, pattern in _families().items():
        if pattern.search(path):
            return name
    if _LIBRARY.search(path):
        return LIBRARIES
    if found := _FOLDER.search(path):
        return found[1]
    return PROGRAMS if _PROGRAM.search(path) else path.rpartition("/")[0] or "/"
