"""What reports say of a launch set, in the same words everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.traced_share import (
    APPLICATIONS,
    WHOLE_MEASURED,
)
from snapcraft_compression_advisor.report.phrases import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.launch.launch_set import Method, Source

_SUPPLIED: Mapping[str, str] = {
    "base": "from the base",
    "base or content snap": "from the base or a content snap",
    "missing": "missing",
    "unreadable": "not readable as ELF",
}


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
        "how sure: a trace counts whole mapped files; residency reads "
        f"{low:.0%} to {high:.0%} of its blocks (measured on "
        f"{counted(APPLICATIONS, 'application')}), and the interval says so"
    )


def how_sure(kind: str, ratios: Sequence[float]) -> str:
    """Return how far a guess can be trusted for this kind of application.

    :param ratios: what each recorded application of this kind read per byte guessed.

    >>> how_sure("GTK 4", ())
    'how sure: GTK 4; none of this kind was recorded, so the interval is wider'
    """
    if not ratios:
        return (
            f"how sure: {kind}; none of this kind was recorded, so the interval is "
            "wider"
        )
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return (
        f"how sure: {kind}; {counted(len(ratios), 'recorded application')} of this "
        f"kind read {low if low == high else f'{low} to {high}'} times as much as "
        "guessed without it (measured)"
    )


def how_it_fits(
    fitting_share: float, *, gone: Sequence[str], changed: Sequence[str]
) -> str:
    """Return how far a recorded launch fits a payload that has changed since.

    :param fitting_share: of the profile's blocks, 0 to 1.
    """
    text = f"the launch profile fits {fitting_share:.0%} of its blocks"
    for names, what in ((gone, "gone"), (changed, "of another size")):
        if names:
            text += f"; {counted(len(names), 'file')} {what} ({listed(names)})"
    return text


def not_shipped(needed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield what a launch needs and the payload lacks, a line for each supplier.

    :param needed: each one's supplier and printable name.
    """
    names: dict[str, list[str]] = {}
    for supplier, name in needed:
        names.setdefault(supplier, []).append(name)
    for supplier, found in names.items():
        yield f"{_SUPPLIED[supplier]}: {listed(found)}"
