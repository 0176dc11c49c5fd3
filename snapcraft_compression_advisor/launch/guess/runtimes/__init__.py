"""The runtimes that a guess knows.

What each opens by itself is in ``families.yaml``; what an app's programs load is found
by a function each, in modules that few apps need.
"""

import re

from .runtime import Runtime

UNKNOWN = "script in a language that isn't followed"

RUNTIMES = (
    Runtime(
        kind="Python",
        mapped=r"python[\d.]*",
        libraries=r"libpython[\d.]*(?:\.so\S*)?",
        loader="python.search:loads",
        interpreter="python",
        main_file="__main__.py",
        tells_all=True,
    ),
    Runtime(
        kind="Perl",
        mapped=r"perl[\d.]*|libperl\.so\S*",
        loader="script_modules:PERL.loads",
        by_files=True,
        interpreter="perl",
    ),
    Runtime(
        kind="Ruby",
        mapped=r"ruby[\d.]*|libruby\S+",
        loader="script_modules:RUBY.loads",
        by_files=True,
        interpreter="ruby",
    ),
    Runtime(
        kind="R",
        mapped=r"R|Rscript|libR\.so",
    ),
    Runtime(
        kind="GJS",
        mapped=r"gjs(?:-console)?|libgjs\.so\S*",
        loader="gobject:loads",
        interpreter="gjs",
        tells_all=True,
    ),
    Runtime(
        kind=UNKNOWN,
        mapped=r"(?:tclsh|wish|expect|lua(?:jit)?|love|escript|erl|erlexec|iex|elixir)"
        r"(?:-?\d[\d.]*)?",
        main_file="main.lua",
    ),
    Runtime(
        kind="QML",
        mapped=r"qml(?:scene)?(?:6|-qt\d)?",
        libraries=r"libQt[56]Qml\.so\S*",
        loader="qml:loads",
    ),
    Runtime(
        kind="VLC",
        mapped=r"[cq]?vlc",
        libraries=r"libvlc(?:core)?\.so\S*",
        loader="machines:vlc",
    ),
    Runtime(
        kind=".NET",
        mapped=r"(?:mono|cli)(?:-sgen|-boehm)?|libmono\S*\.so\S*"
        r"|dotnet|lib(?:hostfxr|coreclr)\.so",
        loader="machines:dotnet",
        by_files=True,
        interpreter="mono",
    ),
    Runtime(
        kind="Node",
        mapped=r"node(?:js)?|libnode\.so\S*",
        loader="node:loads",
        interpreter="node",
    ),
    Runtime(
        kind="Chromium engine",
        # Only Chromium's own libraries of OpenGL have no number.
        mapped=r"electron|headless_shell|headless_lib\S+\.pak|lib(cef|GLESv2)\.so",
        loader="electron:loads",
        by_files=True,
    ),
    Runtime(
        kind="Java",
        mapped=r"java|libjvm\.so",
        loader="machines:java",
        interpreter="java",
    ),
)
"""In the order in which their programs are followed. The last one that an app runs is
its kind: a wrapper in Python that starts Java makes it an application in Java."""


def runtime_of(name: str) -> Runtime | None:
    """Return the runtime whose interpreter has this name, if there is one."""
    for each in RUNTIMES:
        if re.fullmatch(each.mapped, name) or (name and each.interpreter == name):
            return each
    return None
