"""What lzo saves over xz, drawn: the difference that decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...core.units import format_seconds
from ..gain import gains, narrowing_text, why_narrow
from . import charts
from .model import Chart, Group, Section, Table
from .texts import seconds, sentence, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..gain import Gain, Gains
    from ..json_report import Report
    from ..measure_json import MeasurementReport
    from .charts import Drawing, Spec

_ROW_PX = 38
_AXES_PX = 64
_MOST_BARS = 4
"""On the page: with more, the deciding app's are drawn alone."""
_SAVED = "var(--lzo)"
_PALE = 0.45
_ENDS = ("s_low", "s_high")
_ROOM = 1.08
"""Beyond what is drawn, so that no mark touches the frame."""

_ON = " on "
_IS_HEAD = f"indexof(datum.label, '{_ON}') < 0"
_TWO_LINES = (
    f"{_IS_HEAD} ? datum.label : [slice(datum.label, "
    f"indexof(datum.label, '{_ON}') + {len(_ON)}, lastindexof(datum.label, ': ')), "
    "slice(datum.label, lastindexof(datum.label, ': ') + 2)]"
)
"""A row's label is ``app on device: figure``: its device, and the figure below it."""

_WEIGHT: Mapping[str, object] = {
    "condition": {"test": _IS_HEAD, "value": "bold"},
    "value": "normal",
}


def gain_section(
    report: Report, measurement: MeasurementReport | None = None
) -> Section | None:
    """Return what lzo saves; ``None`` where that isn't known.

    :param measurement: of the first app's launches.
    """
    found = gains(report, measurement)
    if found is None:
        return None
    drawn = found if len(found.shown) <= _MOST_BARS else found.of_first_app()
    others = " The other apps are in the tables." if drawn is not found else ""
    return Section(
        key="gain",
        title="What lzo saves",
        origin=gain_origin(found),
        legend=f"{_legend(found)}{others}",
        groups=tuple(_groups(found, gain_chart(drawn), tuple(_paragraphs(report)))),
    )


def gain_origin(found: Gains) -> str:
    """Return how what lzo saves is known, in a sentence."""
    measured = any(gain.estimate is None for gain in found.every)
    return f"Estimated, with intervals{'; diamonds are measured' * measured}."


def _paragraphs(report: Report) -> Iterator[str]:
    why = why_narrow(report)
    if why is not None:
        yield why
    decides = report.recommendation.decides
    for launch in report.launches:
        if decides is not None and launch.app == decides.app:
            clause = narrowing_text(launch)
            if clause is not None:
                yield sentence(clause)


def _legend(found: Gains) -> str:
    asked = f" The policy asks for {found.asked} (dashed line)." if found.asked else ""
    decides = " The dark bar decides." if found.decisive else ""
    return (
        "Bars are intervals, points their middles; right of zero, lzo starts faster."
        f"{asked}{decides}"
    )


def _groups(found: Gains, chart: Chart, paragraphs: tuple[str, ...]) -> Iterator[Group]:
    """Yield what is shown with its figures, what to know, and the figures of all."""
    caption = "What lzo saves per cold launch"
    few = len(found.shown) < len(found.every)
    yield Group(
        charts=(chart,),
        table=_table(found.shown, f"{caption}{', apps at both ends' * few}"),
        drawn=True,
    )
    every = _table(found.every, f"{caption}, all apps", short="what each app gains")
    yield Group(
        paragraphs=paragraphs[:1], notes=paragraphs[1:], table=every if few else None
    )


def gain_chart(found: Gains) -> Chart:
    """Return the plot: a bar for each app and device, zero, and the policy's limit."""
    of = f" of {found.apps[0]}" if len(found.apps) == 1 else ""
    texts = [_text(gain) for gain in found.shown]
    return Chart(
        key="gain",
        title=f"Seconds saved per cold launch{of}",
        alt=told(f"Seconds that lzo saves over xz per cold launch{of}", texts),
        draw=partial(_draw, tuple(_data(found)), found),
        wide=False,
    )


def _text(gain: Gain) -> str:
    known = "estimated" if gain.estimate else "measured"
    decides = "; decides" if gain.decides else ""
    return f"{gain.app}, {gain.place}: {seconds(gain.saved_s)}, {known}{decides}"


