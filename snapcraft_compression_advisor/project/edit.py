"""Changes to a project file: planned, merged, shown and made."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..core.errors import BadDataError, StorageError, UsageError
from ..core.files import replace_file
from ..core.terminal import printable
from .changes import set_compression
from .project_file import ProjectFile, read_project_file

_WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NO_FINAL_BREAK = "\n\\ No newline at end of file\n"
"""What ``diff`` says of a last line without a line break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change to a project file that has yet to be made.

    :param sets: compressions that it sets, by component, ``None`` for the snap's.
    """

    path: Path
    before: bytes
    after: bytes
    sets: Mapping[str | None, str] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def diff(self) -> str:
        """Return a unified diff that ``patch -p1`` and ``git apply`` take.

        Line breaks within it are those of the file.
        """
        label = printable(self.path.as_posix().lstrip("/"))
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            fromfile=f"a/{label}",
            tofile=f"b/{label}",
        )
        return "".join(
            line if line.endswith("\n") else line + _NO_FINAL_BREAK for line in lines
        )


def _lines(content: bytes) -> list[str]:
    r"""Return a text's lines as ``diff`` counts them: ended by \n only."""
    return re.findall("[^\n]*\n|[^\n]+", content.decode())


def merge_edits(edits: Sequence[Edit]) -> tuple[Edit, tuple[bool, ...]]:
    """Return one edit that does what several do, and for each whether it is in there.

    Of two that set one key to different values, the first is made.

    :param edits: at least one; all of the same bytes of the same file.
    """
    first, taken, made = edits[0], dict[str | None, str](), []
    for edit in edits:
        fits = all(taken.get(key, codec) == codec for key, codec in edit.sets.items())
        made.append(fits)
        if fits:
            taken.update(edit.sets)
    return _edit(first.path, first.before, taken), tuple(made)


def plan_edit(
    path: Path,
    compression: str,
    *,
    component: str | None = None,
    where: str | None = None,
) -> Edit:
    """Return the edit that sets a ``compression`` in a project file; write nothing.

    :param component: whose key; ``None`` for the snap's own.
    :param where: what errors call the file; its path by default.
    :raises AdvisorError: if the file can't be read, or :func:`set_compression` refuses.
    """
    before = read_project_file(path)
    return _edit(path, before, {component: compression}, where=where)


def safe_edit(
    project: ProjectFile, compressions: Mapping[str | None, str]
) -> Edit | None:
    """Return the edit of a project that sets compressions.

    :param compressions: by component, ``None`` for the snap's.
    :returns: ``None`` if it can't be made safely, or changes nothing.
    """
    try:
        edit = _edit(project.path, project.content, compressions)
    except (BadDataError, UsageError):  # UsageError: the file has no such component
        return None
    return edit if edit.changes else None


def _edit(
    path: Path,
    before: bytes,
    sets: Mapping[str | None, str],
    *,
    where: str | None = None,
) -> Edit:
    after = before
    for component, codec in sets.items():
        after = set_compression(
            after, codec, component=component, where=where or str(path)
        )
    return Edit(path=path, before=before, after=after, sets=sets)


def apply_edit(edit: Edit) -> None:
    """Write an edit: the whole of it or, on any failure, nothing.

    A new file takes the place of the old one with its mode, extended attributes and,
    where permitted, its owner. What a symbolic link leads to is written. A file with
    several hard links is refused: the others would keep the old text.

    :raises AdvisorError: if the file no longer has the bytes that were read, has
        several hard links, or it or its directory can't be read or written.
    """
    if not edit.changes:
        return
    _check_unchanged(edit)
    try:
        target = Path(os.path.realpath(edit.path, strict=True))
        _check_writable(target, target.stat())
        replace_file(target, partial(_fill, edit, target))
    except OSError as error:
        message = f"{edit.path} can't be written: {error.strerror or error}"
        raise StorageError(
            message,
            resolution="The file is unchanged. Check the disk and the file's mode.",
        ) from error


def _check_unchanged(edit: Edit) -> None:
    if read_project_file(edit.path) != edit.before:
        message = f"{edit.path} has changed since it was read"
        raise BadDataError(message, resolution="Run the command again.")


def _check_writable(target: Path, status: os.stat_result) -> None:
    """Refuse what a replacement would silently override."""
    # The replacement needs no permission on the file, and root none at all; a mode
    # without any write bit still means that nobody is to write it.
    if not status.st_mode & _WRITE_BITS or not os.access(target, os.W_OK):
        message = f"{target} is read-only"
        raise StorageError(message, resolution="Check its mode, owner and mount.")
    if status.st_nlink > 1:
        message = f"{target} has {status.st_nlink} hard links"
        raise StorageError(message, resolution="Replace it with a copy of its own.")


def _fill(edit: Edit, target: Path, descriptor: int) -> None:
    """Have the new text on the disk before it takes the old one's place."""
    with open(descriptor, "wb", closefd=False) as stream:
        stream.write(edit.after)
    _copy_attributes(descriptor, target)
    os.fsync(descriptor)
    _check_unchanged(edit)


def _copy_attributes(descriptor: int, target: Path) -> None:
    status = target.stat()
    # Only root may give a file away, and not every file system has owners.
    for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, group)
    # After the owner, since changing that clears the set-id bits.
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    with contextlib.suppress(OSError):  # this file system has none
        for name in os.listxattr(target):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(target, name))
