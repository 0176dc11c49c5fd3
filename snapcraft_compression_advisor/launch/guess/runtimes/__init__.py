"""The runtimes that a guess knows: one module each."""

from . import (
    dotnet,
    electron,
    erlang,
    gjs,
    java,
    lua,
    node,
    perl,
    python,
    qml,
    r,
    ruby,
    tcl,
    vlc,
)

RUNTIMES = (
    python.RUNTIME,
    perl.RUNTIME,
    ruby.RUNTIME,
    r.RUNTIME,
    gjs.RUNTIME,
    tcl.RUNTIME,
    lua.RUNTIME,
    qml.RUNTIME,
    vlc.RUNTIME,
    dotnet.RUNTIME,
    erlang.RUNTIME,
    node.RUNTIME,
    electron.RUNTIME,
    java.RUNTIME,
)
"""In the order in which their programs are followed. The last one that an app runs is
its kind: a wrapper in Python that starts Java makes it an application in Java."""
