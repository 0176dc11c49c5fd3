"""Phrases on launches and verdicts that several pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.units import counted, first_of, join_ends
from ..wording import not_followed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..advice.reasons import Verdict
    from ..devices.device import KernelProfile
    from ..launch.fit import FittedProfile
    from ..launch.launch_set import Source, WindowEnd
    from ..launches import LaunchAnalysis
    from ..payload.linkage import Unresolved

_HEADLINES: Mapping[Verdict, str] = {
    "change": "CHANGE: set 'compression: {}' in snapcraft.yaml",
    "keep": "KEEP 'compression: {}'",
    "no-benefit": "NO BENEFIT from another codec: stay with {}",
    "undecided": "UNDECIDED: stay with {} for now",
}
WINDOW_PHRASES: Mapping[WindowEnd, str] = {
    "drawn": "a window with content",
    "reading": "a window with content; reading went on",
    "blank": "a window that stayed blank",
}
"""What ended a launch."""

_SUPPLIED: Mapping[str, str] = {
    "base": "from the base",
    "base or content snap": "from the base or a content snap",
    "missing": "missing",
    "unreadable": "not readable as ELF",
}


def headline(verdict: Verdict, compression: str) -> str:
    """Return what to do, as a pack says it."""
    return _HEADLINES[verdict].format(compression)


def kernel_phrase(kernel: KernelProfile) -> str:
    """Return how a kernel reads squashfs."""
    return (
        f"kernel {kernel.versions}: file mode {kernel.file_mode}, decompressors "
        f"{kernel.decompressors}"
    )


def how_known(source: Source) -> str:
    """Return how it is known what a launch reads."""
    return "guessed from files" if source == "static" else "recorded"


def accuracy(launch: LaunchAnalysis) -> Iterator[str]:
    """Yield how far what is known of a launch can be trusted, in clauses."""
    known, fit = launch.launch_set, launch.profile
    if known.basis is not None:
        yield _how_sure(known.basis.kind, [ratio for _, ratio in known.basis.recorded])
        if known.basis.blind_spots:
            yield not_followed(
                [(e.reason, e.where, e.what) for e in known.basis.blind_spots],
                recorded=len(known.basis.reference),
            )
    if fit is not None and (fit.gone or fit.changed):
        yield _how_it_fits(fit)


def _how_sure(kind: str, ratios: Sequence[float]) -> str:
    if not ratios:
        return (
            f"accuracy: {kind}; no application of this kind was recorded, so the "
            "interval is wide"
        )
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return (
        f"accuracy: {kind}; {counted(len(ratios), 'recorded application')} of this "
        f"kind read {low if low == high else join_ends(low, high)} times the predicted "
        "bytes (measured)"
    )


def _how_it_fits(fit: FittedProfile) -> str:
    text = f"{fit.fitting_share:.0%} of the launch profile's blocks fit this payload"
    for names, what in ((fit.gone, "gone"), (fit.changed, "of another size")):
        if names:
            text += f"; {counted(len(names), 'file')} {what} ({first_of(names)})"
    return text


def not_shipped(needed: Iterable[Unresolved]) -> Iterator[str]:
    """Yield what a launch needs and the payload lacks, a clause for each supplier."""
    names: dict[str, list[str]] = {}
    for each in needed:
        names.setdefault(each.supplier, []).append(each.name)
    for supplier, found in names.items():
        yield f"{_SUPPLIED[supplier]}: {first_of(found)}"
