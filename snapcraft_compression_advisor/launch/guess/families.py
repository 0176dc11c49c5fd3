"""What toolkits and runtimes open beyond their libraries, and what they are called.

If a launch maps a library, or starts a program, of a rule's name, it also opens the
files of that name in that folder. The rules are in ``families.yaml``; which share of
their files is read is fitted (:mod:`.priors`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ...core.files import read_table
from ...squashfs.entry import EntryKind
from .runtimes import RUNTIMES, UNKNOWN
from .traits import TRAITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...payload.inventory import Entry
    from .runtimes.runtime import Trigger


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a regular expression of a table, compiled once and only if it is needed.

    Most rules' files aren't looked for: no launch starts every toolkit.
    """
    return re.compile(pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A rule, with the texts of its regular expressions (:func:`compiled`).

    :param trigger: what the name of a mapped library or started program matches, or
        one word of a command.
    :param folder: what the files' directory matches, relative to the payload.
    :param file: what their names match.
    :param beside: whether ``folder`` is relative to the directory of the trigger.
    :param near: whether only a started program or what it links itself triggers it.
    :param opens: whether only what would open windows (:attr:`Trigger.opens`) does.
    :param window: whether a program reads the files only if it opens a window.
    """

    name: str
    trigger: str
    folder: str
    file: str
    beside: bool = False
    near: bool = False
    opens: bool = False
    window: bool = False


@cache
def all_families() -> tuple[Family, ...]:
    """Return all rules; if several name one file, the first counts."""
    return tuple(
        family
        for section, groups in read_table(__package__, "families.yaml").items()
        for group in groups
        for family in _families(window=section == "window", **group)
    )


def _families(
    trigger: str,
    opened: Mapping[str, Sequence[str]],
    of: str = "",
    *,
    beside: bool = False,
    **limits: bool,
) -> Iterator[Family]:
    for name, (folder, file) in opened.items():
        yield Family(
            name=f"{name} of {of}" if of else name,
            trigger=trigger,
            folder=folder if beside else rf"(?:.*/)?{folder}",
            file=file,
            beside=beside,
            **limits,
        )


def files_named_by(
    triggers: Iterable[Trigger], folders: Mapping[str, Sequence[Entry]]
) -> Iterator[tuple[Family, Entry]]:
    """Yield what rules name, links among it.

    :param folders: of a payload, with what is in each.
    """
    known: dict[str, list[Trigger]] = defaultdict(list)
    for trigger in triggers:
        known[trigger.name].append(trigger)
    for family in all_families():
        places = {
            trigger.folder
            for name in filter(compiled(family.trigger).fullmatch, known)
            for trigger in known[name]
            if trigger.near or not family.near
            if trigger.opens or not family.opens
        }
        for folder in _folders_of(family, places, folders) if places else ():
            for entry in folders.get(folder, ()):
                name = entry.path.rpartition("/")[2]
                named = compiled(family.file).fullmatch(name)
                if named and entry.kind is not EntryKind.DIRECTORY:
                    yield family, entry


def _folders_of(
    family: Family, places: set[str], folders: Mapping[str, Sequence[Entry]]
) -> Iterator[str]:
    """Yield the directories that a rule names, also empty ones.

    :param places: directories of its triggers.
    """
    named = compiled(family.folder)
    if not family.beside:
        yield from filter(named.fullmatch, folders)
        return
    for folder in sorted(places):
        if named.fullmatch(""):
            yield folder
        for entry in folders.get(folder, ()):
            name = entry.path.rpartition("/")[2]
            if entry.kind is EntryKind.DIRECTORY and named.fullmatch(name):
                yield entry.path


TOOLKIT = re.compile(
    r"libg[td]k-\S+|libQt[56]Gui\.so\S*"
    r"|libwx_gtk\S+|libtk\d\S*|libfltk\S*|libvclplug\S+|libawt_xawt\.so"
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
    """Return whether a library, by its name, opens windows or is below those."""
    name = path.rpartition("/")[2]
    return bool(TOOLKIT.fullmatch(name) or WINDOW_SYSTEM.fullmatch(name))


_CHROMIUM = (
    r"chrom\S+|electron|(resources|headless_lib_data)\.pak|libcef\.so"
    r"|libQt[56]WebEngineCore\S+"
)
_WINDOW_KINDS = (
    ("LibreOffice", r"soffice\.bin"),
    ("Mozilla", r"libxul\.so"),
    ("Flutter", r"libflutter_linux\S*\.so"),
    ("Chromium engine", _CHROMIUM),
    ("Java", r"java|libjvm\.so"),
    ("GTK 4", r"libgtk-4\S+"),
    ("GTK 3", r"libgtk-3\S+"),
    ("GTK 2", r"libgtk-x11-2\S+"),
    ("Qt", r"libQt[56]Gui\S+"),
    ("SDL", r"libSDL\d?-\S+"),
    ("Tk", r"libtk\d\S*"),
)
_RUNTIME_KINDS = tuple((each.kind, each.mapped) for each in reversed(RUNTIMES))
PROGRAM = "plain program"
OTHER_WINDOW = "other program with windows"
UNREACHED_PROGRAM = "program behind a launcher that isn't followed"
WITHOUT_SCRIPT = "run time without a script"


def application_kind(
    triggers: Iterable[Trigger], *, window: bool, followed: bool
) -> str:
    """Return the kind: the toolkit of what opens windows, the run time of others.

    :param triggers: programs started, and all libraries mapped.
    :param window: whether it seems to open windows.
    :param followed: whether every program started is known.
    """
    names = {trigger.name for trigger in triggers if not trigger.optional}
    for kind, mapped in _WINDOW_KINDS if window else _RUNTIME_KINDS:
        if any(map(compiled(mapped).fullmatch, names)):
            return kind
    for trait in () if window else TRAITS:
        if trait in names:
            return trait
    if not followed:
        return UNKNOWN
    return OTHER_WINDOW if window else PROGRAM
