"""Pages in a real browser: Debian's Chromium, headless, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FONTS = Path("/usr/share/fonts/truetype/liberation")
"""Of Debian's fonts-liberation."""

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def opened(
    browser: Browser,
    path: Path,
    *,
    width: int = 1100,
    dark: bool = False,
    scripts: bool = True,
) -> Iterator[Page]:
    """Open a page; whatever it complains of or asks for fails the test."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
    )
    problems: list[str] = []
    requests: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    yield page
    page.wait_for_load_state("networkidle")
    context.close()
    assert problems == []
    assert requests == [path.as_uri()]


def open_folds(page: Page) -> None:
    """Show all of a page."""
    page.evaluate(
        "document.querySelectorAll('details').forEach(each => { each.open = true })"
    )
