"""Guesses of small trees."""

from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import (
    Candidate,
    Candidates,
    find_candidates,
)
from snapcraft_compression_advisor.launch.guess.shell import Script, Values


def guessed(
    files: dict[str, bytes],
    command: str = "usr/bin/hello",
    *,
    links: dict[str, str] | None = None,
) -> Candidates:
    """Return what a search finds, with the command's own interpreter in the tree."""
    apps = {"hello": {"command": command}}
    payload = make_payload(files, links=links, base="bare", apps=apps)
    return find_candidates(payload, "hello")


def found(
    files: dict[str, bytes], command: str, *, links: dict[str, str] | None = None
) -> dict[str, Candidate]:
    """Return what a launch may read of them, by path."""
    candidates = guessed(files, command, links=links)
    return {candidate.entry.path: candidate for candidate in candidates.files}


def shell_words(text: str) -> list[str]:
    """Return the words of the commands of a shell script."""
    commands = Script(Values({})).commands(text)
    return [word for variants in commands for words in variants for word in words]
