"""What a package needs beyond its base snap, as the machine's apt resolves it.

snapcraft resolves ``stage-packages`` with an apt cache in which nothing is installed,
without Recommends, and leaves out the packages that the base snap has already
(craft-parts, ``packages/apt_cache.py`` and ``deb.py``). The same is reached here with
nothing but ``apt-get`` and ``apt-cache``: apt simulates an installation against a
status file that lists the base's packages as installed, and nothing else. So
alternatives, virtual packages and versioned dependencies are apt's own decision. No
root is needed, and the machine's own package state is neither read nor written.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from apt_tools import Apt

_INST = re.compile(
    r"^Inst (?P<name>\S+) \((?P<version>\S+) .*\[(?P<architecture>\w+)\]"
)
_NAME = re.compile(r"^Package: (\S+)$", flags=re.MULTILINE)
_LIBRARY = re.compile(r"^Section: (?:\S+/)?libs$", flags=re.MULTILINE)
_INSTALLED = "Status: install ok installed"
# Depends stays out: a package of the base that is staged all the same would otherwise
# leave its dependants broken, and apt would refuse.
_STATUS_FIELDS = ("Package:", "Architecture:", "Version:", "Provides:", "Multi-Arch:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One version of a package; the name carries ``:i386`` if it's a foreign one."""

    name: str
    version: str
    architecture: str

    @property
    def apt_argument(self) -> str:
        """Return what tells apt to take exactly this version."""
        return f"{self.name}={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseList:
    """What a base snap's recipe installs, removes, and lets a part stage anyway."""

    installed: tuple[str, ...]
    removed: tuple[str, ...]
    staged_anyway: tuple[str, ...]


def read_base_list(path: Path) -> BaseList:
    """Read a base's list: ``NAME``, ``-NAME`` and ``+NAME`` lines, ``#`` comments.

    :raises PrimeError: if there's no such list: status 64.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        message = (
            f"There's no list of what the base supplies at {path}. "
            "Name a base that has one, or add --keep-base."
        )
        raise PrimeError(message, exit_status=os.EX_USAGE) from error
    names = [line.strip() for line in lines]
    names = [name for name in names if name and not name.startswith("#")]
    return BaseList(
        installed=tuple(name for name in names if name[0] not in "+-"),
        removed=tuple(name[1:] for name in names if name[0] == "-"),
        staged_anyway=tuple(name[1:] for name in names if name[0] == "+"),
    )


def known_spelling(name: str, known: Collection[str]) -> str | None:
    """Return a package's name as this release spells it: with or without ``t64``.

    :returns: the name if it's known, else its other spelling, else ``None``.
    """
    other = name.removesuffix("t64") if name.endswith("t64") else f"{name}t64"
    return next((spelling for spelling in (name, other) if spelling in known), None)


class AptClosure:
    """Resolves packages against a base that counts as installed.

    :param apt: apt, with nothing installed.
    """

    def __init__(self, apt: Apt) -> None:
        self._apt = apt
        self._known = frozenset(apt.run("apt-cache", "pkgnames").split())

    def resolve(
        self,
        names: Sequence[str],
        *,
        base: BaseList | None = None,
        excluded: Sequence[str] = (),
        recommends: bool = False,
    ) -> list[Package]:
        """Return the packages and what they need beyond the base, sorted by name.

        :param names: the packages asked for; they are in the result even if the base
            has them.
        :param base: what counts as installed; nothing if not given.
        :param excluded: packages that count as installed as well.
        :param recommends: whether Recommends count as dependencies.
        :raises PrimeError: if a package isn't known (status 66), or apt finds no
            solution (69).
        """
        self._check_known([*names, *excluded])
        supplied = set(self.supplied(base)) if base else set()
        requested = {name.split(":")[0] for name in names}
        self._install((supplied | set(excluded)) - requested)
        return self._simulate(names, recommends=recommends)

    def missing_here(self, names: Sequence[str]) -> list[Package]:
        """Return what of some packages, and of what they need, this machine lacks.

        :param names: as any release spells them, with or without ``t64``.
        """
        self._apt.set_status(self._apt.installed_status())
        return self._simulate(sorted(self._spellings(names)), recommends=False)

    def supplied_libraries(self, names: Sequence[str], base: BaseList) -> list[str]:
        """Return the libraries of the base that packages need, sorted by name.

        What only the base's services need (systemd, D-Bus) isn't among them.

        :raises PrimeError: as :meth:`resolve`.
        """
        staged = {it.name for it in self.resolve(names, base=base)}
        needed = {it.name for it in self.resolve(names)} - staged
        services = needed - self._libraries(needed)
        linked = {it.name for it in self.resolve(names, excluded=sorted(services))}
        return sorted(self._libraries(linked - staged))

    def _libraries(self, names: Collection[str]) -> set[str]:
        """Return which packages are libraries, by the archive's section."""
        if not names:
            return set()
        shown = self._apt.run("apt-cache", "show", "--no-all-versions", *sorted(names))
        stanzas = [stanza for stanza in shown.split("\n\n") if _LIBRARY.search(stanza)]
        return {match[1] for it in stanzas if (match := _NAME.search(it))}

    def _check_known(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if name.split(":")[0] not in self._known]
        if unknown:
            message = (
                f"apt knows no package named {', '.join(unknown)}. Mind the spelling; "
                "if it should be there, run 'apt-get update' as root first."
            )
            raise PrimeError(message, exit_status=os.EX_NOINPUT)

    def _spellings(self, names: Iterable[str]) -> set[str]:
        found = (known_spelling(name, self._known) for name in names)
        return {name for name in found if name is not None}

    def supplied(self, base: BaseList) -> list[str]:
        """Return the packages that a base has, sorted by name."""
        installed = sorted(self._spellings(base.installed))
        packages = self._simulate(installed, recommends=False) if installed else []
        absent = self._spellings(base.removed) | self._spellings(base.staged_anyway)
        return sorted({package.name for package in packages} - absent)

    def _install(self, names: Collection[str]) -> None:
        shown = ""
        if names:
            options = ["show", "--no-all-versions"]
            shown = self._apt.run("apt-cache", *options, *sorted(names))
        stanzas = [_installed_stanza(text) for text in shown.split("\n\n")]
        self._apt.set_status("\n".join(stanza for stanza in stanzas if stanza))

    def _simulate(self, names: Sequence[str], *, recommends: bool) -> list[Package]:
        option = f"--option=APT::Install-Recommends={str(recommends).lower()}"
        output = self._apt.run("apt-get", "--simulate", option, "install", *names)
        matches = (_INST.match(line) for line in output.splitlines())
        packages = [Package(**match.groupdict()) for match in matches if match]
        return sorted(packages, key=lambda package: package.name)


def _installed_stanza(shown: str) -> str:
    lines = [line for line in shown.splitlines() if line.startswith(_STATUS_FIELDS)]
    return "\n".join([*lines, _INSTALLED, ""]) if lines else ""