def _data(found: Gains) -> Iterator[Spec]:
    """Yield the chart's data: heads where there are several apps, bars, and points."""
    for app in found.apps:
        if len(found.apps) > 1:
            yield {"label": app, "what": "head", "s": 0}
        for gain in found.shown:
            figure = found.judged(gain)
            if gain.app != app or figure is None:
                continue
            place = f"{gain.place}, decides" if gain.decides else gain.place
            yield {
                "label": f"{app}{_ON}{place}: {seconds(gain.saved_s)}",
                "what": "bar" if gain.estimate else "measured",
                "text": _text(gain),
                "opacity": 1 if gain.decides else _PALE,
                **charts.ends("s", figure),
            }


def _draw(data: Sequence[Spec], found: Gains, *, width: int) -> Drawing:
    share = found.least_share is not None
    limit = found.limit
    rules = [{"what": "zero", "s": 0}]
    if limit is not None:
        rules.append({"what": "limit", "s": limit})
    y = charts.rows(data, labelExpr=_TWO_LINES, labelFontWeight=_WEIGHT, labelOffset=-6)
    y["scale"] = {"domain": y["sort"]}  # heads have no marks
    scale = {"domain": _domain(data, limit or 0.0), "nice": False, "zero": False}
    drawing = charts.layered(
        [*_rules(scale, limit, share=share), *_bars(y)],
        values=[*data, *rules],
        width=width,
        height=_AXES_PX + _ROW_PX * len(data),
        x=charts.quantity("s", scale=scale, axis=None),
    )
    drawing.spec["resolve"] = {"axis": {"x": "independent"}}
    return drawing


def _domain(data: Sequence[Spec], limit: float) -> list[float]:
    """Return the ends of the axis; zero and the policy's limit are always on it."""
    ends = [0.0, limit, *(row[end] for row in data for end in _ENDS if end in row)]
    return [min(ends) * _ROOM, max(ends) * _ROOM or 1.0]


def _rules(scale: Spec, limit: float | None, *, share: bool) -> Iterator[Spec]:
    """Yield the lines of zero and of the policy's limit, each with its axis.

    :param share: whether the axis is of shares of what xz adds, not of seconds.
    """
    title = "share of what xz adds" if share else "seconds saved per cold launch"
    axis: Spec = {
        "tickCount": 5,
        "labelFlush": False,
        **({"format": ".0%"} if share else {}),
    }
    yield charts.layer(
        charts.mark("rule", stroke=charts.INK, strokeWidth=1.5),
        where=charts.only("zero"),
        x=charts.quantity("s", title, scale=scale, axis=axis),
    )
    if limit is None:
        return
    low, high = scale["domain"]
    asked = f"{100 * limit:g}%" if share else format_seconds(limit)
    above: Spec = {
        "orient": "top",
        "values": [limit],
        "labelExpr": f"'policy: {asked}'",
        "labelAlign": "right" if limit - low > (high - low) / 2 else "left",
        "labelColor": charts.INK,
        "grid": False,
        "domain": False,
    }
    yield charts.layer(
        charts.mark("rule", stroke=charts.INK, strokeWidth=1.5, strokeDash=[5, 3]),
        where=charts.only("limit"),
        x=charts.quantity("s", scale=scale, axis=above),
    )


def _bars(y: Spec) -> Iterator[Spec]:
    """Yield the layers of bars, of their middles, and of what was measured."""
    opacity: Spec = {"field": "opacity", "type": "quantitative", "scale": None}
    whole: dict[str, Spec] = {
        "x": {"field": "s_low", "type": "quantitative", "axis": None},
        "x2": {"field": "s_high"},
    }
    look = {"filled": True, "fill": charts.INK, "stroke": charts.PAPER, "opacity": 1}
    yield charts.layer(
        charts.telling("bar", height=12, fill=_SAVED),
        where=charts.only("bar"),
        **whole,
        y=y,
        opacity=opacity,
    )
    yield charts.layer(
        charts.mark("point", size=70, **look), where=charts.only("bar"), y=y
    )
    yield charts.layer(
        charts.mark("rule", stroke=charts.INK, strokeWidth=2),
        where=charts.only("measured"),
        **whole,
        y=y,
    )
    yield charts.layer(
        charts.telling("point", shape="diamond", size=200, **look),
        where=charts.only("measured"),
        y=y,
    )


def _table(
    shown: Sequence[Gain], caption: str, *, short: str = "what lzo saves"
) -> Table:
    return Table(
        caption=caption,
        heads=("app", "device", "lzo saves", "verdict there"),
        short=short,
        rows=tuple(
            (
                gain.app,
                gain.place,
                seconds(gain.saved_s),
                f"{gain.verdict or ''}{', decides' * gain.decides}",
            )
            for gain in shown
        ),
        words=frozenset((1, 3)),
    )
