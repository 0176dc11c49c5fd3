"""Fixtures of the integration tests."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from real_payloads import fill_prime

if TYPE_CHECKING:
    from pathlib import Path

# A shell that starts the tests in the background has them ignore interruptions, and so
# would the programs that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def small_prime(tmp_path: Path) -> Path:
    """Return a prime directory of some megabytes."""
    return fill_prime(tmp_path / "prime")
