"""Where findings about the payload as a whole, or its compression, are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice.policy import SNAPCRAFT_DEFAULT
from snapcraft_compression_advisor.lint.finding import Location

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.context import Context


def current_codec(context: Context) -> str:
    """Return what the payload is packed with, or will be."""
    return context.analysis.payload.declared_compression or SNAPCRAFT_DEFAULT


def image_place(context: Context) -> Location:
    """Return the payload as a whole."""
    return Location(kind="image", path=str(context.analysis.payload.path))


def compression_place(context: Context) -> Location:
    """Return the line of ``compression``; without a project, the payload."""
    project = context.project
    if project is None:
        return image_place(context)
    return Location(
        kind="project", path=str(project.path), line=project.compression_line
    )
