"""How what the advisor can do without is installed: a release changes it here.

The advisor isn't on PyPI, so no message may say ``pip install`` and its name. What an
extra brings is there under names of its own, which do for an advisor from a clone, a
wheel or a source archive. Pages leave installing to ``docs/how-to/install.md``.
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DISTRIBUTION = "snapcraft-compression-advisor"
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "fleet": (
        "duckdb>=1.0",
        "fsspec[http]>=2024.5",
        "pyarrow>=15",
        "s3fs>=2024.5",
    ),
    "report": ("jinja2>=3.1", "vl-convert-python>=1.9"),
}
"""What each extra that messages speak of brings, as pyproject.toml has it."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra for the Python that is running."""
    return shlex.join((sys.executable, "-m", "pip", "install", *EXTRAS[extra]))
