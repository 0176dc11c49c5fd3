"""The reasons of a recommendation, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice.update_cost import break_even_launches
from snapcraft_compression_advisor.core.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snapcraft_compression_advisor.advice.cold_start import ColdStart
    from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
    from snapcraft_compression_advisor.advice.judgement import Doubt
    from snapcraft_compression_advisor.core.units import Interval

_MANY_LAUNCHES = 1_000
_LEAST_SHOWN_S = 0.005

LZO_PAYS = "lzo makes cold launches faster and pays for its size."
XZ_IS_SMALLER = " xz makes the image smaller."
NO_SIZE_EITHER = " It costs no size worth mentioning either."
NO_LAUNCH = "No launch is known to read these files."
SIZE_IN_DOUBT = (
    "No launch is known to read these files. The estimate is too wide to tell whether "
    "xz makes them smaller."
)
NO_CODEC_IN_BUDGET = (
    "Neither xz nor lzo keeps the budget of cold starts: ship less, or raise it."
)
BUDGET_OR_SIZE = (
    "Only lzo keeps the budget of cold starts, and it adds more to the image than the "
    "project allows: ship less, or raise one of the two limits."
)
GROWTH_IN_DOUBT = (
    "The estimate is too wide to tell whether the image grows by more than allowed."
)
FOREIGN_CODEC = " snapcraft and the store accept only xz and lzo."


def saves_too_little(policy: Policy) -> str:
    """Say that launches gain less than the policy asks."""
    return f"lzo saves less than {_asked(policy)} per cold launch."


def never_pays(policy: Policy) -> str:
    """Say that the larger download costs more time than it brings."""
    return (
        "lzo makes launches faster, but its larger download takes more than "
        f"{policy.max_launches:g} cold launches to pay for itself."
    )


def grows_too_much(policy: Policy) -> str:
    """Say that the image would grow more than the project allows."""
    return (
        "lzo makes launches faster, but adds more to the image than the "
        f"{_allowed(policy)} that the project allows."
    )


def keeps_budget(keeper: str, other: str) -> str:
    """Say that one codec alone keeps the budgets of cold starts."""
    return f"{keeper} keeps the budget of cold starts, {other} breaks it."


def budget_in_doubt(breaking: str, other: str) -> str:
    """Say that one codec breaks a budget of cold starts, and maybe both do."""
    return (
        f"{breaking} breaks the budget of cold starts; whether {other} keeps it is "
        "open."
    )


def budget_speaks_against(codec: str, *, sure: bool) -> str:
    """Say that changing to a codec breaks a budget of cold starts, or may."""
    verb = "would" if sure else "may"
    return (
        f"Savings and size speak for {codec}, which {verb} break the budget of cold "
        "starts."
    )


def cold_start(start: ColdStart) -> str:
    """Say what a cold start takes with xz and lzo, and what it may."""
    takes = " and ".join(
        f"{format_seconds(seconds.mid)} with {codec} (between "
        f"{format_seconds(seconds.low)} and {format_seconds(seconds.high)})"
        for codec, seconds in start.seconds.items()
    )
    unknown = "" if start.own_time_known else ", the app's own time not counted"
    return (
        f"A cold start of {start.app} on {start.device} takes an estimated "
        f"{takes}{unknown}; its budget is {format_seconds(start.limit_s)}."
    )


def too_wide(policy: Policy, doubts: Sequence[Doubt]) -> str:
    """Say which of the policy's conditions the estimate leaves open."""
    texts: Mapping[Doubt, str] = {
        "saving": f"whether a cold launch gains {_asked(policy)}",
        "paying": "whether the larger download pays for itself within "
        f"{policy.max_launches:g} cold launches",
        "growth": f"whether the image grows by no more than {_allowed(policy)}",
    }
    told = " and ".join(texts[doubt] for doubt in doubts)
    return f"The estimate is too wide to tell {told}."


def _asked(policy: Policy) -> str:
    if policy.min_saving_share is None:
        return format_seconds(policy.min_saving_s)
    return f"{100 * policy.min_saving_share:g} % of what xz adds"


def _allowed(policy: Policy) -> str:
    limits = []
    if policy.max_growth_bytes is not None:
        limits.append(format_bytes(policy.max_growth_bytes))
    if policy.max_growth_share is not None:
        limits.append(f"{100 * policy.max_growth_share:g} %")
    return " or ".join(limits)


def nothing_to_judge(evidence: Evidence) -> str:
    """Say why there is no figure to decide by."""
    lacking = [
        codec
        for codec, size in (("xz", evidence.xz_bytes), ("lzo", evidence.lzo_bytes))
        if size is None
    ]
    if lacking:
        return f"This mksquashfs cannot pack with {' and '.join(lacking)}."
    if evidence.without_program:
        apps = ", ".join(evidence.without_program)
        return (
            f"The payload doesn't hold the program that snap.yaml names for {apps}, so "
            "nothing can be said of that launch."
        )
    if evidence.nothing_found:
        return (
            "The payload holds no file that a launch of "
            f"{', '.join(evidence.nothing_found)} is known to read, so nothing can be "
            "said of its launch."
        )
    return (
        "The snap has no app. What those who use its files read at their launch "
        "can't be told from the files."
    )


def figures(evidence: Evidence, decisive: Saving, *, added: Interval) -> Sequence[str]:
    """Say what is saved, and what it costs."""
    return (_saving(decisive), *size(evidence, added))


def paid_after(policy: Policy, decisive: Saving, *, added: Interval) -> Sequence[str]:
    """Say after how many launches the larger download is paid, if ever."""
    launches = break_even_launches(
        added.mid, decisive.seconds.mid, policy.link_mbit_per_s
    )
    if not launches:
        return ()
    paid = f"At {policy.link_mbit_per_s:g} Mbit/s, {_launches(launches)} for the"
    return (f"{paid} larger download.",)


def size(evidence: Evidence, added: Interval) -> Sequence[str]:
    """Say what lzo adds to the image."""
    if evidence.xz_bytes is None:
        return ()
    share = abs(added.mid) / evidence.xz_bytes.mid
    verb, preposition = ("adds", "to") if added.mid >= 0 else ("takes", "off")
    return (
        (
            f"lzo {verb} {'' if added.known else 'an estimated '}"
            f"{format_bytes(abs(added.mid))} ({share:.0%}) {preposition} the image."
        ),
    )


def _saving(decisive: Saving) -> str:
    """Say what is saved; what two decimals don't show is told as so little."""
    seconds = decisive.seconds
    where = f"cold launch of {decisive.app} on {decisive.device}"
    if max(abs(seconds.low), abs(seconds.high)) < _LEAST_SHOWN_S:
        return f"By estimate, lzo changes a {where} by less than 0.01 s."
    return (
        f"lzo saves an estimated {format_seconds(seconds.mid)} per {where} (between "
        f"{format_seconds(seconds.low)} and {format_seconds(seconds.high)})."
    )


def _launches(count: float) -> str:
    if count <= 1:
        return "the first cold launch makes up"
    if count > _MANY_LAUNCHES:
        return f"not even {_MANY_LAUNCHES:,} cold launches make up"
    rounded = math.ceil(round(count, 1))  # after four it isn't paid if it takes 4.2
    if rounded == 1:
        return "1 cold launch makes up"
    return f"{rounded} cold launches make up"
