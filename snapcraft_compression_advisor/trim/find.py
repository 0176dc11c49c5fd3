"""Files that a snap needn't ship, each with the reason, and what may still need it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..payload.copies import loader_libraries
from ..payload.elf import BrokenElfError, elf_of
from ..payload.elf_symbols import exported_symbols
from ..payload.inventory import Entry
from ..payload.source import Payload
from ..payload.survey import Survey

Reason = Literal[
    "supplied-libraries",
    "older-versions",
    "debug-symbols",
    "static-libraries",
    "development-files",
    "documentation",
    "package-caches",
    "other-architectures",
    "translations",
    "themes",
]

_TRANSLATION = re.compile(
    r"(?:usr/)?(?:share/locale(?:-langpack)?|lib/locale)/[^/]+/.+"
)
_THEME = re.compile(r"(?:usr/)?share/(?:icons|themes)/(?P<name>[^/]+)/.+")
_USUAL_THEMES = frozenset({"hicolor", "default", "Default"})
"""``hicolor`` has the app's own icons; all other themes fall back on it."""

_ODD_NAME = re.compile("[\ud800-\udfff]")
"""A byte that isn't UTF-8, as :func:`os.fsdecode` has it."""
_ELF_NAME = re.compile(r".*\.(?:so(?:\.[\d.]+)?|node)|(?:.*/)?s?bin/[^/]+")
_MOST_ELF_FILES = 4096
"""Whose machine is looked at; more programs and libraries than any snap has."""
_RUN_BY = {
    "amd64": {"x86_64-linux-gnu", "i386-linux-gnu"},
    "i386": {"i386-linux-gnu"},
    "arm64": {"aarch64-linux-gnu", "arm-linux-gnueabihf"},
    "armhf": {"arm-linux-gnueabihf"},
    "ppc64el": {"powerpc64le-linux-gnu"},
    "riscv64": {"riscv64-linux-gnu"},
    "s390x": {"s390x-linux-gnu"},
}
"""Machines whose programs an architecture's kernel runs, as Debian names them."""

_OTHER_BUILD = "{} has another build of it"
_BY_NAME = "only its name is known to be in {}"
_LANGUAGES = "users of these languages read them"
_THEMES = "a user may have chosen the theme"


@dataclass(frozen=True, slots=True)
class Trim:
    """A file that could be left out.

    :param risk: why it may be needed all the same; ``None`` if nothing says so.
    """

    path: str
    reason: Reason
    size_bytes: int
    risk: str | None = None


def find_trims(
    payload: Payload, survey: Survey, suppliers: Sequence[Payload]
) -> Iterator[Trim]:
    """Yield the files that a snap needn't ship, each once.

    A name that isn't UTF-8 can't be written into a snapcraft.yaml.

    :param suppliers: its base and content snaps, as far as they are at hand.
    """
    seen: set[str] = set()
    for trim in _all_trims(payload, survey, suppliers):
        if trim.path not in seen and not _ODD_NAME.search(trim.path):
            seen.add(trim.path)
            yield trim


def _all_trims(
    payload: Payload, survey: Survey, suppliers: Sequence[Payload]
) -> Iterator[Trim]:
    for needless in survey.needless:
        for file in needless.files:
            if not file.parts:  # else only strip removes it
                yield Trim(file.path, needless.kind, file.size_bytes, file.doubt)
    yield from _supplied(payload, survey, suppliers)
    for copy in survey.copies:
        yield Trim(copy.path, "older-versions", copy.size_bytes, copy.doubt)
    yield from _foreign(payload)
    yield from _by_choice(payload)


def _supplied(
    payload: Payload, survey: Survey, suppliers: Sequence[Payload]
) -> Iterator[Trim]:
    """Yield libraries that a supplier has, with the same symbols or more."""
    by_name = {each.snap.name: (each, loader_libraries(each)) for each in suppliers}
    for each in survey.supplied:
        risk = each.doubt
        if risk is not None:
            pass
        elif each.same is None:
            risk = _BY_NAME.format(each.supplier)
        elif not each.same and not _replaces(
            *by_name[each.supplier], payload, each.path
        ):
            risk = _OTHER_BUILD.format(each.supplier)
        yield Trim(each.path, "supplied-libraries", each.size_bytes, risk)


def _replaces(
    supplier: Payload,
    theirs: Mapping[str, tuple[str, Entry]],
    payload: Payload,
    path: str,
) -> bool:
    """Return whether a supplier's library of that name exports all that ours does.

    :param theirs: its libraries, by each of their names.
    """
    try:
        own = elf_of(payload, payload.inventory.entries[path])
        linkage = own.linkage() if own else None
        place = theirs.get((linkage and linkage.soname) or posixpath.basename(path))
        other = elf_of(supplier, place[1]) if place else None
        if own is None or linkage is None or other is None:
            return False
        found = other.linkage()
        alike = (found.machine, found.soname) == (linkage.machine, linkage.soname)
        return alike and exported_symbols(own) <= exported_symbols(other)
    except BrokenElfError:
        return False


def _foreign(payload: Payload) -> Iterator[Trim]:
    """Yield programs and libraries for machines that the snap isn't for."""
    runs = {
        machine
        for architecture in payload.snap.architectures
        for machine in _RUN_BY.get(architecture, ())
    }
    if not runs or not payload.snap.architectures:
        return
    named = (
        entry
        for entry in payload.inventory.files()
        if entry.size_bytes and _ELF_NAME.fullmatch(entry.path)
    )
    for entry, _ in zip(named, range(_MOST_ELF_FILES), strict=False):
        try:
            elf = elf_of(payload, entry)
            machine = elf.linkage().machine[1] if elf else None
        except BrokenElfError:
            continue
        known = machine is not None and machine in set().union(*_RUN_BY.values())
        if known and machine not in runs:
            yield Trim(entry.path, "other-architectures", entry.size_bytes)


def _by_choice(payload: Payload) -> Iterator[Trim]:
    """Yield what depends on a user's language or taste."""
    for entry in payload.inventory.files():
        theme = _THEME.fullmatch(entry.path)
        if theme and theme["name"] not in _USUAL_THEMES:
            yield Trim(entry.path, "themes", entry.size_bytes, _THEMES)
        elif _TRANSLATION.fullmatch(entry.path):
            yield Trim(entry.path, "translations", entry.size_bytes, _LANGUAGES)
