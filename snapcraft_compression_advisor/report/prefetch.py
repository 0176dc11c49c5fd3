"""What is read ahead of a launch, what that brings, how a snap gets it; and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.terminal import printable
from ..core.units import counted, format_bytes, format_seconds, seconds
from .document import document_text, part
from .model import Page, Section, Step, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..prefetch.plan import PrefetchPlan
    from ..prefetch.prove import PrefetchProof

_DIRECTORY = "DIRECTORY"
_KINDS = {"without": "without", "with": "read ahead", "wrong": "wrong list"}
_ALL = 0.995
"""From here on, a share prints as 100 %."""


def prefetch_page(
    plan: PrefetchPlan,
    proof: PrefetchProof | None,
    *,
    snap: str,
    chain: Sequence[str] = (),
    written_to: Path | None = None,
) -> Page:
    """Return the page on reading ahead: files, gain, and the change to a snap.

    :param chain: what the app's command-chain has already.
    :param written_to: where the program and the list are; None if nowhere.
    """
    headline = _verdict(proof) if proof else f"{_read_ahead(plan)}; not proven yet"
    sections = [Section(short=True, sentences=tuple(_limits(plan, proof)))]
    if proof is not None:
        sections += _proof(proof)
    if proof is None or proof.is_clear:
        sections.append(_to_paste(plan, chain, written_to))
    return Page(
        title=f"Reading ahead in {snap}, app {plan.app}",
        headline=f"{snap}, app {plan.app}: {headline}",
        sections=tuple(each for each in sections if each != Section(short=True)),
    )


def _read_ahead(plan: PrefetchPlan) -> str:
    files = counted(len({each.path for each in plan.ranges}), "file")
    blocks = counted(plan.blocks, "data block")
    return f"read {blocks} of {files} ahead, {format_bytes(plan.raw_bytes)}"


def _limits(plan: PrefetchPlan, proof: PrefetchProof | None) -> Iterator[str]:
    if proof is not None:
        yield f"{_read_ahead(plan)[0].upper()}{_read_ahead(plan)[1:]} uncompressed."
    if plan.left_out_bytes:
        yield (
            f"{format_bytes(plan.left_out_bytes)} that the launch reads exceed the "
            f"budget of {format_bytes(plan.budget_bytes)}."
        )
    if plan.fitting_share < _ALL:
        yield (
            f"Warning: the payload has {plan.fitting_share:.0%} of the launch "
            "profile's blocks; it is of another build."
        )
    if proof is None:
        yield "Prove it first: add --prove."


def _verdict(proof: PrefetchProof) -> str:
    without, ahead = (proof.cold_s[name].mean for name in ("without", "with"))
    change = f"{(ahead - without) / without:+.1%}"
    if proof.is_clear:
        return (
            f"YES, reading ahead makes cold launches faster here: {change}, "
            f"{format_seconds(ahead)} instead of {format_seconds(without)} (measured)"
        )
    if proof.is_loss:
        return f"NO, reading ahead makes cold launches slower here: {change}"
    return f"NO, what reading ahead saves here isn't clear: {change}"


def _proof(proof: PrefetchProof) -> Iterator[Section]:
    yield Section(
        short=True,
        sentences=tuple(
            f"{what} {seconds(found.saved_s)}."
            for what, found in (
                ("Reading ahead saves of a cold launch", proof.saved),
                ("A wrong list saves", proof.saved_by_wrong),
                ("The program adds to a warm launch", proof.added_warm),
            )
            if found is not None
        ),
    )
    where = "in memory" if proof.storage == "memory" else "on the disk"
    modes = f", decompressors: {proof.modes.decompressors}" if proof.modes else ""
    rows = tuple(
        (title, seconds(proof.cold_s[name].mean), seconds(proof.warm_s[name].mean))
        for name, title in _KINDS.items()
    )
    yield Section(
        title="Launches",
        origin="Measured.",
        sentences=(
            (
                "Means and 95 % intervals of "
                f"{counted(proof.cold_s['with'].n, 'round')} in turns; "
                f"image with {proof.codec}, {where}; kernel "
                f"{printable(proof.kernel)}{modes}; "
                f"{counted(proof.processors, 'processor')}."
            ),
            (
                "A cold launch has nothing of the snap cached; base and system are "
                "warm. The wrong list has as many blocks, none of which the launch "
                "reads."
            ),
        ),
        tables=(Table(heads=("launches", "cold", "warm"), rows=rows),),
    )


def _to_paste(
    plan: PrefetchPlan, chain: Sequence[str], written_to: Path | None
) -> Section:
    entries = ", ".join(printable(each) for each in (f"prefetch/{plan.app}", *chain))
    write = f"'--write {_DIRECTORY}' writes the program and its list. "
    lines = (
        "parts:",
        "  prefetch:",
        "    plugin: dump",
        f"    source: {printable(str(written_to or _DIRECTORY))}",
        "apps:",
        f"  {plan.app}:",
        f"    command-chain: [{entries}]",
    )
    step = Step(title=f"{write if written_to is None else ''}In snapcraft.yaml",
                lines=lines)  # fmt: skip
    return Section(short=True, steps=(step,))


def prefetch_json(plan: PrefetchPlan, proof: PrefetchProof | None, snap: str) -> str:
    """Return the plan of reading ahead as JSON."""
    names = "app ranges blocks raw_bytes budget_bytes left_out_bytes fitting_share"
    return document_text(
        part(plan, names, snap=snap, proof=_proof_part(proof) if proof else None)
    )


def _proof_part(proof: PrefetchProof) -> object:
    return part(
        proof,
        "is_loss codec storage kernel processors",
        advice="yes" if proof.is_clear else "no",
        decompressors=proof.modes.decompressors if proof.modes else None,
        runs={
            name: {"cold_s": cold.runs_s, "warm_s": proof.warm_s[name].runs_s}
            for name, cold in proof.cold_s.items()
        },
        saved_s=proof.saved and proof.saved.saved_s,
        saved_by_wrong_s=proof.saved_by_wrong and proof.saved_by_wrong.saved_s,
        added_warm_s=proof.added_warm and proof.added_warm.saved_s,
    )
