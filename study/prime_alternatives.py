"""Links that packages' scripts have ``update-alternatives`` make, in a prime directory.

Debian's ``love`` is a link to one of several programs, which the script that dpkg runs
after unpacking makes. snapcraft doesn't run it: the publisher makes the link. Here, it
leads to the target with the highest priority, as dpkg's automatic mode has it. A script
that puts an option together from variables is left out.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apt_tools import run_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_TOOL = "update-alternatives"
_INSTALL, _SLAVE = "--install", "--slave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A link that a script asks for; absolute paths.

    :param links: what leads where, the main link first.
    """

    priority: int
    links: tuple[tuple[str, str], ...]


def make_alternatives(root: Path, archives: Sequence[Path]) -> list[Path]:
    """Make the links in a tree, and return them.

    :param archives: the .deb files that were unpacked in it.
    """
    asked = [each for path in archives for each in alternatives(_script(path))]
    made = []
    for each in sorted(asked, key=lambda it: -it.priority):
        (link, target), *_ = each.links
        if os.path.lexists(root / link[1:]) or not (root / target[1:]).exists():
            continue
        for name, leads_to in each.links:
            path, end = root / name[1:], root / leads_to[1:]
            if end.exists() and not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(os.path.relpath(end, path.parent))
                made.append(path)
    return made


def _script(archive: Path) -> str:
    """Return what dpkg runs after it has unpacked a package; empty if nothing."""
    listed = run_tool(["dpkg-deb", "--info", str(archive)])
    if " postinst " not in listed:
        return ""
    return run_tool(["dpkg-deb", "--info", str(archive), "postinst"])


def alternatives(script: str) -> Iterator[Alternative]:
    """Yield what a shell script asks of ``update-alternatives``."""
    for line in script.replace("\\\n", " ").splitlines():
        if _INSTALL not in line or _TOOL not in line:
            continue
        try:
            words = shlex.split(line.partition(_TOOL)[2], comments=True)
            found = _alternative(words)
        except ValueError:  # no words, or no number
            continue
        if all("$" not in word for pair in found.links for word in pair):
            yield found


def _alternative(words: list[str]) -> Alternative:
    """Return an alternative from the words of a command.

    :raises ValueError: if they aren't those of one.
    """
    start = words.index(_INSTALL)
    link, _, target, priority, *rest = words[start + 1 :]
    links = [(link, target)]
    while rest and rest[0] == _SLAVE:
        _, name, _, leads_to, *rest = rest
        links.append((name, leads_to))
    return Alternative(priority=int(priority.strip(";")), links=tuple(links))
