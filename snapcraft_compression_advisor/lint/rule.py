"""What a rule is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Finding, Severity


class Rule(Protocol):
    """A rule: what it says of itself, and its check.

    Its documentation is made from these texts (Markdown, plain sentences).

    :cvar id: ``SCA`` and three digits; never changes or comes back.
    :cvar name: in words, with hyphens.
    :cvar severity: unless the policy says otherwise.
    :cvar summary: one line.
    :cvar fails_if: when it fires, thresholds included.
    :cvar why: why that matters.
    :cvar how_to_fix: what to do.
    :cvar options: keys of the policy that it heeds, with what they do.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    fails_if: ClassVar[str]
    why: ClassVar[str]
    how_to_fix: ClassVar[str]
    options: ClassVar[Mapping[str, str]]

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield what is wrong; no I/O."""
        ...
