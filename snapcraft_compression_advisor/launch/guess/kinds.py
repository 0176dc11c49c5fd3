"""What kind of application a launch is of, for how far a guess of it can be trusted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcraft_compression_advisor.launch.guess.families import Trigger

_WINDOW_KINDS = (
    ("LibreOffice", r"soffice\.bin"),
    ("Mozilla", r"libxul\.so"),
    ("Chromium engine", r"chrom\S+|electron|libQt[56]WebEngineCore\S+"),
    ("Java", r"java|libjvm\.so"),
    ("GTK 4", r"libgtk-4\S+"),
    ("GTK 3", r"libgtk-3\S+"),
    ("GTK 2", r"libgtk-x11-2\S+"),
    ("Qt", r"libQt[56]Gui\S+"),
    ("SDL", r"libSDL\d?-\S+"),
    ("Tk", r"libtk\d\S*"),
)
_KINDS = (
    ("Java", r"java|libjvm\.so"),
    ("Node", r"node(?:js)?|libnode\.so\S*"),
    ("R", r"R|Rscript|libR\.so"),
    ("Ruby", r"ruby[\d.]*|libruby\S+"),
    ("Perl", r"perl[\d.]*|libperl\.so\S*"),
    ("Python", r"python\d[\d.]*"),
)
PROGRAM = "plain program"
OTHER_WINDOW = "other program with windows"
UNKNOWN = "script in a language that isn't followed"

_WINDOW_PATTERNS = tuple((name, re.compile(text)) for name, text in _WINDOW_KINDS)
_PATTERNS = tuple((name, re.compile(text)) for name, text in _KINDS)


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
        if trigger.folder or ".so" in trigger.name  # one of a content snap
    }
    for kind, pattern in _WINDOW_PATTERNS if window else _PATTERNS:
        if any(pattern.fullmatch(name) for name in names):
            return kind
    if not followed:
        return UNKNOWN
    return OTHER_WINDOW if window else PROGRAM
