"""The errors of files that are no images, and of images that are damaged."""

from __future__ import annotations

from snapcraft_compression_advisor.core.errors import BadDataError


def damaged(where: str, finding: str, *, details: str | None = None) -> BadDataError:
    """Return the error of a damaged or forged image, to be raised.

    :param where: the image's path, as messages show it.
    :param finding: what contradicts the format, in the kernel's words.
    :param details: what a library said about it.
    :returns: an error with exit status 65.
    """
    return BadDataError(
        f"{where}: damaged squashfs image: {finding}",
        details=details,
        resolution="Download or pack it again; 'unsquashfs -stat' gives another view.",
    )


def not_an_image(where: str, finding: str) -> BadDataError:
    """Return the error of a file that the reader isn't made for, to be raised.

    :param where: the file's path, as messages show it.
    :param finding: what it is instead.
    :returns: an error with exit status 65.
    """
    return BadDataError(
        f"{where}: {finding}",
        resolution="Name a built .snap or another squashfs 4.0 image.",
    )
