"""The runtimes that a guess knows, and what each opens by itself.

What an app's programs load is found by a module each, which few apps need.
"""

import re

from ..families import opened_by
from .runtime import Runtime

_LUA = r"(?:lua(?:jit)?(?:-?\d[\d.]*)?|love(?:-?\d[\d.]*)?)"
_R_PACKAGES = "base|methods|datasets|utils|grDevices|graphics|stats"
_TK_SCRIPTS = (
    "tk|button|entry|icons|listbox|menu|panedwindow|scale|scrlbar|spinbox|tearoff|text"
)
_MONO = r"(?:mono|cli)(?:-sgen|-boehm)?|libmono\S*\.so\S*"
_NET_CORE = r"shared/Microsoft\.NETCore\.App/[^/]+"
_ERLANG = r"escript|erl|erlexec|iex|elixir"
_ERLANG_LIBRARY = (
    r"(beam_lib|epp|erl_(anno|eval|features|lint|parse|scan)|escript|ets|file\w+|gb_\w+"
    r"|gen\w*|io\w*|lists|maps|proc_lib|proplists|queue|supervisor\w*|unicode)\.beam"
)
_JAVA_LIBRARIES = r"(.*/)?lib"

RUNTIMES = (
    Runtime(
        kind="Python",
        mapped=re.compile(r"python[\d.]*"),
        interpreter="python",
        main_file="__main__.py",
        libraries=re.compile(r"libpython[\d.]*(?:\.so\S*)?"),
        module="python.search",
        tells_all=True,
    ),
    Runtime(
        kind="Perl",
        mapped=re.compile(r"perl[\d.]*|libperl\.so\S*"),
        interpreter="perl",
        scripts=(("perl", ".pl"),),
        module="perl",
    ),
    Runtime(
        kind="Ruby",
        mapped=re.compile(r"ruby[\d.]*|libruby\S+"),
        interpreter="ruby",
        scripts=(("ruby", ".rb"),),
        module="ruby",
    ),
    Runtime(
        kind="R",
        mapped=re.compile(r"R|Rscript|libR\.so"),
        families=opened_by(
            r"R|Rscript",
            ("r-library", r"lib/R/lib", r"libR\.so"),
            (
                "r-packages",
                rf"R/library/({_R_PACKAGES})/(R|Meta|libs)",
                rf"(?!cairo)\S+\.(rdb|rdx|rds|so)|({_R_PACKAGES})",
            ),
        ),
        starts={"Rscript": (r"usr/(?:local/)?lib(?:64)?/R/bin/(?:exec/)?R",)},
    ),
    Runtime(
        kind="GJS",
        mapped=re.compile(r"gjs(?:-console)?|libgjs\.so\S*"),
        interpreter="gjs",
        module="gjs",
        tells_all=True,
    ),
    Runtime(
        kind="Tcl",
        mapped=re.compile(r"(?:tclsh|wish|expect|itclsh|itkwish)[\d.]*"),
        interpreter="tclsh",
        families=(
            *opened_by(
                r"libtcl\d\S*",
                (
                    "tcl-scripts",
                    r"(tcltk/)?tcl\d\.\d",
                    r"(init|auto|tm|word)\.tcl|tclIndex",
                ),
                ("tcl-messages", r"tcl\d\.\d/tcl\d", r"msgcat-\S+\.tm"),
                ("tcl-encodings", r"tcl\d\.\d/encoding", r"(iso8859-1|symbol)\.enc"),
            ),
            *opened_by(
                r"libtk\d\S*",
                ("tk-scripts", r"tk\d\.\d", rf"({_TK_SCRIPTS})\.tcl|tclIndex"),
                ("tk-themes", r"tk\d\.\d/ttk", r"(?!aqua|vista|xp|win)\w+\.tcl"),
            ),
        ),
        scripts=(("tclsh", ".tcl"), ("wish", ".tcl"), ("expect", ".tcl")),
        module="tcl",
    ),
    Runtime(
        kind="Lua",
        mapped=re.compile(rf"{_LUA}|liblove\S*\.so\S*"),
        interpreter="lua",
        main_file="main.lua",
        scripts=(("lua", ".lua"),),
        module="lua",
    ),
    Runtime(
        kind="QML",
        mapped=re.compile(r"qml(?:scene)?(?:6|-qt\d)?"),
        libraries=re.compile(r"libQt[56]Qml\.so\S*"),
        module="qml",
    ),
    Runtime(
        kind="VLC",
        mapped=re.compile(r"[cq]?vlc"),
        libraries=re.compile(r"libvlc(?:core)?\.so\S*"),
        module="vlc",
    ),
    Runtime(
        kind=".NET",
        mapped=re.compile(rf"{_MONO}|dotnet|lib(?:hostfxr|coreclr)\.so"),
        interpreter="mono",
        families=(
            *opened_by(
                r".*",
                ("net-settings", r"", r".+\.(deps|runtimeconfig)\.json"),
                ("net-machine", r"", r"lib(hostfxr|hostpolicy|coreclr|clrjit)\.so"),
                ("net-libraries", r"", r"libSystem\.Native\.so"),
                beside=True,
            ),
            *opened_by(
                r"dotnet",
                ("net-machine", r"host/fxr/[^/]+", r"libhostfxr\.so"),
                ("net-machine", _NET_CORE, r"lib(hostpolicy|coreclr|clrjit)\.so"),
                ("net-libraries", _NET_CORE, r"libSystem\.Native\.so"),
            ),
            *opened_by(
                _MONO,
                ("mono-settings", r"etc/mono(/\d\.\d)?", r"config|machine\.config"),
                (
                    "mono-native",
                    r"lib(/[^/]+)?",
                    r"lib(mono-native|MonoSupportW)\.so\S*",
                ),
            ),
        ),
        files=(".dll", ".exe"),
        module="dotnet",
    ),
    Runtime(
        kind="Erlang",
        mapped=re.compile(_ERLANG),
        interpreter="escript",
        families=opened_by(
            _ERLANG,
            (
                "erlang-machine",
                r"erlang/erts-[^/]+/bin",
                r"beam\.smp|erlexec|erl_child_setup|inet_gethost",
            ),
            (
                "erlang-start",
                r"erlang/bin",
                r"erl|(start|start_clean|no_dot_erlang)\.boot",
            ),
            ("erlang-kernel", r"erlang/lib/kernel-[^/]+/ebin", r".*\.beam"),
            ("erlang-library", r"erlang/lib/stdlib-[^/]+/ebin", _ERLANG_LIBRARY),
        ),
        # A module is loaded when one of its functions is first called.
        scripts=(("escript", ".escript"),),
    ),
    Runtime(
        kind="Node",
        mapped=re.compile(r"node(?:js)?|libnode\.so\S*"),
        interpreter="node",
        families=opened_by(
            r"node", ("node-certificates", r"etc/ssl/certs", r"ca-certificates\.crt")
        ),
        module="node",
    ),
    Runtime(
        kind="Chromium engine",
        # Only Chromium's own libraries of OpenGL have no number.
        mapped=re.compile(
            r"electron|headless_shell|headless_lib\S+\.pak|lib(cef|GLESv2)\.so"
        ),
        files=(".asar",),
        module="electron",
    ),
    Runtime(
        kind="Java",
        mapped=re.compile(r"java|libjvm\.so"),
        interpreter="java",
        families=(
            *opened_by(
                r"java",
                ("java-machine", r".*/lib/server", r"libjvm\.so"),
                ("java-archive", r".*/lib/server", r"classes\.jsa"),
                (
                    "java-settings",
                    rf"{_JAVA_LIBRARIES}|.*/conf(/security)?",
                    r"jvm\.cfg|java\.security",
                ),
                ("java-modules", _JAVA_LIBRARIES, r"modules"),
                (
                    "java-libraries",
                    _JAVA_LIBRARIES,
                    r"lib(java|jimage|jli|net|nio|zip|jsvml)\.so",
                ),
                (
                    "java-window-libraries",
                    _JAVA_LIBRARIES,
                    r"lib(awt|awt_xawt|fontmanager|freetype)\.so",
                ),
                (
                    "java-other-libraries",
                    _JAVA_LIBRARIES,
                    r"lib(verify|mlib_image|lcms|prefs|management\w*|extnet|javajpeg)\.so",
                ),
            ),
            *opened_by(
                r"libfontmanager\.so",
                ("java-font-library", r"lib(/[^/]+)?", r"libfontconfig\.so\.\d"),
            ),
        ),
        starts={"java-wrappers.sh": (r"usr/lib/jvm/[^/]+/bin/java",)},
        module="java",
    ),
)
"""In the order in which their programs are followed. The last one that an app runs is
its kind: a wrapper in Python that starts Java makes it an application in Java."""
