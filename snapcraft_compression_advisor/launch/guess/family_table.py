"""The rules of what toolkits and runtimes open, all of them."""

from __future__ import annotations

import re

from snapcraft_compression_advisor.launch.guess.families import Family

_GLIB = r"libg(io|tk|dk)-\S+"
_GTK = r"libg[td]k-\S+"
_QT = r"libQt[56]Gui\.so\S*"
_FONTS = r"libfontconfig\.so\S*"
_X11 = r"libX11\.so\S*"
_WEB = r"chrom\S+|electron|libxul\.so|libQt[56]WebEngineCore\S+"
_ANY = r".*"
_GL_KINDS = (
    ("gtk4", r"libgtk-4\S+", False),
    ("qt", _QT, False),
    ("web", _WEB, False),
    ("sdl", r"libSDL\d?-\S+|lib[gG]lfw\S+", False),
    ("linked", r"lib(GL|GLX|EGL|OpenGL|GLESv2|GLEW)\.so\S*", True),
    ("gtk3", r"libgtk-3\S+", False),
)
"""What leads to OpenGL: name, trigger, whether only near the program."""


def _family(  # noqa: PLR0913 # the fields of a rule
    name: str,
    trigger: str,
    folder: str,
    file: str,
    *,
    beside: bool = False,
    near: bool = False,
) -> Family:
    return Family(
        name=name,
        trigger=re.compile(trigger),
        folder=re.compile(folder if beside else rf"(?:.*/)?{folder}"),
        file=re.compile(file),
        beside=beside,
        near=near,
    )


def _gl_families() -> tuple[Family, ...]:
    return tuple(
        family
        for kind, trigger, near in _GL_KINDS
        for family in (
            _family(
                f"glvnd of {kind}",
                trigger,
                r"lib(/[^/]+)?",
                r"lib(GL|GLX|GLX_mesa)\.so\.\d",
                near=near,
            ),
            _family(
                f"mesa-driver of {kind}",
                trigger,
                r"dri",
                r"(swrast|kms_swrast|iris|radeonsi)_dri\.so",
                near=near,
            ),
            _family(
                f"mesa-settings of {kind}",
                trigger,
                r"share/drirc\.d",
                r".*\.conf",
                near=near,
            ),
            _family(
                f"glvnd-egl of {kind}",
                trigger,
                r"lib(/[^/]+)?",
                r"libEGL(_mesa)?\.so\.\d",
                near=near,
            ),
        )
    )


