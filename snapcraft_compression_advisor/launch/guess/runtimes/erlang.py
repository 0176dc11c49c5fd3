"""Erlang programs: the virtual machine, and the modules that it starts with.

A module is loaded when one of its functions is first called, so what else a program
loads isn't known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...launch_set import BlindSpot
from ..families import opened_by
from .runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .runtime import StartedApp

_MAPPED = re.compile(r"escript|erl|erlexec|iex|elixir")

_LIBRARY = (
    r"(beam_lib|epp|erl_(anno|eval|features|lint|parse|scan)|escript|ets|file\w+|gb_\w+"
    r"|gen\w*|io\w*|lists|maps|proc_lib|proplists|queue|supervisor\w*|unicode)\.beam"
)


def _loads(app: StartedApp) -> Iterator[BlindSpot]:
    for script in app.scripts("escript", ".escript"):
        yield BlindSpot(reason="computed-import", where=script.path)


RUNTIME = Runtime(
    kind="Erlang",
    mapped=_MAPPED,
    interpreter="escript",
    families=opened_by(
        _MAPPED.pattern,
        (
            "erlang-machine",
            r"erlang/erts-[^/]+/bin",
            r"beam\.smp|erlexec|erl_child_setup|inet_gethost",
        ),
        ("erlang-start", r"erlang/bin", r"erl|(start|start_clean|no_dot_erlang)\.boot"),
        ("erlang-kernel", r"erlang/lib/kernel-[^/]+/ebin", r".*\.beam"),
        (
            "erlang-library",
            r"erlang/lib/stdlib-[^/]+/ebin",
            _LIBRARY,
        ),
    ),
    loads=_loads,
)
