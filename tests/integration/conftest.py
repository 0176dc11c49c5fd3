"""Fixtures of the integration tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browsing import CHROMIUM
from real_payloads import fill_prime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture
def small_prime(tmp_path: Path) -> Path:
    """Return a prime directory of some megabytes."""
    return fill_prime(tmp_path / "prime")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 # few tests need it

    with sync_playwright() as playwright:
        # Its sandbox doesn't start as root, and shows nothing but our own page.
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield started
        started.close()
