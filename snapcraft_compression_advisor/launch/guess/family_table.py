"""The rules of what toolkits and applications open, and the kinds of applications.

Those of a language are in its module of :mod:`.runtimes`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .families import compiled, opened_by
from .family_others import OTHERS
from .opengl import IMPORTS_OPENGL, OPENS_OPENGL, WINDOW_OF_OPENGL
from .runtimes import RUNTIMES
from .traits import TRAITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .families import Family, Trigger

_GLIB = r"libg(io|tk|dk)-\S+"
_GTK = r"libg[td]k-\S+"
_QT = r"libQt[56]Gui\.so\S*"
_QT_WEB = r"libQt[56]WebEngineCore\S+"
_FONTS = r"libfontconfig\.so\S*"
_CHROMIUM = r"chrom\S+|electron|(resources|headless_lib_data)\.pak|libcef\.so"
_WEB = rf"{_CHROMIUM}|libxul\.so|{_QT_WEB}"
_FLUTTER = r"libflutter_linux\S*\.so"
_OFFICE_PROGRAM = r"soffice\.bin"
_ANY = r".*"
_FONT_FILES = r".*\.(ttf|otf|ttc|pf[ab])"
_PIXBUF_LOADERS = r"gdk-pixbuf-2\.0/[^/]+/loaders"
_GL_KINDS = (
    ("imported", WINDOW_OF_OPENGL, False),
    ("gtk4", r"libgtk-4\S+", False),
    ("qt-quick", r"libQt[56](Qml|Quick|QuickWidgets|OpenGLWidgets)\.so\S*", True),
    ("qt", r"libQt5Gui\.so\S*", False),
    ("drawn", IMPORTS_OPENGL, False),
    ("qt6", r"libQt6Gui\.so\S*", False),
    ("web", _WEB, False),
    ("opened", OPENS_OPENGL, False),
    ("sdl1", r"libSDL-1\.2\.so\.0\S*", False),
    ("sdl", r"libSDL\d?-\S+|lib[gG]lfw\S+", False),
    ("linked", r"lib(GL|GLX|EGL|OpenGL|GLESv2|GLEW)\.so\S*", True),
    ("gtk3", r"libgtk-3\S+", False),
)
"""What leads to OpenGL: name, trigger, whether only near the program.

