"""The page of saved or fresh reports, part by part in a fixed order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ... import __version__
from ...core.frozen import frozen
from ..advise_month import month_seconds, month_section
from ..installation import installation_section
from ..phrases import headline, payload_facts
from .codecs import launch_section
from .files import kinds_section, sizes_section
from .gain import gain_section
from .launch_files import files_section
from .lint import before_now_section, findings_section
from .measured import fastest, measured_section
from .method import method_section
from .model import Page, Tile
from .next_steps import next_section
from .stack import change_section, stack_section
from .texts import deciding_place, own_codec, seconds, size
from .tradeoff import tradeoff_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..json_report import Report
    from ..lint_formats.json import FindingReport, LintDocument
    from ..measure_json import MeasurementReport
    from .model import Section

_MANY_LAUNCHES = 1_000
_FEW = 10


@frozen
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
    findings = _findings(sources)
    looked_up = [
        measured_section(measurement, report),
        before_now_section(sources.lint_before, sources.lint),
        findings_section(findings),
        method_section(report, measurement),
    ]
    shown: tuple[Section, ...]
    if report is None:
        shown = tuple(each for each in looked_up if each is not None)
        return _page_without_advice(sources, shown)
    main = (
        gain_section(report, measurement),
        tradeoff_section(report),
        month_section(report),
        stack_section(report),
        change_section(report),
        files_section(report),
        next_section(report, findings),
    )
    folded = (
        launch_section(report),
        looked_up[0],
        installation_section(report),
        kinds_section(report),
        sizes_section(report),
        *looked_up[1:],
    )
    shown = (
        *(each for each in main if each is not None),
        *(replace(each, folded=True) for each in folded if each is not None),
    )
    advice, payload = report.recommendation, report.payload
    where, contents = payload_facts(payload)
    return Page(
        title=f"Compression advice for {payload.name}",
        tone=advice.verdict,
        verdict=headline(advice.verdict, advice.compression),
        reasons=tuple(advice.reasons),
        facts=(f"{where}, base {payload.base}" if payload.base else where, contents),
        tiles=tuple(_tiles(report)),
        device=_deciding_device(report),
        sections=shown,
        version=__version__,
    )


def _deciding_device(report: Report) -> str:
    """Return the device that the verdict rests on; empty where there is none."""
    decides = report.recommendation.decides
    if decides is not None and decides.device is not None:
        return decides.device
    return next((device for launch in report.launches for device in launch.devices), "")


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
    if report.month is not None:
        yield Tile(
            label=f"lzo saves over {report.month.summary}",
            figure=month_seconds(report.month.total_s),
            note=f"estimated, {deciding_place(advice)}",
        )
    # Nothing is paid for what isn't worth having.
    elif advice.bytes_added is not None and advice.verdict != "no-benefit":
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
