"""Which rules are checked, on which files, and how severe their findings are."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..core.errors import BadDataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..settings.lint_policy import LintPolicy
    from .finding import Severity
    from .rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A rule or a family, everywhere or on some files.

    :param rules: an id or the beginning of one: ``SCA101``, ``SCA1``, ``SCA``.
    :param pattern: of payload paths, ``*`` for anything, slashes too; a directory
        stands for all that is below it. ``None`` for everywhere.
    """

    rules: str
    pattern: str | None = None

    def fits(self, rule: str) -> bool:
        """Tell whether it speaks of a rule."""
        return rule.startswith(self.rules)

    def covers(self, path: str) -> bool:
        """Tell whether it speaks of a file of the payload."""
        pattern = self.pattern
        return (
            pattern is None
            or fnmatchcase(path, pattern)
            or path.startswith(pattern.rstrip("/") + "/")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is to be checked.

    :param select: none stands for all.
    :param ignore: has the last word.
    :param severities: by rule or family.
    """

    select: tuple[Selector, ...] = ()
    ignore: tuple[Selector, ...] = ()
    severities: Mapping[str, Severity]

    def wants(self, rule: str) -> bool:
        """Tell whether a rule is to be checked on any file."""
        chosen = not self.select or any(each.fits(rule) for each in self.select)
        return chosen and not any(
            each.pattern is None and each.fits(rule) for each in self.ignore
        )

    def is_by_path(self, rule: str) -> bool:
        """Tell whether some files are left out of a rule."""
        return any(
            each.pattern is not None and each.fits(rule)
            for each in (*self.select, *self.ignore)
        )

    def wants_path(self, rule: str, path: str) -> bool:
        """Tell whether a rule is to look at a file."""
        chosen = not self.select or any(
            each.fits(rule) and each.covers(path) for each in self.select
        )
        return chosen and not any(
            each.fits(rule) and each.covers(path) for each in self.ignore
        )

    def severity(self, rule: str, default: Severity) -> Severity:
        """Return how severe findings are; the longest name that fits counts."""
        fitting = [name for name in self.severities if rule.startswith(name)]
        return self.severities[max(fitting, key=len)] if fitting else default


def make_selection(policy: LintPolicy, *, ignored: Iterable[str] = ()) -> Selection:
    """Return what a policy, and a project's ``lint: ignore:``, ask for.

    :param ignored: further selectors to ignore.
    """
    return Selection(
        select=tuple(map(_selector, policy.select)),
        ignore=tuple(map(_selector, (*policy.ignore, *ignored))),
        severities=policy.severity,
    )


def check_selectors(texts: Iterable[str], rules: Sequence[Rule], *, where: str) -> None:
    """Refuse selectors that speak of no rule.

    :param where: the file that they are from, or the option.
    :raises BadDataError: where one does.
    """
    for text in texts:
        prefix = text.partition(":")[0]
        if not any(rule.id.startswith(prefix) for rule in rules):
            message = f"{where}: there is no rule {prefix!r}"
            raise BadDataError(message, resolution=_resolution(prefix, rules))


def find_rule(text: str, rules: Sequence[Rule]) -> Rule:
    """Return the rule of an id or a name.

    :raises UsageError: where there is none.
    """
    for rule in rules:
        if text in (rule.id, rule.name) or text.upper() == rule.id:
            return rule
    message = f"There is no rule {text!r}"
    raise UsageError(message, resolution=_resolution(text, rules))


def _selector(text: str) -> Selector:
    rules, colon, pattern = text.partition(":")
    return Selector(rules=rules, pattern=pattern if colon else None)


def _resolution(text: str, rules: Sequence[Rule]) -> str:
    known = {name: rule for rule in rules for name in (rule.id, rule.name)}
    near = difflib.get_close_matches(text, known, n=1)
    listed = "Run 'compression-advisor rule' to list all rules."
    if not near:
        return listed
    rule = known[near[0]]
    return f"Did you mean {rule.id} ({rule.name})? {listed}"
