"""Lint's report, a format a module: each renders the same :class:`Findings`."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from ..lines import TextStyle

if TYPE_CHECKING:
    from ...lint.finding import LintReport

FORMATS = (
    "text",
    "json",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "markdown",
)
"""By name, which is that of the module here that renders it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a format renders.

    :param style: of text for people; that of a file by default.
    """

    report: LintReport
    style: TextStyle = field(default_factory=TextStyle)

    @property
    def counting(self) -> LintReport:
        """The findings that fail a run: against a baseline, the new and the worse."""
        return self.report.counting()


class _Format(Protocol):
    def render(self, findings: Findings) -> str: ...


def render(name: str, findings: Findings) -> str:
    """Return findings in the format of that name.

    Its module is loaded here: all of them would take a tenth of the time of a lint.
    """
    return cast("_Format", import_module(f"{__name__}.{name}")).render(findings)
