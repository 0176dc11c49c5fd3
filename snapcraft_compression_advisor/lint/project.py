"""A project file together with its text, so that a finding can carry its fix."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import BadDataError, UsageError
from ..core.units import Interval
from ..launches import estimates_of, whole_read
from ..payload.source import DirectoryPayload
from ..project.project_file import NULL, ProjectLines, read_project_lines
from ..trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from ..devices.device import DeviceProfile
    from ..launches import LaunchAnalysis
    from ..project.edit import Edit
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile(ProjectLines):
    """What snapcraft.yaml says of compression, and its text.

    :param component_sizes: of the components whose files are at hand.
    :param component: the component, without the snap's name, that this is about;
        ``None`` for the snap.
    """

    path: Path
    content: bytes
    component_sizes: Mapping[str, ComponentSizes] = field(default_factory=dict)
    component: str | None = None

    @property
    def inheriting(self) -> tuple[str, ...]:
        """Components without a key of their own, which have the snap's compression."""
        return tuple(
            name for name, compression in self.components.items() if compression is None
        )

    def edit(self, compressions: Mapping[str | None, str]) -> Edit | None:
        """Return the edit that sets compressions.

        :param compressions: by component, ``None`` for the snap's.
        :returns: ``None`` if it can't be made safely, or changes nothing.
        """
        from ..project.changes import set_compression  # noqa: PLC0415 # as above
        from ..project.edit import Edit  # noqa: PLC0415 # advice plans none

        after = self.content
        try:
            for component, compression in compressions.items():
                after = set_compression(
                    after, compression, component=component, where=str(self.path)
                )
        except (BadDataError, UsageError):  # UsageError: the file has no such component
            return None
        edit = Edit(path=self.path, before=self.content, after=after, sets=compressions)
        return edit if edit.changes else None


def project_of_component(project: ProjectFile, component: str) -> ProjectFile:
    """Return a project as one of its components sees it, inherited keys included."""
    own = project.components.get(component)
    return replace(
        project,
        compression=project.effective if own in (None, NULL) else own,
        compression_line=project.component_lines.get(component),
        components={},
        component_lines={},
        component=component,
    )


def read_project(path: Path, content: bytes) -> ProjectFile:
    """Return a project file's values, with their lines.

    :raises BadDataError: if its YAML is broken.
    """
    lines = read_project_lines(content, where=str(path))
    values = {each.name: getattr(lines, each.name) for each in fields(lines)}
    return ProjectFile(path=path, content=content, **values)


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
