"""Errors of the advisor, one exit status each (sysexits.h)."""

from __future__ import annotations

import os

from craft_cli import CraftError

from .terminal import printable, safe_text


class AdvisorError(CraftError):
    """What is wrong, where, and what to do about it.

    :param message: what is wrong, and with which file or argument, in one line.
    :param details: what another program or library printed about it.
    """

    exit_status = os.EX_SOFTWARE

    def __init__(
        self, message: str, *, details: str | None = None, resolution: str | None = None
    ) -> None:
        super().__init__(
            printable(message),
            details=details and safe_text(details),
            resolution=resolution and safe_text(resolution),
            logpath_report=False,
            reportable=False,
            retcode=self.exit_status,
        )


class UsageError(AdvisorError):
    """The arguments don't fit: exit status 64."""

    exit_status = os.EX_USAGE


class BadDataError(AdvisorError):
    """The input is there but isn't what it should be: exit status 65."""

    exit_status = os.EX_DATAERR


class NoInputError(AdvisorError):
    """The input isn't there or can't be read: exit status 66."""

    exit_status = os.EX_NOINPUT


class ToolError(AdvisorError):
    """A program that the advisor runs is missing or failed: exit status 69."""

    exit_status = os.EX_UNAVAILABLE


class StorageError(AdvisorError):
    """Reading or writing failed, or the disk is full: exit status 74."""

    exit_status = os.EX_IOERR
