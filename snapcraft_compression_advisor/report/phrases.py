"""Phrases that reports share, whatever their format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..advice.recommendation import SNAPCRAFT_DEFAULT
from ..core.units import format_bytes
from ..launch.traced_share import APPLICATIONS, WHOLE_MEASURED
from ..payload.snap_yaml import split_component_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..advice.reasons import Verdict
    from ..devices.kernel import KernelProfile
    from ..launch.launch_set import Method, Source
    from ..launch.profile import WindowEnd
    from .json_report import KernelReport, PayloadReport
    from .report_launch import FitReport, UnresolvedReport

LISTED_NAMES = 6
"""Names that a list for people shows; it counts the others."""

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


def kernel_phrase(kernel: KernelProfile | KernelReport) -> str:
    """Say how a kernel reads squashfs."""
    return (
        f"kernel {kernel.versions}: file mode {kernel.file_mode}, decompressors "
        f"{kernel.decompressors}"
    )


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(2, "error")
    '2 errors'
    """
    nouns = plural or f"{noun}s"
    return f"{count:,} {noun if count == 1 else nouns}"


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(names) - LISTED_NAMES
    return ", ".join(names[:LISTED_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def payload_facts(payload: PayloadReport) -> tuple[str, str]:
    """Return what was looked at: where it is, then how large."""
    _, component = split_component_name(payload.name)
    built = "Built snap" if component is None else "Built component"
    kind = "Prime directory" if payload.kind == "prime" else built
    default = f"{SNAPCRAFT_DEFAULT}, snapcraft's default"
    return (
        f"{kind} {payload.path}",
        (
            f"{counted(payload.files, 'file')}, {format_bytes(payload.raw_bytes)} in "
            f"{counted(payload.data_blocks, 'data block')}; compression: "
            f"{payload.declared_compression or default}"
        ),
    )


def headline(verdict: Verdict, compression: str) -> str:
    """Return what to do.

    >>> headline("keep", "lzo")
    "KEEP 'compression: lzo'"
    """
    return _HEADLINES[verdict].format(compression)


def how_known(source: Source, method: Method | None) -> str:
    """Return how it is known what a launch reads.

    >>> how_known("recorded", "trace")
    'traced'
    """
    if source == "static":
        return "guessed from files"
    return "traced" if method == "trace" else "recorded"


def how_traced() -> str:
    """Return what a trace leaves open, and how much that is."""
    low, high = WHOLE_MEASURED
    return (
        "accuracy: a trace counts mapped files whole; launches read "
        f"{low:.0%} to {high:.0%} of those blocks (measured on "
        f"{counted(APPLICATIONS, 'application')}), which the interval covers"
    )


def how_sure(kind: str, ratios: Sequence[float]) -> str:
    """Return how far a guess can be trusted for this kind of application.

    :param ratios: what each recorded application of this kind read per byte guessed.

    >>> how_sure("GTK 4", ())
    'accuracy: GTK 4; no application of this kind was recorded, so the interval is wide'
    """
    if not ratios:
        return (
            f"accuracy: {kind}; no application of this kind was recorded, so the "
            "interval is wide"
        )
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return (
        f"accuracy: {kind}; {counted(len(ratios), 'recorded application')} of this "
        f"kind read {low if low == high else f'{low} to {high}'} times the predicted "
        "bytes (measured)"
    )


def how_it_fits(fit: FitReport) -> str:
    """Return how far a recorded launch fits a payload that has changed since."""
    text = f"{fit.blocks_share:.0%} of the launch profile's blocks fit this payload"
    for names, what in ((fit.gone, "gone"), (fit.changed, "of another size")):
        if names:
            text += f"; {counted(len(names), 'file')} {what} ({listed(names)})"
    return text


def not_shipped(needed: Iterable[UnresolvedReport]) -> Iterator[str]:
    """Yield what a launch needs and the payload lacks, a line for each supplier."""
    names: dict[str, list[str]] = {}
    for each in needed:
        names.setdefault(each.supplier, []).append(each.name)
    for supplier, found in names.items():
        yield f"{_SUPPLIED[supplier]}: {listed(found)}"
