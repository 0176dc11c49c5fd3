"""What is read ahead of a launch, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import format_bytes, format_seconds
from .lines import wrapped
from .phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..core.units import Interval
    from ..prefetch.plan import PrefetchPlan
    from ..prefetch.prove import PrefetchProof

_DIRECTORY = "DIRECTORY"
_KINDS = {
    "without": "without",
    "with": "read ahead",
    "wrong": "wrong list",
}
_ALL = 0.995
"""From here on, a share prints as 100 %."""


def render_prefetch_text(
    plan: PrefetchPlan,
    proof: PrefetchProof | None,
    *,
    snap: str,
    chain: Sequence[str] = (),
    written_to: Path | None = None,
) -> str:
    """Return what is read ahead, what that brings, and how a snap gets it.

    :param chain: what the app's command-chain has already.
    :param written_to: where the program and the list are; ``None`` if nowhere.
    """
    lines = [f"{snap}, app {plan.app}", ""]
    lines += _plan_lines(plan)
    if proof is not None:
        lines += ["", *_proof_lines(proof)]
    if proof is None or proof.is_clear:
        lines += ["", *_paste_lines(plan, chain, written_to)]
    if proof is None:
        lines += ["", *wrapped("Prove it first: add --prove.")]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _plan_lines(plan: PrefetchPlan) -> Iterator[str]:
    files = len({each.path for each in plan.ranges})
    text = (
        f"Read ahead: {counted(plan.blocks, 'data block')} of "
        f"{counted(files, 'file')}, {format_bytes(plan.raw_bytes)} uncompressed, in "
        "the order of the image."
    )
    if plan.left_out_bytes:
        text += (
            f" {format_bytes(plan.left_out_bytes)} that the launch reads exceed the "
            f"budget of {format_bytes(plan.budget_bytes)}."
        )
    yield from wrapped(text)
    if plan.fitting_share < _ALL:
        yield from wrapped(
            f"Warning: the payload has {plan.fitting_share:.0%} of the launch "
            "profile's blocks; it is of another build.",
            rest="  ",
        )


def _proof_lines(proof: PrefetchProof) -> Iterator[str]:
    yield from wrapped(_verdict(proof))
    yield ""
    yield f"{'launches (measured)':24}{'cold':>12}{'warm':>12}"
    for name, title in _KINDS.items():
        cold, warm = proof.cold_s[name], proof.warm_s[name]
        yield f"{title:24}{cold.mean * 1000:>9.0f} ms{warm.mean * 1000:>9.0f} ms"
    yield ""
    for what, found in (
        ("Reading ahead saves of a cold launch", proof.saved),
        ("A wrong list saves", proof.saved_by_wrong),
        ("The program adds to a warm launch", proof.added_warm),
    ):
        if found is not None:
            yield from wrapped(f"{what} {_ms(found.saved_s)}.", rest="  ")
    yield from wrapped(_circumstances(proof))


def _ms(found: Interval) -> str:
    """Return milliseconds with their interval, any of which may be negative."""
    low, mid, high = (
        f"{1000 * each:,.1f}" for each in (found.low, found.mid, found.high)
    )
    return f"{mid} ms ({low} to {high})"


def _verdict(proof: PrefetchProof) -> str:
    without, ahead = (proof.cold_s[name].mean for name in ("without", "with"))
    if proof.is_clear:
        return (
            f"YES: reading ahead makes cold launches faster here: {_change(proof)}, "
            f"{format_seconds(without)} to {format_seconds(ahead)} (measured)."
        )
    if proof.is_loss:
        return f"NO: reading ahead makes cold launches slower here: {_change(proof)}."
    return f"NO: what reading ahead saves here isn't clear: {_change(proof)}."


def _change(proof: PrefetchProof) -> str:
    """Return by how much cold launches change, in percent."""
    without, ahead = (proof.cold_s[name].mean for name in ("without", "with"))
    return f"{(ahead - without) / without:+.1%}"


def _circumstances(proof: PrefetchProof) -> str:
    where = "in memory" if proof.storage == "memory" else "on the disk"
    modes = f", decompressors: {proof.modes.decompressors}" if proof.modes else ""
    return (
        f"Means and 95 % intervals of {counted(proof.cold_s['with'].n, 'round')} in "
        f"turns drawn by lot; image with {proof.codec}, {where}; kernel "
        f"{printable(proof.kernel)}{modes}; {counted(proof.processors, 'processor')}. "
        "A cold launch has nothing of the snap cached; base and system are warm. The "
        "wrong list has as many blocks, none of which the launch reads."
    )


def _paste_lines(
    plan: PrefetchPlan, chain: Sequence[str], written_to: Path | None
) -> Iterator[str]:
    if written_to is None:
        yield from wrapped(
            f"'--write {_DIRECTORY}' writes the program and its list. In "
            "snapcraft.yaml, the snap gets them by:"
        )
    else:
        yield "In snapcraft.yaml:"
    own = f"prefetch/{plan.app}"
    yield "  parts:"
    yield "    prefetch:"
    yield "      plugin: dump"
    yield f"      source: {printable(str(written_to or _DIRECTORY))}"
    yield "  apps:"
    yield f"    {plan.app}:"
    entries = ", ".join(printable(each) for each in (own, *chain))
    yield f"      command-chain: [{entries}]"