The first that applies. A program that makes a window of OpenGL opens the driver, as do
GTK 4, and Qt 5 with its first window; then its own calls say more than its toolkit.
Qt 6 opens it only for Qt Quick or where it is asked to. A library of SDL 1 with another
number is an interface to SDL 2.
"""

_SYSTEM = (
    *opened_by(
        _ANY,
        ("c-locale", r"usr/lib/locale/C\.utf8(/LC_MESSAGES)?", r"\S*LC_\S+"),
        ("locale-archive", r"usr/lib/locale", r"locale-archive"),
        ("gconv-cache", r"lib/[^/]+/gconv", r"gconv-modules\.cache"),
        ("loader-cache", r"etc", r"ld\.so\.cache"),
        ("time-zone", r"usr/share/zoneinfo/Etc", r"UTC"),
    ),
    *opened_by(_GLIB, ("user-names", r"etc", r"passwd|nsswitch\.conf")),
    *opened_by(r"libdbus-1\.so\S*", ("machine-id", r"var/lib/dbus|etc", r"machine-id")),
)
_GL = tuple(
    family
    for kind, trigger, near in _GL_KINDS
    for family in opened_by(
        trigger,
        (f"glvnd of {kind}", r"lib(/[^/]+)?", r"lib(GL|GLX|GLX_mesa)\.so\.\d"),
        (
            f"mesa-driver of {kind}",
            r"dri",
            r"(swrast|kms_swrast|iris|radeonsi)_dri\.so",
        ),
        (f"mesa-settings of {kind}", r"share/drirc\.d", r".*\.conf"),
        (f"glvnd-egl of {kind}", r"lib(/[^/]+)?", r"libEGL(_mesa)?\.so\.\d"),
        near=near,
        opens=kind.startswith("qt"),
    )
)
_FONT = (
    *opened_by(
        _FONTS,
        ("font-settings", r"etc/fonts(/conf\.d)?", r".*\.conf"),
        ("font-templates", r"fontconfig/conf\.avail", r".*\.conf"),
        ("font-caches", r"var/cache/fontconfig", r".*\.cache-\d+"),
        ("default-font", r"truetype/dejavu", r"DejaVuSans\.ttf"),
        ("bold-font", r"truetype/dejavu", r"DejaVuSans-Bold\.ttf"),
        ("mono-font", r"truetype/dejavu", r"DejaVuSansMono\.ttf"),
    ),
    *opened_by(_OFFICE_PROGRAM, ("office-fonts", r"share/fonts(/.*)?", _FONT_FILES)),
    *opened_by(
        r"libfontmanager\.so", ("java-fonts", r"share/fonts(/.*)?", _FONT_FILES)
    ),
    *opened_by(_FONTS, ("other-fonts", r"share/fonts(/.*)?", _FONT_FILES)),
)
_DESKTOP = (
    *opened_by(
        _QT, ("x11-locale", r"X11/locale(/en_US\.UTF-8)?", r"XLC_\S+|locale\.\S+")
    ),
    *opened_by(
        r"libSDL\d?-\S+|emacs\S*|libxkbcommon\.so\S*",
        (
            "x11-compose",
            r"X11/locale(/en_US\.UTF-8)?",
            r"XLC_\S+|locale\.\S+|Compose|compose\.dir",
        ),
    ),
    *opened_by(
        # They set up an input method of X themselves (XOpenIM).
        r"libfltk\.so\S*|libXt\.so\S*|liballeg\S*|libtk\d\S*|libforms\.so\S*"
        r"|System\.Windows\.Forms\.dll",
        (
            "x11-input-method",
            r"X11/locale(/en_US\.UTF-8|/C)?",
            r"XLC_\S+|locale\.\S+|Compose|compose\.dir",
        ),
    ),
    *opened_by(
        r"libXcursor\.so\S*", ("cursors", r"icons/Adwaita/cursors", r"watch|xterm")
    ),
    *opened_by(r"libEGL\S*", ("glvnd-vendors", r"glvnd/egl_vendor\.d", r".*\.json")),
    *opened_by(
        _GLIB,
        ("gsettings", r"glib-2\.0/schemas", r"gschemas\.compiled"),
        ("gio-module-list", r"gio/modules", r"giomodule\.cache"),
        ("gio-settings", r"gio/modules", r"libdconf\S*\.so"),
        ("gio-modules", r"gio/modules", r"(?!libdconf).*\.so"),
        ("mime-cache", r"share/mime", r"mime\.cache"),
    ),
)
_GTK_OPENS = (
    *opened_by(_GTK, ("pixbuf-list", r"gdk-pixbuf-2\.0/[^/]+", r"loaders\.cache")),
    *opened_by(r"libgtk-4\S*", ("gtk4-svg", _PIXBUF_LOADERS, r".*svg.*\.so")),
    *opened_by(r"libgtk-3\S*", ("gtk3-svg", _PIXBUF_LOADERS, r".*svg.*\.so")),
    *opened_by(r"libgtk-x11-2\S*", ("gtk2-svg", _PIXBUF_LOADERS, r".*svg.*\.so")),
    *opened_by(
        _GTK,
        ("pixbuf-loaders", _PIXBUF_LOADERS, r"(?!.*svg).*\.so"),
        ("gtk-input-list", r"gtk-[^/]+/[^/]+", r"immodules\.cache"),
        ("icon-caches", r"share/icons/[^/]+", r"icon-theme\.cache"),
    ),
    *opened_by(
        rf"{_GTK}|{_QT}", ("icon-indices", r"share/icons/[^/]+", r"index\.theme")
    ),
    *opened_by(
        r"libgtksourceview-\S+",
        (
            "source-languages",
            r"gtksourceview-[^/]+/(language-specs|styles)",
            r".*\.(lang|rng|xml)",
        ),
        ("spelling", r"lib(/[^/]+)?", r"libgspell-1\.so\.\d"),
    ),
    *opened_by(r"libgegl-0\S+", ("gegl-operations", r"gegl-[^/]+", r".*\.so")),
    *opened_by(r"libbabl-0\S+", ("babl-extensions", r"babl-[^/]+", r".*\.so")),
)
_QT_OPENS = (
    *opened_by(
        _QT,
        ("qt-platform", r"plugins/platforms", r"libqxcb\.so"),
        ("qt-platforms", r"plugins/platforms", r"libq(?!xcb)\S+\.so"),
        ("qt-gl", r"plugins/xcbglintegrations", r".*\.so"),
        ("qt-images", r"plugins/imageformats", r".*\.so"),
        ("qt-icons", r"plugins/iconengines", r".*\.so"),
        ("qt-input", r"plugins/platforminputcontexts", r".*\.so"),
        ("qt-themes", r"plugins/(platformthemes|styles)", r".*\.so"),
        opens=True,  # a program with another toolkit may link it through a library
    ),
    *opened_by(
        r"libQt6Multimedia\.so\S*",
        ("qt-media", r"plugins/multimedia", r".*ffmpeg.*\.so"),
        near=True,
    ),
    *opened_by(
        r"libQt6Multimedia\.so\S*",
        ("qt-media of libraries", r"plugins/multimedia", r".*ffmpeg.*\.so"),
        ("qt-sound", r"lib(/[^/]+)?", r"libpipewire-0\.3\.so\.0"),
    ),
    *opened_by(r"libQt5Network\.so\S*", ("qt-bearers", r"plugins/bearer", r".*\.so")),
    *opened_by(
        r"libQt[56]Sql\.so\S*",
        ("qt-databases", r"plugins/sqldrivers", r".*sqlite\.so"),
    ),
    *opened_by(
        r"libKF[56]TextEditor\.so\S*",
        ("kde-text-plugins", r"plugins/ktexteditor", r".*\.so"),
    ),
    *opened_by(r"libKF[56]KIO\S*", ("kde-plugins", r"plugins/kf[56]/.*", r".*\.so")),
)
_WEB_OPENS = (
    *opened_by(
        _WEB,
        ("web-engine-code-points", r"", r"icudtl\.dat"),
        ("web-engine-snapshot", r"", r"snapshot_blob\.bin"),
        ("web-engine-context-snapshot", r"", r"(browser_)?v8_context_snapshot\S*\.bin"),
        ("web-engine-resources", r"", r".*\.pak"),
        ("web-engine-locale", r"locales", r"en-US\.pak"),
        ("web-engine-crash-reports", r"", r"chrome_crashpad_handler"),
        ("web-engine-drawing", r"(swiftshader)?", r"lib(GLESv2|EGL)\.so"),
        ("web-engine-vulkan", r"", r"libvulkan\.so\.1|libvk_swiftshader\.so"),
        beside=True,
    ),
    *opened_by(
        _QT_WEB,
        (
            "qt-web-engine-resources",
            r"resources",
            r"qtwebengine_\S+\.pak|icudtl\.dat|v8_context_snapshot\S*\.bin",
        ),
        ("qt-web-engine-locale", r"qtwebengine_locales", r"en-US\.pak"),
        ("qt-web-engine-process", r"libexec", r"QtWebEngineProcess"),
    ),
    *opened_by(
        r"chrom\S+|electron", ("web-engine-toolkit", r"lib/[^/]+", r"libgtk-3\.so\.0")
    ),
    *opened_by(
        _ANY,
        ("electron-code", r"resources", r"(electron|app)\.asar"),
        ("web-engine-resources", r"", r"(resources|headless_lib_data)\.pak"),
        ("web-engine-engine", r"", r"libcef\.so"),
        ("web-engine-drawing", r"swiftshader", r"lib(GLESv2|EGL)\.so"),
        ("mozilla-code", r"", r"libxul\.so"),
        beside=True,
    ),
    *opened_by(
        r"libxul\.so",
        ("mozilla-libraries", r"", r"lib(moz|nss|ssl|soft)\S+\.so"),
        ("mozilla-resources", r"(browser)?", r"omni\.ja"),
        beside=True,
    ),
)
_FLUTTER_OPENS = opened_by(
    _FLUTTER,
    ("flutter-code", r"lib", r"libapp\.so"),
    ("flutter-code-points", r"data", r"icudtl\.dat"),
    ("flutter-lists", r"flutter_assets", r"(Asset|Font)Manifest\.\w+|vm_\w+|kernel\S+"),
    ("flutter-assets", r"flutter_assets(/.*)?", r".*"),
)
_OFFICE = (
    *opened_by(
        _OFFICE_PROGRAM, ("office-settings", r"libreoffice/registry", r".*\.xcd")
    ),
    *opened_by(
        _OFFICE_PROGRAM,
        ("office-types", r"types", r".*\.rdb"),
        ("office-services", r"(services)?", r"(services|types)\.rdb"),
        ("office-toolkit", r"", r"libvclplug_gtk3lo\.so"),
        (
            "office-parts",
            r"",
            r"lib(gcc3_uno|stocserviceslo|sal_textenclo|localedata_en|expwraplo)\.so",
        ),
        beside=True,
    ),
    *(
        family
        for part, file in (
            ("calc", r"lib(sc|scfilt|oox)lo\.so"),
            ("writer", r"libswlo\.so"),
            ("impress", r"libsdlo\.so"),
        )
        for family in opened_by(
            rf"--{part}|[ls]o?{part}", (f"office-{part}", r"\w*office\d*/program", file)
        )
    ),
)
FAMILIES: tuple[Family, ...] = (
    *_SYSTEM,
    *_GL,
    *_FONT,
    *_DESKTOP,
    *_GTK_OPENS,
    *_QT_OPENS,
    *_WEB_OPENS,
    *_FLUTTER_OPENS,
    *_OFFICE,
    *(family for runtime in RUNTIMES for family in runtime.families),
    *OTHERS,
)
"""All rules; where several name one file, the first counts."""

WINDOW_FAMILIES = frozenset(
    family.name for family in (*_GL, *_FONT, *_DESKTOP, *_GTK_OPENS, *_QT_OPENS)
)
"""Rules of what a program reads only if it opens a window."""

TOOLKIT = re.compile(
    rf"{_GTK}|{_QT}|libwx_gtk\S+|libtk\d\S*|libfltk\S*|libvclplug\S+|libawt_xawt\.so"
    r"|lib(alleg|gnustep-gui|elementary|ecore_evas|forms|sfml-window|glut|Xaw|Xm)[\d.-]\S*"
    r"|chrom\S+|electron|resources\.pak|libxul\.so|soffice\.bin"
    r"|System\.Windows\.Forms\.dll|g[td]k-sharp\.dll"
)
"""Libraries that are linked to open windows, whoever links them, and such programs."""

WINDOW_SYSTEM = re.compile(
    r"libSDL\d?-\S+|lib[gG]lfw\S+|libX11\.so\S*|libxcb\.so\S*|libwayland-client\.so\S*"
)
"""Libraries that say so where the program links them itself: those of codecs and of
number crunchers link them too, for what a command-line tool doesn't use."""


