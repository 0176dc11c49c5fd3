"""The rules of single applications' kinds and libraries, which open files of their own.

The rules of toolkits are in :mod:`.family_table`.
"""

from __future__ import annotations

from .families import opened_by

_GUILE_CORE = (
    r"(boot-9|eval|psyntax-pp|ports|threads|posix|networking|deprecated|regex|vlist"
    r"|control|copy-tree|exceptions|match|receive|q)\.go"
)
_GUILE = r"(goops|bytevectors|srfi-(1|4|9|11|16)|debug|dwarf|elf|program)\.go"

OTHERS = (
    *opened_by(
        r"emacs\S*",
        ("lisp-dump", r"libexec/emacs/.*", r"emacs.*\.pdmp"),
        ("lisp-code", r"native-lisp/.*/preloaded", r".*\.eln"),
    ),
    *(
        family
        for engine in ("pdflatex", "latex", "lualatex", "xelatex", "pdftex", "tex")
        for family in opened_by(
            engine, ("tex-format", r"web2c(/.*)?", rf"{engine}\.fmt")
        )
    ),
    *opened_by(r"\w*tex", ("tex-settings", r"(texmf\S*|web2c)", r"texmf\.cnf|ls-R\S*")),
    *opened_by(
        r"libasound\.so\S*", ("sound-settings", r"share/alsa(/.*)?", r".*\.conf")
    ),
    *opened_by(
        r"libgstreamer-1\S+",
        ("gstreamer-core", r"gstreamer-1\.0", r"libgst(coreelements|playback)\.so"),
    ),
    *opened_by(
        r".*",
        ("godot-pack", r"", r".+\.pck"),
        ("unity-data", r"[^/]+_Data", r"globalgamemanagers\S*|boot\.config|level0"),
        ("unity-assets", r"[^/]+_Data", r"(resources|sharedassets0)\.assets\S*"),
        beside=True,
    ),
    *opened_by(
        r"globalgamemanagers",
        ("unity-code", r"Managed", r"(Assembly-CSharp|mscorlib|Unity\S+)\.dll"),
        ("unity-resources", r"Resources", r"unity\S*|UnityPlayer\S*"),
        beside=True,
    ),
    # Since 2022, distributions ship an interface to SDL 2 in place of SDL 1.
    *opened_by(
        r"libSDL-1\.2\.so\.1\S*",
        ("sdl-compatible", r"lib(/[^/]+)?", r"libSDL2-2\.0\.so\.0"),
    ),
    *opened_by(r"libSDL\d?-\S+", ("sdl-devices", r"lib(/[^/]+)?", r"libudev\.so\.\d")),
    *opened_by(
        r"liballeg\S*", ("allegro-modules", r"allegro/[^/]+", r"modules\.lst|.*\.so")
    ),
    *opened_by(
        r"libgnustep-gui\S*",
        ("gnustep-backend", r"GNUstep/Bundles/[^/]+\.bundle", r"libgnustep-\S+"),
        ("gnustep-settings", r"GNUstep(/Bundles/.*)?", r".*\.(conf|plist)"),
        # It asks for all formats of images as it starts, and so loads all coders.
        ("gnustep-images", r"ImageMagick-[^/]+/modules-[^/]+/coders", r".*\.(so|la)"),
        ("gnustep-tools", r"usr/bin", r"dpkg-architecture|dpkg|perl|dash"),
    ),
    *opened_by(
        r"php[\d.]*",
        ("php-extensions", r"lib/php/\d+", r".*\.so"),
        ("php-settings", r"etc/php/[^/]+/cli(/conf\.d)?", r".*\.ini"),
    ),
    *opened_by(
        r"libguile-\d\S*",
        ("guile-core", r"guile/[\d.]+/ccache/ice-9", _GUILE_CORE),
        ("guile-modules", r"guile/[\d.]+/ccache/(oop|rnrs|srfi|system/vm)", _GUILE),
        (
            "guile-compiler",
            r"guile/[\d.]+/ccache/language/(scheme|tree-il)",
            r"(spec|tree-il|primitives|(de)?compile-tree-il)\.go",
        ),
        near=True,
    ),
    *(
        family
        for near, of in ((True, ""), (False, " of libraries"))
        for family in opened_by(
            r"libmpi\.so\S*",
            (f"mpi-components{of}", r"openmpi\d*", r"mca_.*\.so"),
            (f"mpi-exchange{of}", r"pmix\d*/lib(/pmix)?", r"(libpmix|pmix_).*\.so\S*"),
            (f"mpi-topology{of}", r"hwloc", r"hwloc_.*\.so"),
            near=near,
        )
    ),
    *opened_by(
        r"libecore\S*",
        (
            "efl-modules",
            r"(ecore|ecore_evas|ecore_imf|edje|evas|elementary)/.*",
            r"module\.so",
        ),
        ("efl-theme", r"share/elementary/(config(/.*)?|themes)", r".*\.(cfg|edj)"),
    ),
)
