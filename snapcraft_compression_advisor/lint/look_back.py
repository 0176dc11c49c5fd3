"""What a baseline says about the build before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.diff.figures import BaselineBuild

if TYPE_CHECKING:
    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.diff.figures import PayloadFigures
    from snapcraft_compression_advisor.launch.profile import LaunchProfile
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.result import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSource:
    """One build of a baseline.

    :param path: it was given by.
    :param figures: of its report; ``None`` where that has none.
    :param payload: the build itself, where it is at hand; open while it is looked at.
    """

    path: str
    figures: PayloadFigures | None
    payload: Payload | None = None


def look_back(
    build: BaselineSource | None,
    payload: Payload,
    analysis: Analysis,
    profiles: tuple[LaunchProfile, ...],
    *,
    progress: Progress,
) -> BaselineBuild | None:
    """Compare a payload with its previous build, as far as that is at hand.

    :param analysis: of the payload.
    :param profiles: recorded launches, those of the analysis.
    :raises AdvisorError: where either can't be read.
    """
    if build is None:
        return None
    if build.payload is None:
        return BaselineBuild(figures=build.figures)
    # Only here: few runs have a build to look back at.
    from snapcraft_compression_advisor.diff.difference import (
        DifferenceRequest,
        compare_payloads,
    )

    request = DifferenceRequest(
        devices=analysis.devices,
        apps=tuple(launch.launch_set.app for launch in analysis.launches),
        profiles=profiles,
        codecs={payload.path: analysis.payload.declared_compression},
        trials={} if payload.kind == "snap" else {payload.path: analysis.trial},
    )
    difference = compare_payloads(build.payload, payload, request, progress=progress)
    return BaselineBuild(figures=build.figures, difference=difference)
