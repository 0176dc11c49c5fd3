"""What reading blocks takes within a launch, beside what it takes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs import CODECS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snapcraft_compression_advisor.core.units import Interval

IN_LAUNCH: Mapping[str, Interval] = {
    codec.name: codec.in_launch for codec in CODECS.values()
}
"""By codec, see :attr:`Codec.in_launch`."""
