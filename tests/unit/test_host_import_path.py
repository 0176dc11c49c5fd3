"""What programs that snapcraft starts see of the advisor's folder: nothing."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor_plugin import IMPORT_DIR, hide_import_dir


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (str(IMPORT_DIR), None),
        (f"{IMPORT_DIR}/", None),
        (f"{IMPORT_DIR}:{IMPORT_DIR}/docs/..", None),
        (f"/mine:{IMPORT_DIR}", "/mine"),
        (f"{IMPORT_DIR}:/mine::/yours/", "/mine::/yours/"),
        ("/mine", "/mine"),
        ("", ""),
        (None, None),
    ],
)
def test_its_own_entry_goes_and_the_rest_stays(
    before: str | None, after: str | None
) -> None:
    environment = {} if before is None else {"PYTHONPATH": before}
    hide_import_dir(environment)
    assert environment == ({} if after is None else {"PYTHONPATH": after})
