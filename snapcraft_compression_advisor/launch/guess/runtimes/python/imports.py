"""The modules that a source imports, found without parsing it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Nothing that a part takes may be left for the one behind it, or a forged line of a
# MiB takes hours: so a bracket holds no other, and a module has a name. The start of a
# line is a character: what is looked for first is quickly found.
_LINE = (
    rb"\n(?P<indent>[ \t]*)(?:(?P<block>def|class|async|if|elif|else|try|except|finally"
    rb"|with|for|while)\b(?P<test>[^\n]*)"
    rb"|import[ \t]+(?P<names>[^\n;#]+)"
    rb"|%(load)s"
    rb"|from[ \t]+(?P<module>[\w.]+)[ \t]*import[ \t]*"
    rb"(?P<members>\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n;#]+))"
)
_LOADER = b"import_module("
_DEPENDING = frozenset((b"if", b"elif", b"def", b"async"))
_LINE_THAT_LOADS = re.compile(
    _LINE
    % {
        b"load": rb"(?:[\w.]+[ \t]*=[ \t]*)?(?:importlib\.)?import_module\("
        rb"[\"'](?P<loaded>[\w.]+)[\"']"
    }
)
# Without a name at the start, which any line may have: a quarter of the time.
_OTHER_LINE = re.compile(_LINE % {b"load": rb"(?P<loaded>(?!))"})


def imported_names(
    source: bytes,
    *,
    package: str,
    in_functions: bool = False,
    fallbacks: bool = True,
) -> Iterator[tuple[str, bool]]:
    """Yield the modules that a module imports, and whether that depends.

    It depends in ``if`` and in functions. Imports under ``TYPE_CHECKING`` are left out;
    those in ``try`` count. Text that isn't Python yields what looks like an import.

    :param package: that relative imports start from; empty at the top.
    :param in_functions: whether imports in functions count: a program's own functions
        are likely to be called.
    :param fallbacks: whether those count that follow ``except ImportError``: Python's
        own modules bring what they try to import first.
    """
    skipped_beyond: int | None = None
    depends_beyond: int | None = None
    line = _LINE_THAT_LOADS if _LOADER in source else _OTHER_LINE
    for match in line.finditer(b"\n" + source):
        indent = len(match["indent"])
        if skipped_beyond is not None and indent > skipped_beyond:
            continue
        skipped_beyond = None
        if depends_beyond is not None and indent <= depends_beyond:
            depends_beyond = None
        if match["block"] is not None:
            block, test = match["block"], match["test"]
            if (
                (block in (b"def", b"async") and not in_functions)
                or b"TYPE_CHECKING" in test
                or (not fallbacks and block == b"except" and b"ImportError" in test)
            ):
                skipped_beyond = indent
            elif block in _DEPENDING and depends_beyond is None:
                depends_beyond = indent
            continue
        if match["names"] is not None:
            names = _names(match["names"])
        elif match["loaded"] is not None:
            names = iter([match["loaded"].decode(errors="replace")])
        else:
            names = _members(match["module"], match["members"], package)
        for name in names:
            yield name, depends_beyond is not None


def _names(text: bytes) -> Iterator[str]:
    for part in text.decode(errors="replace").split(","):
        name = part.split()[0] if part.split() else ""
        if name:
            yield name


def _members(module: bytes, members: bytes, package: str) -> Iterator[str]:
    base = absolute_name(module.decode(errors="replace"), package)
    if base:
        yield base
    for name in _names(re.sub(rb"[()\\]|#[^\n]*", b" ", members)):
        if name.isidentifier():
            yield f"{base}.{name}" if base else name


def absolute_name(name: str, package: str) -> str:
    """Return the name of a module that a package's source imports by a relative one."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    parents = package.split(".") if package else []
    kept = parents[: max(0, len(parents) - level + 1)]
    return ".".join((*kept, name[level:])).rstrip(".")
