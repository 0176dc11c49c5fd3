"""``enforce``: stop a pack whose compression breaks the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.host.errors import PolicyBrokenError
from snapcraft_compression_advisor.lint.rules.budgets import (
    COLD_START_BUDGET,
    IMAGE_SIZE_BUDGET,
)
from snapcraft_compression_advisor.lint.run import run_rules
from snapcraft_compression_advisor.lint.select import Selection
from snapcraft_compression_advisor.wording import sentences

if TYPE_CHECKING:
    from snapcraft_compression_advisor.host.artifact import Decision
    from snapcraft_compression_advisor.lint.rule import Context

BUDGET_RULES = (COLD_START_BUDGET, IMAGE_SIZE_BUDGET)


def check_advice(decision: Decision) -> None:
    """Stop where the advice is to change what snapcraft.yaml says.

    An undecided verdict breaks nothing.

    :raises PolicyBrokenError: in that case.
    """
    advice = decision.analysis.recommendation
    if advice.verdict != "change":
        return
    artifact = decision.artifact
    first, *others = sentences(advice.reasons)
    whose = "declared" if artifact.declared else "implied"
    component = f" --component {artifact.component}" if artifact.component else ""
    message = (
        f"The {whose} compression {artifact.compression!r} of {artifact.label} breaks "
        f"the policy: {first}"
    )
    raise PolicyBrokenError(
        message,
        details="\n".join(others) or None,
        resolution=f"Set 'compression: {advice.compression}' ('snapcraft "
        f"set-compression {advice.compression}{component}'), or change the policy.",
    )


def check_budgets(context: Context) -> None:
    """Stop where a budget is broken, not where the estimate leaves that open.

    :raises PolicyBrokenError: in that case.
    """
    for finding in run_rules(context, BUDGET_RULES, Selection(severities={})):
        if not finding.undecided:
            raise PolicyBrokenError(
                finding.message,
                resolution="Look at what 'snapcraft compression-advice' says of the "
                "other codec, ship less, or raise the budget.",
            )
