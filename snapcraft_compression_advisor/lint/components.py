"""What the components that inherit a compression come to."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..launches import estimates_of, whole_read
from ..payload.source import DirectoryPayload
from ..project.project_file import ProjectFile
from ..trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from ..devices.device import DeviceProfile
    from ..launches import LaunchAnalysis
    from ..trial.result import Progress

_COMPONENT_NAME = re.compile("[a-z0-9-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSizes:
    """What a component's image comes to.

    :param lzo_less_xz_bytes: what lzo adds to that.
    """

    xz_bytes: Interval
    lzo_less_xz_bytes: Interval
    whole: LaunchAnalysis | None = None


def component_sizes(
    folder: Path,
    project: ProjectFile,
    *,
    devices: Sequence[DeviceProfile],
    read: Collection[str],
    progress: Progress,
) -> dict[str, ComponentSizes]:
    """Try the files of the components that inherit lzo, or that a program waits for.

    :param folder: that snapcraft works in, where ``prime`` is.
    :param devices: that reading them is priced for.
    :param read: components of which all is read.
    :returns: by component; none of those whose files aren't there.
    :raises AdvisorError: if files can't be read.
    """
    found: dict[str, ComponentSizes] = {}
    for name in project.inheriting:
        files = folder / "partitions/component" / name / "prime"
        wanted = project.effective == "lzo" or name in read
        if wanted and _COMPONENT_NAME.fullmatch(name) and files.is_dir():
            sizes = _sizes(files, name, devices, progress)
            if sizes is not None:
                found[name] = sizes
    return found


def _sizes(
    files: Path, name: str, devices: Sequence[DeviceProfile], progress: Progress
) -> ComponentSizes | None:
    payload = DirectoryPayload(files, component=name)
    # Intervals of a few percent will do, as growth is seldom near 1 %.
    trial = run_sampled_trial(payload, progress=progress)
    xz_bytes, added = trial.codecs["xz"].image_bytes, trial.lzo_less_xz_bytes
    if xz_bytes is None or added is None:
        return None
    whole = whole_read(payload)
    estimates = estimates_of(whole.launch_set, trial, devices)
    return ComponentSizes(
        xz_bytes=xz_bytes,
        lzo_less_xz_bytes=added,
        whole=replace(whole, estimates=estimates),
    )
