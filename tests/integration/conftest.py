"""Fixtures of the integration tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsing import CHROMIUM, FONTS
from mounts import loop_devices_of, mount_points_below
from real_payloads import fill_prime

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def small_prime(tmp_path: Path) -> Path:
    """Return a prime directory of some megabytes."""
    return fill_prime(tmp_path / "prime")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Return a directory for everything temporary; in the end it must be empty."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    directory.chmod(0o777)  # for launches as another user
    yield directory
    assert mount_points_below(tmp_path) == []
    assert loop_devices_of(tmp_path) == []
    assert list(directory.iterdir()) == []


@pytest.fixture
def nothing_left(tmp_path: Path, temporary_directory: Path) -> Iterator[None]:
    """Have mounts made below the test's directory, and look there afterwards."""
    yield
    assert mount_points_below(tmp_path) == []
    assert loop_devices_of(tmp_path) == []
    assert list(temporary_directory.iterdir()) == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start the system's Chromium, with the fonts that script/setup installs alone.

    Others of the machine would make texts wider or narrower, and pages longer.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 # few tests need it

    if not FONTS.is_dir():
        pytest.skip("needs fonts-liberation")
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "fonts.conf").write_text(
        f"<fontconfig><dir>{FONTS}</dir><cachedir>{folder}</cachedir></fontconfig>"
    )
    with sync_playwright() as playwright:
        # Its sandbox doesn't start as root, and shows nothing but our own page.
        started = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"],
            env={**os.environ, "FONTCONFIG_FILE": str(folder / "fonts.conf")},
        )
        yield started
        started.close()
