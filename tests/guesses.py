"""Guesses of small trees."""

from __future__ import annotations

from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import (
    Candidate,
    find_candidates,
)


def found(
    files: dict[str, bytes], command: str, *, links: dict[str, str] | None = None
) -> dict[str, Candidate]:
    """Return what a launch may read, with the command's own interpreter in the tree."""
    payload = make_payload(
        files, links=links, base="bare", apps={"hello": {"command": command}}
    )
    candidates = find_candidates(payload, "hello")
    return {candidate.entry.path: candidate for candidate in candidates.files}
