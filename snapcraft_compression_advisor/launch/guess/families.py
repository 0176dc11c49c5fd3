"""What toolkits and runtimes open beyond their libraries: one rule a family of files.

If a launch maps a library, or starts a program, of a rule's name, it also opens the
files of that name in that folder. The share of them is fitted (:mod:`.priors`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ruamel.yaml import YAML

from ...squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...payload.inventory import Entry, Inventory


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
    """

    name: str
    trigger: str
    folder: str
    file: str
    beside: bool = False
    near: bool = False
    opens: bool = False

    def triggered_by(self, trigger: Trigger) -> bool:
        """Return whether a trigger of its name makes it apply."""
        return (trigger.near or not self.near) and (trigger.opens or not self.opens)


def opened_by(
    trigger: str,
    *rules: tuple[str, str, str],
    beside: bool = False,
    near: bool = False,
    opens: bool = False,
) -> tuple[Family, ...]:
    """Return the rules of one trigger.

    :param rules: names, folders and files; a folder may lie in any other one unless
        the rule is ``beside``.
    """
    return tuple(
        Family(
            name=name,
            trigger=trigger,
            folder=folder if beside else rf"(?:.*/)?{folder}",
            file=file,
            beside=beside,
            near=near,
            opens=opens,
        )
        for name, folder, file in rules
    )


@cache
def rules_of_file() -> dict[str, list[Family]]:
    """Return the rules in ``families.yaml``, by their section, in their order."""
    text = files(__package__).joinpath("families.yaml").read_text(encoding="utf-8")
    return {
        section: [rule for group in groups for rule in _rules_of_group(**group)]
        for section, groups in YAML(typ="safe", pure=True).load(text).items()
    }


def _rules_of_group(
    trigger: str, opened: Mapping[str, Sequence[str]], of: str = "", **limits: bool
) -> tuple[Family, ...]:
    suffix = f" of {of}" if of else ""
    rules = [(name + suffix, folder, file) for name, (folder, file) in opened.items()]
    return opened_by(trigger, *rules, **limits)


class Trigger(NamedTuple):
    """What may make rules apply: a mapped library, a program, a word of a command.

    :param folder: where it is, empty for a word.
    :param near: whether it was started itself, or linked by what was, or by a part in C
        of a script.
    :param opens: whether it would open windows: what was started, whatever that links,
        by however many libraries, and what modules link themselves.
    :param optional: whether only a part brought it in that other desktops load.
    """

    name: str
    folder: str = ""
    near: bool = False
    opens: bool = False
    optional: bool = False


class FamilyFiles:
    """The files of a payload that rules may name, by their folders."""

    def __init__(self, inventory: Inventory) -> None:
        self._folders = inventory.folders
        self._anywhere: dict[str, list[Entry]] = {}

    def named_by(
        self, names: Iterable[Trigger], families: Iterable[Family]
    ) -> Iterator[tuple[Family, Entry]]:
        """Yield what rules name, links among it."""
        known: dict[str, list[Trigger]] = defaultdict(list)
        for trigger in names:
            known[trigger.name].append(trigger)
        for family in families:
            folders = {
                trigger.folder
                for name in filter(compiled(family.trigger).fullmatch, known)
                for trigger in known[name]
                if family.triggered_by(trigger)
            }
            if not folders:
                continue
            found = (
                self._beside(family, folders) if family.beside else self._all(family)
            )
            for entry in found:
                yield family, entry

    def _all(self, family: Family) -> list[Entry]:
        if family.name not in self._anywhere:
            named = compiled(family.folder)
            self._anywhere[family.name] = [
                entry
                for folder in self._folders
                if named.fullmatch(folder)
                for entry in self._in(folder, family)
            ]
        return self._anywhere[family.name]

    def _beside(self, family: Family, folders: set[str]) -> Iterator[Entry]:
        named = compiled(family.folder)
        for folder in sorted(folders):
            if named.fullmatch(""):
                yield from self._in(folder, family)
            for entry in self._folders.get(folder, ()):
                name = entry.path.rpartition("/")[2]
                if entry.kind is EntryKind.DIRECTORY and named.fullmatch(name):
                    yield from self._in(entry.path, family)

    def _in(self, folder: str, family: Family) -> Iterator[Entry]:
        """Yield what a rule names of a folder, whichever it is."""
        file = compiled(family.file)
        for entry in self._folders.get(folder, ()):
            named = file.fullmatch(entry.path.rpartition("/")[2])
            if named and entry.kind is not EntryKind.DIRECTORY:
                yield entry
