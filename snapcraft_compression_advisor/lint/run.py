"""Check rules and put their findings in order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, get_args

from ..payload.inventory import Inventory
from .finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..payload.survey import Survey
    from .finding import Finding
    from .rule import Context, Rule
    from .select import Selection

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""


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


def at_least(severity: Severity, limit: Severity) -> bool:
    """Tell whether a severity is at least as severe as another."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(limit)


def _findings(rule: Rule, context: Context, selection: Selection) -> Iterator[Finding]:
    by_path = selection.is_by_path(rule.id)
    if by_path:
        context = _narrow(context, partial(selection.wants_path, rule.id))
    for finding in rule.check(context):
        kept = finding
        if by_path:
            paths = _paths(finding)
            wanted = [path for path in paths if selection.wants_path(rule.id, path)]
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

    :param keep: whether a path stays.
    """
    entries = context.inventory.entries
    return replace(
        context,
        inventory=Inventory(
            entries={path: entry for path, entry in entries.items() if keep(path)}
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
