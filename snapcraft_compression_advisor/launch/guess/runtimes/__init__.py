"""The runtimes that a guess knows.

What each opens by itself is in ``families.yaml``; what an app's programs load is found
by a module each, which few apps need.
"""

import re

from .runtime import Runtime

_LUA = r"(?:lua(?:jit)?(?:-?\d[\d.]*)?|love(?:-?\d[\d.]*)?)"

RUNTIMES = (
    Runtime(
        kind="Python",
        mapped=re.compile(r"python[\d.]*"),
        interpreter="python",
        main_file="__main__.py",
        libraries=re.compile(r"libpython[\d.]*(?:\.so\S*)?"),
        loader="python.search:loads",
        tells_all=True,
    ),
    Runtime(
        kind="Perl",
        mapped=re.compile(r"perl[\d.]*|libperl\.so\S*"),
        interpreter="perl",
        scripts=(("perl", ".pl"),),
        loader="script_modules:PERL.loads",
    ),
    Runtime(
        kind="Ruby",
        mapped=re.compile(r"ruby[\d.]*|libruby\S+"),
        interpreter="ruby",
        scripts=(("ruby", ".rb"),),
        loader="script_modules:RUBY.loads",
    ),
    Runtime(
        kind="R",
        mapped=re.compile(r"R|Rscript|libR\.so"),
        starts={"Rscript": (r"usr/(?:local/)?lib(?:64)?/R/bin/(?:exec/)?R",)},
    ),
    Runtime(
        kind="GJS",
        mapped=re.compile(r"gjs(?:-console)?|libgjs\.so\S*"),
        interpreter="gjs",
        loader="gjs:loads",
        tells_all=True,
    ),
    Runtime(
        kind="Tcl",
        mapped=re.compile(r"(?:tclsh|wish|expect|itclsh|itkwish)[\d.]*"),
        interpreter="tclsh",
        scripts=(("tclsh", ".tcl"), ("wish", ".tcl"), ("expect", ".tcl")),
        loader="tcl:loads",
    ),
    Runtime(
        kind="Lua",
        mapped=re.compile(rf"{_LUA}|liblove\S*\.so\S*"),
        interpreter="lua",
        main_file="main.lua",
        scripts=(("lua", ".lua"),),
        loader="script_modules:LUA.loads",
    ),
    Runtime(
        kind="QML",
        mapped=re.compile(r"qml(?:scene)?(?:6|-qt\d)?"),
        libraries=re.compile(r"libQt[56]Qml\.so\S*"),
        loader="qml:loads",
    ),
    Runtime(
        kind="VLC",
        mapped=re.compile(r"[cq]?vlc"),
        libraries=re.compile(r"libvlc(?:core)?\.so\S*"),
        loader="machines:vlc",
    ),
    Runtime(
        kind=".NET",
        mapped=re.compile(
            r"(?:mono|cli)(?:-sgen|-boehm)?|libmono\S*\.so\S*"
            r"|dotnet|lib(?:hostfxr|coreclr)\.so"
        ),
        interpreter="mono",
        files=(".dll", ".exe"),
        loader="machines:dotnet",
    ),
    Runtime(
        kind="Erlang",
        mapped=re.compile(r"escript|erl|erlexec|iex|elixir"),
        interpreter="escript",
        # A module is loaded when one of its functions is first called.
        scripts=(("escript", ".escript"),),
    ),
    Runtime(
        kind="Node",
        mapped=re.compile(r"node(?:js)?|libnode\.so\S*"),
        interpreter="node",
        loader="node:loads",
    ),
    Runtime(
        kind="Chromium engine",
        # Only Chromium's own libraries of OpenGL have no number.
        mapped=re.compile(
            r"electron|headless_shell|headless_lib\S+\.pak|lib(cef|GLESv2)\.so"
        ),
        files=(".asar",),
        loader="electron:loads",
    ),
    Runtime(
        kind="Java",
        mapped=re.compile(r"java|libjvm\.so"),
        interpreter="java",
        starts={"java-wrappers.sh": (r"usr/lib/jvm/[^/]+/bin/java",)},
        loader="machines:java",
    ),
)
"""In the order in which their programs are followed. The last one that an app runs is
its kind: a wrapper in Python that starts Java makes it an application in Java."""


def runtime_of(name: str) -> Runtime | None:
    """Return the runtime whose interpreter has this name, if there is one."""
    known = (
        each
        for each in RUNTIMES
        if each.mapped.fullmatch(name) or (name and each.interpreter == name)
    )
    return next(known, None)
