"""The page of saved or fresh reports, part by part in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ... import __version__
from ..phrases import headline, payload_facts
from .break_even import break_even_section
from .codecs import launch_section, tradeoff_section
from .files import kinds_section, sizes_section
from .gain import gain_section
from .launch_files import files_section
from .lint import before_now_section, findings_section
from .measured import fastest, measured_section
from .method import method_section
from .model import Page, Tile
from .texts import deciding_place, own_codec, seconds, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..json_report import Report
    from ..lint_formats.json import FindingReport, LintDocument
    from ..measure_json import MeasurementReport
    from .model import Section

_MANY_LAUNCHES = 1_000
_FEW = 10


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
        sections += [
            gain_section(report, measurement),
            tradeoff_section(report),
            launch_section(report),
        ]
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
    advice, payload = report.recommendation, report.payload
    where, contents = payload_facts(payload)
    return Page(
        title=f"Compression advice for {payload.name}",
        tone=advice.verdict,
        verdict=headline(advice.verdict, advice.compression),
        reasons=(*advice.reasons, *advice.next_steps),
        facts=(f"{where}, base {payload.base}" if payload.base else where, contents),
        tiles=tuple(_tiles(report)),
        sections=shown,
        version=__version__,
    )


def _page_without_advice(sources: Sources, sections: tuple[Section, ...]) -> Page:
    """Return the page of a measurement or of findings alone."""
    title, verdict = "Lint findings", sections[0].paragraphs[:1]
    if sources.measurement is not None:
        title, verdict = "Measured launches", (fastest(sources.measurement),)
    return Page(
        title=title,
        tone="measured",
        verdict=verdict[0],
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


def _tiles(report: Report) -> Iterator[Tile]:
    """Yield the figures that the verdict rests on."""
    own, advice = own_codec(report), report.recommendation
    for name, codec in report.trial.codecs.items():
        if codec.shippable and codec.image_bytes is not None:
            measured = report.trial.mode == "exact" or name == own
            yield Tile(
                label=f"image with {name}",
                figure=size(codec.image_bytes),
                note="measured" if measured else "estimated",
            )
    if advice.seconds_saved is None:
        return
    if report.launches:
        yield Tile(
            label=f"lzo saves per cold launch of {report.launches[0].app}",
            figure=seconds(advice.seconds_saved),
            note=f"estimated, {deciding_place(advice)}",
        )
    # Nothing is paid for what isn't worth having.
    if advice.bytes_added is not None and advice.verdict != "no-benefit":
        link = report.method.policy.link_mbit_per_s if report.method else None
        where = f"at {link:g} Mbit/s" if link else "at the policy's link speed"
        yield Tile(
            label="lzo's larger download pays off after",
            figure=_launches(advice.break_even_launches, advice.bytes_added.mid),
            note=f"estimated, {where}",
        )


def _launches(count: float | None, added_bytes: float) -> str:
    if added_bytes <= 0:
        return "at once"
    if count is None or count > _MANY_LAUNCHES:
        return "never"
    if count <= 1:
        return "1 cold launch"
    return f"{count:.1f} cold launches" if count < _FEW else f"{count:.0f} launches"
