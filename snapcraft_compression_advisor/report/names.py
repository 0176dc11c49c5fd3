"""Names and texts of payloads as terminals, JSON and Markdown can take them."""

from __future__ import annotations

import re

from ..core.printable import printable

__all__ = ["code_span", "plain", "printable"]

_MARKUP = re.compile(r"[\\`*_\[\]<>|~&$#^!]|(?<=:)/(?=/)|(?<=[wW]{3})\.")
"""What starts a span, an entity, a link or a formula."""


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is, in one line.

    >>> plain("lib/*.so_1")
    'lib/\\*.so\\_1'

    An at sign is followed by an empty comment, as a name after it would be told of
    the finding: renderers look for those after they have taken backslashes away.
    """
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text))
    return escaped.replace("@", "@<!-- -->")


def code_span(name: str) -> str:
    """Return a name in a code span, whatever backticks it has (CommonMark 6.1).

    >>> code_span("a`b")
    '``a`b``'
    """
    text = printable(name)
    runs = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    # A renderer strips one space from both sides; a name's own have to stay.
    padded = text.startswith(("`", " ")) or text.endswith(("`", " "))
    return (
        f"{fence} {text} {fence}" if padded and text.strip() else fence + text + fence
    )
