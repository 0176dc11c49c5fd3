"""The page of saved or fresh reports, part by part in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.report.headlines import headline
from snapcraft_compression_advisor.report.page.before_now import before_now_section
from snapcraft_compression_advisor.report.page.break_even import break_even_section
from snapcraft_compression_advisor.report.page.file_kinds import kinds_section
from snapcraft_compression_advisor.report.page.file_sizes import sizes_section
from snapcraft_compression_advisor.report.page.findings import findings_section
from snapcraft_compression_advisor.report.page.launch_cost import launch_section
from snapcraft_compression_advisor.report.page.launch_files import files_section
from snapcraft_compression_advisor.report.page.measured import (
    fastest,
    measured_section,
)
from snapcraft_compression_advisor.report.page.method import method_section
from snapcraft_compression_advisor.report.page.model import Page
from snapcraft_compression_advisor.report.page.tradeoff import tradeoff_section
from snapcraft_compression_advisor.report.page.verdict import facts, tiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.lint_formats.json import (
        FindingReport,
        LintDocument,
    )
    from snapcraft_compression_advisor.report.measure_json import MeasurementReport
    from snapcraft_compression_advisor.report.page.model import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What a page is made from; one of these at least.

    :param report: of ``advise``.
    :param measurement: of ``measure``.
    :param lint: of ``lint``; its findings go before those in ``report``.
    :param lint_before: of ``lint`` on an earlier build.
    """

    report: Report | None = None
    measurement: MeasurementReport | None = None
    lint: LintDocument | None = None
    lint_before: LintDocument | None = None


def build_page(sources: Sources) -> Page:
    """Return the page, its parts in the order of their weight."""
    report, measurement = sources.report, sources.measurement
    sections: list[Section | None] = []
    if report is not None:
        sections += [tradeoff_section(report), launch_section(report)]
    sections.append(measured_section(measurement, report))
    if report is not None:
        sections += [
            files_section(report),
            sizes_section(report),
            kinds_section(report),
            break_even_section(report),
        ]
    sections += [
        before_now_section(sources.lint_before, sources.lint),
        findings_section(_findings(sources)),
        method_section(report, measurement),
    ]
    shown = tuple(section for section in sections if section is not None)
    if report is None:
        return _page_without_advice(sources, shown)
    advice = report.recommendation
    return Page(
        title=f"Compression advice for {report.payload.name}",
        tone=advice.verdict,
        verdict=headline(advice.verdict, advice.compression),
        reasons=(*advice.reasons, *advice.next_steps),
        facts=facts(report),
        tiles=tiles(report),
        sections=shown,
        version=__version__,
    )


def _page_without_advice(sources: Sources, sections: tuple[Section, ...]) -> Page:
    """Return the page of a measurement or of findings alone."""
    measurement = sources.measurement
    if measurement is not None:
        title, verdict = "Measured launches", fastest(measurement)
    else:
        title, verdict = "Findings of lint", sections[0].paragraphs[0]
    return Page(
        title=title,
        tone="measured",
        verdict=verdict,
        reasons=(),
        facts=(),
        tiles=(),
        sections=sections,
        version=__version__,
    )


def _findings(sources: Sources) -> Sequence[FindingReport] | None:
    """Return the findings of the payload that the page is about."""
    if sources.lint is not None:
        return [
            finding for payload in sources.lint.payloads for finding in payload.findings
        ]
    return sources.report.findings if sources.report else None
