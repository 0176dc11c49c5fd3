"""All rules of what launches open, and the kinds of applications.

Rules of toolkits and applications are in ``families.yaml``, those of a language in its
module of :mod:`.runtimes`.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from .families import compiled, rules_of_file
from .runtimes import RUNTIMES
from .traits import TRAITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .families import Family, Trigger

_GTK = r"libg[td]k-\S+"
_QT = r"libQt[56]Gui\.so\S*"
_QT_WEB = r"libQt[56]WebEngineCore\S+"
_CHROMIUM = r"chrom\S+|electron|(resources|headless_lib_data)\.pak|libcef\.so"
_FLUTTER = r"libflutter_linux\S*\.so"
_OFFICE_PROGRAM = r"soffice\.bin"


@cache
def all_families() -> tuple[Family, ...]:
    """Return all rules; if several name one file, the first counts."""
    of_file = rules_of_file()
    runtimes = chain.from_iterable(runtime.families for runtime in RUNTIMES)
    toolkits = (*of_file["system"], *of_file["window"], *of_file["engines"])
    return (*toolkits, *runtimes, *of_file["others"])


@cache
def window_families() -> frozenset[str]:
    """Return the names of rules of what a program reads only if it opens a window."""
    return frozenset(family.name for family in rules_of_file()["window"])


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
