"""What a payload's files tell beside their sizes: caches, needless files, copies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .caches import CacheFault, Tree, icon_faults, module_faults, schema_faults
from .copies import Copy, Supplied, find_copies, find_supplied
from .file_caches import bytecode_faults, font_faults
from .needless import Needless, find_needless
from .references import find_references
from .source import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Facts about a payload's files, gathered with little reading.

    :param caches: that are missing or stale, by their paths.
    :param supplied: libraries that the base or a content snap brings, by path.
    :param references: what leads to files beside their own paths, by path.
    """

    caches: tuple[CacheFault, ...] = ()
    needless: tuple[Needless, ...] = ()
    copies: tuple[Copy, ...] = ()
    supplied: tuple[Supplied, ...] = ()
    unread: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)


def take_survey(payload: Payload, *, suppliers: Sequence[Payload] = ()) -> Survey:
    """Look at a payload's files.

    :param suppliers: its base and content snaps, if they are at hand; else the
        base's libraries are known by name only.
    """
    tree = Tree(payload)
    references = find_references(payload)
    faults = itertools.chain(
        schema_faults(tree),
        module_faults(tree),
        icon_faults(tree),
        font_faults(tree),
        bytecode_faults(tree),
    )
    caches = tuple(sorted(faults, key=lambda fault: (fault.path, fault.kind)))
    return Survey(
        caches=caches,
        unread=tuple(tree.unread),
        needless=tuple(find_needless(payload, references)),
        copies=tuple(sorted(find_copies(payload), key=lambda copy: copy.path)),
        supplied=tuple(
            sorted(find_supplied(payload, suppliers), key=lambda each: each.path)
        ),
        references=references,
    )
