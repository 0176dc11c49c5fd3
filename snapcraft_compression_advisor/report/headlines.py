"""The verdict in one sentence, in the same words in every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snapcraft_compression_advisor.advice.policy import Verdict

_HEADLINES: Mapping[Verdict, str] = {
    "change": "CHANGE: set 'compression: {}' in snapcraft.yaml",
    "keep": "KEEP 'compression: {}'",
    "no-benefit": "NO BENEFIT from another codec: stay with {}",
    "undecided": "UNDECIDED: stay with {} for now",
}


def headline(verdict: Verdict, compression: str) -> str:
    """Return what to do.

    >>> headline("keep", "lzo")
    "KEEP 'compression: lzo'"
    """
    return _HEADLINES[verdict].format(compression)
