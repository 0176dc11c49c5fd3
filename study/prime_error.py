"""The one error that ends prime_from_debs.py, with a message and no traceback."""

from __future__ import annotations


class PrimeError(Exception):
    """What is wrong, where, and what to do.

    :param message: the sentences that the user reads.
    :param exit_status: a status of sysexits.h, ``os.EX_…``.
    """

    def __init__(self, message: str, *, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status