def opens_windows(path: str) -> bool:
    """Tell by its name whether a library opens windows, or is below those that do."""
    name = path.rpartition("/")[2]
    return bool(TOOLKIT.fullmatch(name) or WINDOW_SYSTEM.fullmatch(name))


_WINDOW_KINDS = (
    ("LibreOffice", _OFFICE_PROGRAM),
    ("Mozilla", r"libxul\.so"),
    ("Flutter", _FLUTTER),
    ("Chromium engine", rf"{_CHROMIUM}|{_QT_WEB}"),
    ("Java", r"java|libjvm\.so"),
    ("GTK 4", r"libgtk-4\S+"),
    ("GTK 3", r"libgtk-3\S+"),
    ("GTK 2", r"libgtk-x11-2\S+"),
    ("Qt", r"libQt[56]Gui\S+"),
    ("SDL", r"libSDL\d?-\S+"),
    ("Tk", r"libtk\d\S*"),
)
_RUNTIME_KINDS = tuple((each.kind, each.mapped.pattern) for each in reversed(RUNTIMES))
PROGRAM = "plain program"
OTHER_WINDOW = "other program with windows"
UNREACHED_PROGRAM = "program behind a launcher that isn't followed"
UNKNOWN = "script in a language that isn't followed"


def application_kind(
    triggers: Iterable[Trigger], *, window: bool, followed: bool
) -> str:
    """Return the kind: the toolkit of what opens windows, the run time of others.

    :param triggers: programs started, and all libraries mapped.
    :param window: whether it seems to open windows.
    :param followed: whether every program started is known.
    """
    names = {
        trigger.name
        for trigger in triggers
        if (trigger.folder or ".so" in trigger.name)  # one of a content snap
        and not trigger.optional
    }
    for kind, mapped in _WINDOW_KINDS if window else _RUNTIME_KINDS:
        if any(map(compiled(mapped).fullmatch, names)):
            return kind
    for trait in () if window else TRAITS:
        if trait in names:
            return trait
    if not followed:
        return UNKNOWN
    return OTHER_WINDOW if window else PROGRAM
