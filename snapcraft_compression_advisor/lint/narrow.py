"""A context without the files that a rule isn't to look at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.inventory import Inventory

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.payload.survey import Survey


def narrow(context: Context, keep: Callable[[str], bool]) -> Context:
    """Return a context whose inventory and survey hold some paths only.

    So a rule's figures count what is looked at. Sizes and launches of the analysis
    are those of the whole payload.

    :param keep: whether a path stays.
    """
    entries = context.inventory.entries
    return replace(
        context,
        inventory=Inventory(
            entries={path: entry for path, entry in entries.items() if keep(path)}
        ),
        survey=_narrow_survey(context.survey, keep),
    )


def _narrow_survey(survey: Survey, keep: Callable[[str], bool]) -> Survey:
    kinds = (
        replace(kind, files=tuple(file for file in kind.files if keep(file.path)))
        for kind in survey.needless
    )
    return replace(
        survey,
        caches=tuple(fault for fault in survey.caches if keep(fault.path)),
        needless=tuple(kind for kind in kinds if kind.files),
        copies=tuple(each for each in survey.copies if keep(each.path)),
        supplied=tuple(each for each in survey.supplied if keep(each.path)),
    )
