"""Fixtures of the integration tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real_payloads import fill_prime

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def small_prime(tmp_path: Path) -> Path:
    """Return a prime directory of some megabytes."""
    return fill_prime(tmp_path / "prime")
