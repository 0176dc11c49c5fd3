"""Phrases on a report against a baseline, for all of its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.diff.figures import (
    image_change,
    launch_changes,
)
from snapcraft_compression_advisor.lint.baseline import COUNTING
from snapcraft_compression_advisor.lint.figures import bytes_text, seconds_text
from snapcraft_compression_advisor.lint.run import SEVERITIES, at_least
from snapcraft_compression_advisor.report.diff_phrases import (
    bytes_change,
    percent_change,
    seconds_change,
)
from snapcraft_compression_advisor.report.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.diff.figures import PayloadFigures
    from snapcraft_compression_advisor.lint.baseline import (
        JudgedPayload,
        JudgedReport,
    )

Row = tuple[str, str, str, str]
"""A figure: what it is, before, now, the change. Names are as the payload has them."""


def figure_rows(payload: JudgedPayload) -> Iterator[Row]:
    """Yield what is known of a payload before and now; each says how."""
    now, baseline = payload.linted.figures, payload.linted.baseline
    if now is None or baseline is None or baseline.figures is None:
        return
    before = baseline.figures
    changed = "" if before.codec == now.codec else "changed"
    yield "compression", before.codec, now.codec, changed
    change = image_change(baseline, now)
    if before.image_bytes and now.image_bytes and change:
        percent = percent_change(before.image_bytes.mid, now.image_bytes.mid)
        text = f"{bytes_change(change)}, {percent}" if change.mid else "unchanged"
        yield "image", _size(before), _size(now), text
    for each in launch_changes(baseline, now):
        yield (
            f"cold launch of {each.app} on {each.device}, estimated",
            seconds_text(each.old_s),
            seconds_text(each.new_s),
            _launch_change(each.change_s),
        )


def _launch_change(change: Interval) -> str:
    if change == Interval.exactly(0):
        return "unchanged"
    undecided = change.low <= 0 <= change.high
    return seconds_change(change) + (", undecided" if undecided else "")


def states_text(judged: JudgedReport) -> str:
    """Return how many findings are of which state.

    A state that no finding has isn't named, but that nothing is new is.
    """
    counts = {
        state: sum(len(payload.of(state)) for payload in judged.payloads)
        for state in ("new", "worse", "moved", "known")
    }
    gone = sum(len(payload.gone) for payload in judged.payloads)
    parts = [counted(counts["new"], "new finding") if counts["new"] else "nothing new"]
    parts += [
        f"{counts[state]:,} {state}"
        for state in ("worse", "moved", "known")
        if counts[state]
    ]
    parts += [f"{gone:,} gone"] if gone else []
    return ", ".join(parts)


def verdict_text(judged: JudgedReport) -> tuple[str, str]:
    """Return a word that says whether the run fails, and why."""
    failed = sum(payload.linted.error is not None for payload in judged.payloads)
    if failed:
        return "Not linted", f"{counted(failed, 'payload')} could not be linted"
    count = sum(
        at_least(each.finding.severity, payload.linted.fail_on)
        for payload in judged.payloads
        for each in payload.of(*COUNTING)
    )
    limits = {payload.linted.fail_on for payload in judged.payloads}
    limit = " or ".join(each for each in SEVERITIES if each in limits)
    limit += "" if limit == "error" else " or more severe"
    if count:
        return "Fails", f"{counted(count, 'finding')} of severity {limit} new or worse"
    return "Passes", f"nothing of severity {limit} is new or worse"


def _size(figures: PayloadFigures) -> str:
    if figures.image_bytes is None:
        return "not known"
    origin = "measured" if figures.measured else "estimated"
    return f"{bytes_text(figures.image_bytes)}, {origin}"