_SYSTEM = (
    _family("c-locale", _ANY, r"usr/lib/locale/C\.utf8(/LC_MESSAGES)?", r"\S*LC_\S+"),
    _family("locale-archive", _ANY, r"usr/lib/locale", r"locale-archive"),
    _family("gconv-cache", _ANY, r"lib/[^/]+/gconv", r"gconv-modules\.cache"),
    _family("loader-cache", _ANY, r"etc", r"ld\.so\.cache"),
    _family("time-zone", _ANY, r"usr/share/zoneinfo/Etc", r"UTC"),
    _family("user-names", _GLIB, r"etc", r"passwd|nsswitch\.conf"),
    _family("machine-id", r"libdbus-1\.so\S*", r"var/lib/dbus|etc", r"machine-id"),
)
_FONT_FILES = (
    _family("font-settings", _FONTS, r"etc/fonts(/conf\.d)?", r".*\.conf"),
    _family("font-templates", _FONTS, r"fontconfig/conf\.avail", r".*\.conf"),
    _family("font-caches", _FONTS, r"var/cache/fontconfig", r".*\.cache-\d+"),
    _family("default-font", _FONTS, r"truetype/dejavu", r"DejaVuSans\.ttf"),
    _family("bold-font", _FONTS, r"truetype/dejavu", r"DejaVuSans-Bold\.ttf"),
    _family("mono-font", _FONTS, r"truetype/dejavu", r"DejaVuSansMono\.ttf"),
    _family(
        "office-fonts",
        r"soffice\.bin",
        r"share/fonts(/.*)?",
        r".*\.(ttf|otf|ttc|pf[ab])",
    ),
    _family(
        "java-fonts",
        r"libfontmanager\.so",
        r"share/fonts(/.*)?",
        r".*\.(ttf|otf|ttc|pf[ab])",
    ),
    _family("other-fonts", _FONTS, r"share/fonts(/.*)?", r".*\.(ttf|otf|ttc|pf[ab])"),
)
_DESKTOP = (
    _family("x11-locale", _QT, r"X11/locale(/en_US\.UTF-8)?", r"XLC_\S+|locale\.\S+"),
    _family(
        "x11-compose",
        r"libSDL\d?-\S+|emacs\S*|libxkbcommon\.so\S*",
        r"X11/locale(/en_US\.UTF-8)?",
        r"XLC_\S+|locale\.\S+|Compose|compose\.dir",
    ),
    _family("cursors", r"libXcursor\.so\S*", r"icons/Adwaita/cursors", r"watch|xterm"),
    _family("glvnd-vendors", r"libEGL\S*", r"glvnd/egl_vendor\.d", r".*\.json"),
    _family("gsettings", _GLIB, r"glib-2\.0/schemas", r"gschemas\.compiled"),
    _family("gio-module-list", _GLIB, r"gio/modules", r"giomodule\.cache"),
    _family("gio-settings", _GLIB, r"gio/modules", r"libdconf\S*\.so"),
    _family("gio-modules", _GLIB, r"gio/modules", r"(?!libdconf).*\.so"),
    _family("mime-cache", _GLIB, r"share/mime", r"mime\.cache"),
)
_GTK_FILES = (
    _family("pixbuf-list", _GTK, r"gdk-pixbuf-2\.0/[^/]+", r"loaders\.cache"),
    _family(
        "gtk4-svg", r"libgtk-4\S*", r"gdk-pixbuf-2\.0/[^/]+/loaders", r".*svg.*\.so"
    ),
    _family(
        "gtk3-svg", r"libgtk-3\S*", r"gdk-pixbuf-2\.0/[^/]+/loaders", r".*svg.*\.so"
    ),
    _family(
        "gtk2-svg", r"libgtk-x11-2\S*", r"gdk-pixbuf-2\.0/[^/]+/loaders", r".*svg.*\.so"
    ),
    _family(
        "pixbuf-loaders", _GTK, r"gdk-pixbuf-2\.0/[^/]+/loaders", r"(?!.*svg).*\.so"
    ),
    _family("gtk-input-list", _GTK, r"gtk-[^/]+/[^/]+", r"immodules\.cache"),
    _family("icon-caches", _GTK, r"share/icons/[^/]+", r"icon-theme\.cache"),
    _family("icon-indices", _GTK + "|" + _QT, r"share/icons/[^/]+", r"index\.theme"),
    _family(
        "source-languages",
        r"libgtksourceview-\S+",
        r"gtksourceview-[^/]+/(language-specs|styles)",
        r".*\.(lang|rng|xml)",
    ),
    _family(
        "spelling", r"libgtksourceview-\S+", r"lib(/[^/]+)?", r"libgspell-1\.so\.\d"
    ),
    _family("gegl-operations", r"libgegl-0\S+", r"gegl-[^/]+", r".*\.so"),
    _family("babl-extensions", r"libbabl-0\S+", r"babl-[^/]+", r".*\.so"),
)
_QT_FILES = (
    _family("qt-platform", _QT, r"plugins/platforms", r"libqxcb\.so"),
    _family("qt-platforms", _QT, r"plugins/platforms", r"libq(?!xcb)\S+\.so"),
    _family("qt-gl", _QT, r"plugins/xcbglintegrations", r".*\.so"),
    _family("qt-images", _QT, r"plugins/imageformats", r".*\.so"),
    _family("qt-icons", _QT, r"plugins/iconengines", r".*\.so"),
    _family("qt-input", _QT, r"plugins/platforminputcontexts", r".*\.so"),
    _family("qt-themes", _QT, r"plugins/(platformthemes|styles)", r".*\.so"),
    _family("qt-bearers", r"libQt5Network\.so\S*", r"plugins/bearer", r".*\.so"),
    _family(
        "qt-databases", r"libQt[56]Sql\.so\S*", r"plugins/sqldrivers", r".*sqlite\.so"
    ),
    _family(
        "kde-text-plugins",
        r"libKF[56]TextEditor\.so\S*",
        r"plugins/ktexteditor",
        r".*\.so",
    ),
    _family("kde-plugins", r"libKF[56]KIO\S*", r"plugins/kf[56]/.*", r".*\.so"),
)
_WEB_FILES = (
    _family("web-engine-code-points", _WEB, r"", r"icudtl\.dat", beside=True),
    _family("web-engine-snapshot", _WEB, r"", r"snapshot_blob\.bin", beside=True),
    _family(
        "web-engine-context-snapshot",
        _WEB,
        r"",
        r"v8_context_snapshot\S*\.bin",
        beside=True,
    ),
    _family("web-engine-resources", _WEB, r"", r".*\.pak", beside=True),
    _family("web-engine-locale", _WEB, r"locales", r"en-US\.pak", beside=True),
    _family(
        "web-engine-crash-reports", _WEB, r"", r"chrome_crashpad_handler", beside=True
    ),
    _family(
        "qt-web-engine-resources",
        r"libQt[56]WebEngineCore\S+",
        r"resources",
        r"qtwebengine_\S+\.pak|icudtl\.dat|v8_context_snapshot\S*\.bin",
    ),
    _family(
        "qt-web-engine-locale",
        r"libQt[56]WebEngineCore\S+",
        r"qtwebengine_locales",
        r"en-US\.pak",
    ),
    _family(
        "qt-web-engine-process",
        r"libQt[56]WebEngineCore\S+",
        r"libexec",
        r"QtWebEngineProcess",
    ),
    _family(
        "web-engine-toolkit", r"chrom\S+|electron", r"lib/[^/]+", r"libgtk-3\.so\.0"
    ),
    _family("electron-code", _ANY, r"resources", r"(electron|app)\.asar", beside=True),
    _family("mozilla-code", _ANY, r"", r"libxul\.so", beside=True),
    _family(
        "mozilla-libraries",
        r"libxul\.so",
        r"",
        r"lib(moz|nss|ssl|soft)\S+\.so",
        beside=True,
    ),
    _family(
        "mozilla-resources", r"libxul\.so", r"(browser)?", r"omni\.ja", beside=True
    ),
)
_OFFICE = (
    _family("office-settings", r"soffice\.bin", r"libreoffice/registry", r".*\.xcd"),
    _family("office-types", r"soffice\.bin", r"types", r".*\.rdb", beside=True),
    _family(
        "office-services",
        r"soffice\.bin",
        r"(services)?",
        r"(services|types)\.rdb",
        beside=True,
    ),
    _family(
        "office-toolkit", r"soffice\.bin", r"", r"libvclplug_gtk3lo\.so", beside=True
    ),
    _family(
        "office-parts",
        r"soffice\.bin",
        r"",
        r"lib(gcc3_uno|stocserviceslo|sal_textenclo|localedata_en|expwraplo)\.so",
        beside=True,
    ),
    _family(
        "office-calc",
        r"--calc|[ls]o?calc",
        r"\w*office\d*/program",
        r"lib(sc|scfilt|oox)lo\.so",
    ),
    _family(
        "office-writer",
        r"--writer|[ls]o?writer",
        r"\w*office\d*/program",
        r"libswlo\.so",
    ),
    _family(
        "office-impress",
        r"--impress|[ls]o?impress",
        r"\w*office\d*/program",
        r"libsdlo\.so",
    ),
)
_JAVA = (
    _family("java-machine", r"java", r".*/lib/server", r"libjvm\.so"),
    _family("java-archive", r"java", r".*/lib/server", r"classes\.jsa"),
    _family("java-modules", r"java", r".*jvm/.*/lib", r"modules"),
    _family(
        "java-libraries",
        r"java",
        r".*jvm/.*/lib",
        r"lib(java|jimage|jli|net|nio|zip|jsvml)\.so",
    ),
    _family(
        "java-window-libraries",
        r"java",
        r".*jvm/.*/lib",
        r"lib(awt|awt_xawt|fontmanager|freetype)\.so",
    ),
    _family(
        "java-other-libraries",
        r"java",
        r".*jvm/.*/lib",
        r"lib(verify|mlib_image|lcms|prefs|management\w*|extnet|javajpeg)\.so",
    ),
    _family(
        "java-font-library",
        r"libfontmanager\.so",
        r"lib(/[^/]+)?",
        r"libfontconfig\.so\.\d",
    ),
)
_OTHER_RUNTIMES = (
    _family("lisp-dump", r"emacs\S*", r"libexec/emacs/.*", r"emacs.*\.pdmp"),
    _family("lisp-code", r"emacs\S*", r"native-lisp/.*/preloaded", r".*\.eln"),
    *(
        _family("tex-format", engine, r"web2c(/.*)?", rf"{engine}\.fmt")
        for engine in ("pdflatex", "latex", "lualatex", "xelatex", "pdftex", "tex")
    ),
    _family("tex-settings", r"\w*tex", r"(texmf\S*|web2c)", r"texmf\.cnf|ls-R\S*"),
    _family("r-library", r"R|Rscript", r"lib/R/lib", r"libR\.so"),
    _family(
        "r-packages",
        r"R|Rscript",
        r"R/library/(base|methods|datasets|utils|grDevices|graphics|stats)"
        r"/(R|Meta|libs)",
        r"(?!cairo)\S+\.(rdb|rdx|rds|so)"
        r"|(base|stats|utils|methods|graphics|grDevices|datasets)",
    ),
    _family("sound-settings", r"libasound\.so\S*", r"share/alsa(/.*)?", r".*\.conf"),
    _family("sdl-devices", r"libSDL\d?-\S+", r"lib(/[^/]+)?", r"libudev\.so\.\d"),
    _family("node-certificates", r"node", r"etc/ssl/certs", r"ca-certificates\.crt"),
)

