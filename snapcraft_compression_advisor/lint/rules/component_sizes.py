"""What the components of a project come to, where their files are at hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.lint.project import ComponentSizes
from snapcraft_compression_advisor.payload.component import ComponentDirectory
from snapcraft_compression_advisor.trial.sampled import LEAST, run_sampled_trial

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.lint.project import ProjectFile
    from snapcraft_compression_advisor.trial.result import Progress, TrialResult

_NAME = re.compile("[a-z0-9-]+")


def component_sizes(
    folder: Path, project: ProjectFile, *, progress: Progress
) -> dict[str, ComponentSizes]:
    """Try the files of the components that inherit lzo.

    :param folder: that snapcraft works in, where ``prime`` is.
    :returns: by component; none of those whose files aren't there.
    :raises AdvisorError: where files can't be read.
    """
    if project.compression != "lzo":
        return {}
    found: dict[str, ComponentSizes] = {}
    for name, compression in project.components.items():
        files = folder / "partitions/component" / name / "prime"
        if compression is None and _NAME.fullmatch(name) and files.is_dir():
            sizes = _sizes(files, name, progress)
            if sizes is not None:
                found[name] = sizes
    return found


def _sizes(files: Path, name: str, progress: Progress) -> ComponentSizes | None:
    trial = run_sampled_trial(
        ComponentDirectory(files, name=name),
        wanted=tuple,
        progress=progress,
        decided=_is_decided,
        effort=LEAST,
    )
    xz_bytes, added = trial.codecs["xz"].image_bytes, trial.lzo_less_xz_bytes
    if xz_bytes is None or added is None:
        return None
    return ComponentSizes(xz_bytes=xz_bytes, lzo_less_xz_bytes=added)


def _is_decided(_trial: TrialResult) -> bool:
    """Tell that intervals of a few percent will do, as growth is seldom near 1 %."""
    return True
