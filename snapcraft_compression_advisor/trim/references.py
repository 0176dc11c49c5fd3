"""Trims beside what leads to their files, and the links that go along with these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..payload.references import goes_along, links_of, referrer
from ..payload.source import Payload
from .find import Trim


def with_referrers(trims: Sequence[Trim], known: Mapping[str, str]) -> tuple[Trim, ...]:
    """Return trims, those risky that something leads to.

    :param known: of :func:`~..payload.references.find_references`.
    """
    return tuple(
        each
        if each.risk is not None
        else replace(each, risk=referrer(each.path, known))
        for each in trims
    )


def with_links(payload: Payload, paths: Collection[str]) -> frozenset[str]:
    """Return files with the links that go along with them, which would lead nowhere."""
    gone = set(paths)
    links = [each for each in links_of(payload) if goes_along(*each)]
    before = -1
    while before != len(gone):
        before = len(gone)
        gone.update(path for path, target in links if target in gone)
    return frozenset(gone)
