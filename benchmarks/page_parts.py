"""Parts of pages that scripts write, between comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def replace_part(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name -->`` and the next ``<!-- end -->``.

    :raises ValueError: if the page has no such part.
    """
    whole = page.read_text(encoding="utf-8")
    mark = f"<!-- {name} -->\n"
    start = whole.index(mark) + len(mark)
    end = whole.index("<!-- end -->", start)
    page.write_text(f"{whole[:start]}{text}\n{whole[end:]}", encoding="utf-8")
