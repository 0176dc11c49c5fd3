"""A change to a project file, before it is made."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NO_FINAL_BREAK = "\n\\ No newline at end of file\n"
"""What ``diff`` says of a last line without a line break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change to a project file that has yet to be made.

    :param path: the file, as it was given.
    :param before: its bytes when they were read.
    :param after: its bytes to be.
    """

    path: Path
    before: bytes
    after: bytes

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def diff(self) -> str:
        """Return a unified diff that ``patch -p1`` and ``git apply`` take.

        :returns: empty where nothing changes. Line breaks within it are those of the
            file, so it has to be written without translating them.
        """
        label = self.path.as_posix().lstrip("/")
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            fromfile=f"a/{label}",
            tofile=f"b/{label}",
        )
        return "".join(
            line if line.endswith("\n") else line + _NO_FINAL_BREAK for line in lines
        )


def _lines(content: bytes) -> list[str]:
    r"""Return a text's lines as ``diff`` counts them: ended by \n only."""
    return re.findall("[^\n]*\n|[^\n]+", content.decode())