FAMILIES: tuple[Family, ...] = (
    *_SYSTEM,
    *_gl_families(),
    *_FONT_FILES,
    *_DESKTOP,
    *_GTK_FILES,
    *_QT_FILES,
    *_WEB_FILES,
    *_OFFICE,
    *_JAVA,
    *_OTHER_RUNTIMES,
)
"""All rules; where several name one file, the first counts."""

WINDOW_FAMILIES = frozenset(
    family.name
    for families in (_gl_families(), _FONT_FILES, _DESKTOP, _GTK_FILES, _QT_FILES)
    for family in families
)
"""Rules of what a program reads only if it opens a window."""

TOOLKIT = re.compile(
    rf"{_GTK}|{_QT}|libwx_gtk\S+|libtk\d\S*|libfltk\S*|libvclplug\S+|libawt_xawt\.so"
    r"|chrom\S+|electron|libxul\.so|soffice\.bin"
)
"""Libraries that are linked to open windows, whoever links them, and such programs."""

WINDOW_SYSTEM = re.compile(
    r"libSDL\d?-\S+|lib[gG]lfw\S+|libX11\.so\S*|libxcb\.so\S*|libwayland-client\.so\S*"
)
"""Libraries that say so where the program links them itself: those of codecs and of
number crunchers link them too, for what a command-line tool doesn't use."""
