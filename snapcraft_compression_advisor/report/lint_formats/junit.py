"""Findings as a JUnit report: a suite per payload, a case per finding.

Elements and attributes are those that the schemas of Jenkins' xUnit plugin
(``junit-4.xsd`` to ``junit-10.xsd``) allow. No case has a time: what isn't measured
isn't known, and the same payload makes the same report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ...core.terminal import printable
from ...lint.run import at_least
from .phrases import details, place, title

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...lint.finding import Finding, LintedPayload
    from . import Findings


def render(findings: Findings) -> str:
    """Return the report as XML.

    Findings below a payload's ``fail_on`` are skipped cases, with their message.
    """
    suites = [*map(_suite, findings.counting.payloads)]
    root = Element("testsuites", {"name": "compression-advisor", **_totals(suites)})
    root.extend(suites)
    indent(root)
    text: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(payload: LintedPayload) -> Element:
    suite = Element("testsuite", {"name": printable(payload.snap_name or payload.path)})
    if payload.error is not None:
        error = SubElement(_case(suite, payload, "not linted"), "error")
        error.attrib.update(type="not-linted", message=printable(payload.error))
    elif not payload.findings:
        by = " by the other rules" if payload.unchecked else ""
        _case(suite, payload, f"nothing found{by}")
    for each in payload.unchecked:
        case = _case(suite, payload, f"{each.rule} {each.name}, not checked")
        SubElement(case, "skipped", {"message": printable(each.why)})
    for finding in payload.findings:
        name = f"{title(finding)}, {place(finding.location)}"
        fails = at_least(finding.severity, payload.fail_on)
        _tell(_case(suite, payload, name), finding, "failure" if fails else "skipped")
    counts = {
        "tests": len(suite),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    suite.attrib.update({name: str(count) for name, count in counts.items()})
    return suite


def _case(suite: Element, payload: LintedPayload, name: str) -> Element:
    classname = printable(payload.snap_name or payload.path)
    return SubElement(suite, "testcase", {"name": name, "classname": classname})


def _tell(case: Element, finding: Finding, outcome: str) -> None:
    """Add an outcome: junit-4.xsd lets a skipped case have no text, so none does."""
    child = SubElement(case, outcome, {"message": printable(finding.message)})
    text = "\n".join(details(finding))
    if outcome == "failure":
        child.set("type", finding.severity)
        child.text = text
    elif text:
        SubElement(case, "system-out").text = text


def _totals(suites: Iterable[Element]) -> dict[str, str]:
    kept = [*suites]
    return {
        name: str(sum(int(suite.attrib[name]) for suite in kept))
        for name in ("tests", "failures", "errors")
    }
