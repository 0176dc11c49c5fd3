"""Select rules, check them, and put their findings in order."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, get_args

from ..core.errors import BadDataError, UsageError
from ..settings.settings import ALL_RULES_PREFIX, Settings
from .finding import Finding, LintedPayload, Severity, Unchecked
from .rules import ALL_RULES

if TYPE_CHECKING:
    from ..payload.survey import Survey
    from .rule import Context, Rule

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""


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
        """Return whether it speaks of a rule."""
        return rule.startswith(self.rules)

    def covers(self, path: str) -> bool:
        """Return whether it speaks of a file of the payload."""
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
    """

    select: tuple[Selector, ...] = ()
    ignore: tuple[Selector, ...] = ()
    severities: Mapping[str, Severity]

    def wants(self, rule: str, path: str | None = None) -> bool:
        """Return whether a rule is to look at a file, or at any if none is given."""
        chosen = not self.select or any(
            each.fits(rule) and (path is None or each.covers(path))
            for each in self.select
        )
        return chosen and not any(
            each.fits(rule)
            and (each.pattern is None or (path is not None and each.covers(path)))
            for each in self.ignore
        )

    def names(self, rule: str) -> bool:
        """Return whether a rule, or its family, is asked for by name."""
        named = (each for each in self.select if each.rules != ALL_RULES_PREFIX)
        return any(each.fits(rule) for each in named)

    def is_by_path(self, rule: str) -> bool:
        """Return whether some files are left out of a rule."""
        return any(
            each.pattern is not None and each.fits(rule)
            for each in (*self.select, *self.ignore)
        )

    def severity(self, rule: str, default: Severity) -> Severity:
        """Return the severity of findings; the longest name that fits counts."""
        fitting = [name for name in self.severities if rule.startswith(name)]
        return self.severities[max(fitting, key=len)] if fitting else default


def make_selection(settings: Settings, *, ignored: Iterable[str] = ()) -> Selection:
    """Return the rules selected by settings, and by a project's ``lint: ignore:``.

    :param ignored: further selectors to ignore.
    """
    return Selection(
        select=tuple(map(_selector, settings.select)),
        ignore=tuple(map(_selector, (*settings.ignore, *ignored))),
        severities=settings.severity,
    )


def check_selectors(texts: Iterable[str], *, where: str) -> None:
    """Refuse selectors that speak of no rule.

    :raises BadDataError: if one does.
    """
    for text in texts:
        prefix = text.partition(":")[0]
        if not any(rule.id.startswith(prefix) for rule in ALL_RULES):
            message = f"{where}: there is no rule {prefix!r}"
            raise BadDataError(message, resolution=_resolution(prefix))


def find_rule(text: str) -> Rule:
    """Return the rule of an id or a name.

    :raises UsageError: if there is none.
    """
    for rule in ALL_RULES:
        if text in (rule.id, rule.name) or text.upper() == rule.id:
            return rule
    message = f"There is no rule {text!r}"
    raise UsageError(message, resolution=_resolution(text))


def _selector(text: str) -> Selector:
    rules, colon, pattern = text.partition(":")
    return Selector(rules=rules, pattern=pattern if colon else None)


def _resolution(text: str) -> str:
    known = {name: rule for rule in ALL_RULES for name in (rule.id, rule.name)}
    near = difflib.get_close_matches(text, known, n=1)
    listed = "Run 'compression-advisor rule' to list all rules."
    if not near:
        return listed
    rule = known[near[0]]
    return f"Did you mean {rule.id} ({rule.name})? {listed}"


def run_rules(
    context: Context, rules: Sequence[Rule], selection: Selection
) -> tuple[Finding, ...]:
    """Return the findings of the selected rules.

    :returns: by severity, then rule, then location.
    """
    findings = [
        finding
        for rule in rules
        if selection.wants(rule.id)
        for finding in _findings(rule, context, selection)
    ]
    return tuple(sorted(findings, key=_order))


def coverage(
    context: Context, selection: Selection
) -> tuple[int, tuple[Unchecked, ...]]:
    """Return the number of rules that looked at a payload, and those that couldn't.

    A rule for which an option or a setting is missing couldn't if it is selected by
    name; else it doesn't count.
    """
    checked, unchecked = 0, []
    for rule in (each for each in ALL_RULES if selection.wants(each.id)):
        blocked, unasked = rule.blocked(context), rule.unasked(context)
        why = blocked or (unasked if selection.names(rule.id) else None)
        if why is not None:
            unchecked.append(Unchecked(rule=rule.id, name=rule.name, why=why))
        checked += blocked is None and unasked is None
    return checked, tuple(unchecked)


def at_least(severity: Severity, limit: Severity) -> bool:
    """Return whether a severity is at least as severe as another."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(limit)


def failing(payloads: Iterable[LintedPayload]) -> list[Finding]:
    """Return the findings that make a run fail."""
    return [
        finding
        for payload in payloads
        for finding in payload.findings
        if finding.counts and at_least(finding.severity, payload.fail_on)
    ]


def _findings(rule: Rule, context: Context, selection: Selection) -> Iterator[Finding]:
    by_path = selection.is_by_path(rule.id)
    if by_path:
        context = _narrow(context, partial(selection.wants, rule.id))
    for finding in rule.check(context):
        kept = finding
        if by_path:
            paths = _paths(finding)
            wanted = [path for path in paths if selection.wants(rule.id, path)]
            if paths and not wanted:
                continue
            kept = replace(
                finding, files=tuple(path for path in finding.files if path in wanted)
            )
        if not kept.undecided:
            severity = selection.severity(rule.id, kept.severity)
            kept = replace(kept, severity=severity)
        yield kept


def _narrow(context: Context, keep: Callable[[str], bool]) -> Context:
    """Return a context whose inventory and survey hold some paths only.

    So a rule's figures count what is looked at. Sizes and launches of the analysis
    are those of the whole payload.
    """
    entries = context.inventory.entries
    return replace(
        context,
        inventory=replace(
            context.inventory,
            entries={path: entry for path, entry in entries.items() if keep(path)},
        ),
        survey=_narrow_survey(context.survey, keep),
    )


def _narrow_survey(survey: Survey, keep: Callable[[str], bool]) -> Survey:
    kinds = (
        replace(kind, files=tuple(file for file in kind.files if keep(file.path)))
        for kind in survey.needless
    )
    return replace(
        survey,
        caches=tuple(fault for fault in survey.caches if keep(fault.path)),
        needless=tuple(kind for kind in kinds if kind.files),
        copies=tuple(each for each in survey.copies if keep(each.path)),
        supplied=tuple(each for each in survey.supplied if keep(each.path)),
    )


def _paths(finding: Finding) -> tuple[str, ...]:
    """Return the files of the payload that a finding is about."""
    if finding.files:
        return finding.files
    place = finding.location
    return (place.path,) if place.kind == "payload" else ()


def _order(finding: Finding) -> tuple[int, bool, str, str, int, str]:
    place = finding.location
    return (
        SEVERITIES.index(finding.severity),
        finding.undecided,
        finding.rule,
        place.path,
        place.line or 0,
        finding.message,
    )
