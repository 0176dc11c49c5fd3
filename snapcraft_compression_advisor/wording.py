"""The words for a recommendation's reasons, for reports and for lint's messages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .advice.evidence import ColdStart, Habits, Policy, Saving
from .advice.judging import starts_at_risk
from .advice.month import Month
from .advice.recommendation import (
    Budget,
    Code,
    Condition,
    DeviceVerdict,
    Fails,
    InDoubt,
    Lacking,
    Reason,
    Recommendation,
    Verdict,
)
from .core.terminal import printable
from .core.units import (
    Interval,
    counted,
    format_bytes,
    format_range,
    format_seconds,
    joined,
    seconds,
    seconds_text,
)

if TYPE_CHECKING:
    from .launch.launch_set import BlindReason, GuessBasis

_BLIND: Mapping[BlindReason, str] = {
    "unreached-window": "{where} says that the app opens windows, but the search found "
    "no toolkit that it loads",
    "unfollowed-runtime": "{where} is written for {what}, which isn't followed",
    "computed-command": "{where} starts a program that the search couldn't find",
    "embedded-code": "{where} holds code that the advisor can't read",
    "computed-import": "{where} loads modules whose names it computes",
    "computed-program": "{where} starts other programs, whose names it computes",
    "limit-reached": "there is more to follow than the search follows ({what})",
    "syntax-error": "{where} can't be parsed",
    "unresolved-import": "{where} imports '{what}', whose package has no such file",
}
"""What a guess couldn't follow, the most important first."""

VERDICT_WORDS: Mapping[Verdict, str] = {
    "change": "change to {}",
    "keep": "keep {}",
    "no-benefit": "keep {}",
    "undecided": "can't tell yet",
}
_LEAST_SHOWN_S = 0.001
_LEAST_SHOWN_IN_A_MONTH_S = 0.005
_TEN = 10

_SENTENCES: Mapping[Code, str] = {
    Code.NO_LAUNCH: "No known launch reads these files.",
    Code.READER_UNKNOWN: "It isn't known whether anything waits for all of these "
    "files: 'components' in compression-advisor.yaml can say that.",
    Code.NO_APP: "The snap has no app, so the advisor can't tell which of its files "
    "are read at launch.",
}
_CONTINUATIONS: Mapping[Code, str] = {
    Code.LIKELY: "This verdict holds in nine cases of ten.",
    Code.FOREIGN_CODEC: "snapcraft and the store accept only xz and lzo.",
    Code.XZ_IS_SMALLER: "xz makes the image smaller.",
    Code.SAME_SIZE: "It doesn't make the image noticeably larger either.",
    Code.SIZE_IN_DOUBT: "The estimate is too wide to tell whether xz makes them "
    "smaller.",
    Code.GROWTH_IN_DOUBT: "The estimate is too wide to tell whether the image grows by "
    "more than allowed.",
}
_BUDGETS: Mapping[str, str] = {
    "keeps": "{codec} meets the cold-start budget; {other} exceeds it.",
    "too-large": "Only {codec} meets the cold-start budget, but it adds more to the "
    "image than the project allows: ship less, or raise one of the two limits.",
    "neither": "Neither xz nor lzo meets the cold-start budget: ship less, or raise "
    "the budget.",
    "in-doubt": "{codec} exceeds the cold-start budget; it isn't certain that {other} "
    "meets it.",
    "breaks": "Savings and size favour {codec}, which would exceed the cold-start "
    "budget.",
    "may-break": "Savings and size favour {codec}, which may exceed the cold-start "
    "budget.",
}
_LACKING: Mapping[str, str] = {
    "codec": "This mksquashfs cannot pack with {}.",
    "program": "The payload doesn't contain the program that snap.yaml names for {}, "
    "or its interpreter, so the launch can't be estimated.",
    "files": "The payload contains no file that a launch of {} is known to read, so "
    "the launch can't be estimated.",
}


def sentences(advice: Recommendation) -> tuple[str, ...]:
    """Return why an advice is given, and what lzo adds to the download."""
    return (*reasons(advice), *download(advice))


def reasons(advice: Recommendation) -> tuple[str, ...]:
    """Return why an advice is given: what lzo saves, then all other reasons."""
    texts = [] if advice.decisive is None else [_on_saving(advice, advice.decisive)]
    for reason in advice.reasons:
        if isinstance(reason, Code) and reason in _CONTINUATIONS:
            texts[-1] += f" {_CONTINUATIONS[reason]}"
        elif text := _sentence(reason, advice.policy):
            texts.append(text)
    if any(isinstance(each, Budget) for each in advice.reasons):
        texts += map(_cold_start, starts_at_risk(advice.evidence))
    return (*texts, month_text(advice.month)) if advice.month else (*texts,)


def download(advice: Recommendation) -> Iterator[str]:
    """Yield what lzo adds to the download, and after how many starts that is repaid."""
    evidence, added = advice.evidence, advice.bytes_added
    xz, lzo = evidence.xz_bytes, evidence.lzo_bytes
    if added is None or xz is None or lzo is None:
        return
    text = "Downloads" if advice.compression == "lzo" else "With lzo, downloads"
    text += f" {'grow' if added.mid >= 0 else 'shrink'} by "
    text += f"{format_bytes(abs(added.mid))} ({abs(added.mid) / xz.mid:.0%})"
    if advice.verdict in {"keep", "no-benefit"}:  # which have no table
        before, after = (format_bytes(each.mid) for each in (xz, lzo))
        text = f"Downloads take {before} with xz, {after} with lzo"
    launches = advice.break_even_launches
    if launches and advice.compression == "lzo" and advice.month is None:
        whole = max(1, math.ceil(round(launches, 1)))  # 4.2 are paid after 5
        text += (
            f": a user's {counted(whole, 'cold start')} "
            f"{'repays' if whole == 1 else 'repay'} it at "
            f"{advice.policy.link_mbit_per_s:g} Mbit/s"
        )
    yield f"{text}."


def _on_saving(advice: Recommendation, saving: Saving) -> str:
    """Return the sentence on lzo's saving, and the policy's minimum if missed."""
    verb = "starts" if advice.compression == "lzo" else "would start"
    seconds, faster = saving.seconds, "faster"
    if seconds.mid < 0:
        seconds, faster = -seconds, "slower"
    mid, ends = format_range(seconds)
    faster = f"{mid} {faster} ({ends})"
    if max(abs(seconds.low), abs(seconds.high)) < _LEAST_SHOWN_S:
        faster = "within 1 ms of xz"
    text = f"lzo {verb} {faster}{_where(advice, saving)}"
    reason, least = advice.reasons[0], asked(advice.policy)
    if isinstance(reason, Fails) and reason.condition == "saving":
        why = "isn't noticed" if least == asked(Policy()) else "isn't worth it here"
        return f"{text}. Less than {least} {why}."
    if isinstance(reason, InDoubt) and "saving" in reason.conditions:
        return f"{text}; {least} is needed."
    return f"{text}."


def _where(advice: Recommendation, saving: Saving) -> str:
    """Return on which device that is, if there are several."""
    decides = advice.decides
    if saving.shares:
        return " on average over the users' devices"
    if decides is None or len(decides.by_device) == 1:
        return ""
    even = decides.why == "least-saving" and advice.verdict == "change"
    return f"{', even' if even else ''} on {saving.device}"


def not_followed(basis: GuessBasis) -> str:
    """Return a clause on a guess's blind spots, at least one; the worst is named."""
    spots, recorded = basis.blind_spots, len(basis.reference)
    spot = min(spots, key=lambda spot: [*_BLIND].index(spot.reason))
    where, what = printable(spot.where), printable(spot.what)
    clause = _BLIND[spot.reason].format(where=where, what=what)
    others = f" (and {len(spots) - 1:,} more)" if len(spots) > 1 else ""
    covered = "so the interval is wide"
    if spot.reason == "computed-import":
        covered = "the interval covers those of its package, others may add to it"
    if recorded:
        which = (
            "1 recorded application read that was"
            if recorded == 1
            else f"{recorded:,} recorded applications read that were"
        )
        covered = f"so the interval also covers what {which} searched as blindly"
    return f"not followed: {clause}{others}; {covered}"


def _sentence(reason: Reason, policy: Policy) -> str:
    """Return a reason in words; empty if the sentence on the saving has it."""
    match reason:
        case Code():
            return _SENTENCES.get(reason, "")
        case Fails():
            return _failing(reason.condition, policy)
        case InDoubt(conditions):
            left = [_open(each, policy) for each in conditions if each != "saving"]
            question = " and ".join(left)
            return f"The estimate is too wide to tell {question}." if left else ""
        case Lacking(what, names):
            return _LACKING[what].format(joined(names))
        case Budget(effect, codec):
            other = "lzo" if codec == "xz" else "xz"
            return _BUDGETS[effect].format(codec=codec, other=other)


def _failing(condition: Condition, policy: Policy) -> str:
    """Return what speaks against lzo although it saves enough."""
    if condition == "saving":
        return ""
    if condition == "growth":
        allowed = allowed_growth(policy)
        return f"It adds more to the image than the {allowed} that the project allows."
    if policy.habits is not None:
        return f"It costs time over {habits_text(policy.habits)}."
    launches = f"{policy.max_launches:g} cold launches"
    return f"Its larger download takes more than {launches} to pay for itself."


def _open(condition: Condition, policy: Policy) -> str:
    if condition == "growth":
        return f"whether the image grows by no more than {allowed_growth(policy)}"
    if policy.habits is not None:
        return f"whether lzo saves time over {habits_text(policy.habits)}"
    return (
        "whether the larger download pays for itself within "
        f"{policy.max_launches:g} cold launches"
    )


def asked(policy: Policy) -> str:
    """Return the gain that the policy asks of a cold start."""
    if policy.min_saving_share is None:
        return str(seconds(policy.min_saving_s))
    return f"{100 * policy.min_saving_share:g} % of what xz adds"


def allowed_growth(policy: Policy) -> str:
    """Return what lzo may add to the image; empty if that isn't limited."""
    limits = []
    if policy.max_growth_bytes is not None:
        limits.append(format_bytes(policy.max_growth_bytes))
    if policy.max_growth_share is not None:
        limits.append(f"{100 * policy.max_growth_share:g} %")
    return " or ".join(limits)


def verdict_words(advice: Recommendation | DeviceVerdict) -> str:
    """Return a verdict in words, of all devices or of one by itself."""
    return VERDICT_WORDS[advice.verdict].format(advice.compression)


def place_of(saving: Saving) -> str:
    """Return where a launch saves that."""
    return "on average" if saving.shares else f"on {saving.device}"


def habits_text(habits: Habits) -> str:
    """Return a clause on a user's month."""
    refreshes = _counted(habits.refreshes, "refresh", "refreshes")
    launches = _counted(habits.launches, "cold launch", "cold launches")
    return f"a month of {launches} and {refreshes}"


def _counted(count: float, one: str, several: str) -> str:
    rounded = f"{count:,.0f}" if count >= _TEN else f"{count:.1f}".removesuffix(".0")
    return f"{rounded} {one if rounded == '1' else several}"


def month_text(month: Month) -> str:
    """Say what a user gains in a month, and which part of it decides."""
    total = month.total_s
    parts = [f"launches take {_sooner(month.launch_s)}"]
    parts.append(f"downloads take {_sooner(month.download_s)}")
    verb = "saves" if total.mid >= 0 else "costs"
    shown = total if total.mid >= 0 else -total
    return (
        f"Over {habits_text(month.habits)}, lzo {verb} an estimated "
        f"{seconds_text(shown)}: {joined(parts)}. "
        f"{month.decided_by.capitalize()} decide."
    )


def _sooner(saved: Interval) -> str:
    """Return a saving or loss in words."""
    seconds = format_seconds(abs(saved.mid))
    if abs(saved.mid) < _LEAST_SHOWN_IN_A_MONTH_S:
        return "as long"
    return f"{seconds} less" if saved.mid > 0 else f"{seconds} more"


def _cold_start(start: ColdStart) -> str:
    takes = " and ".join(
        f"{seconds_text(seconds)} with {codec}"
        for codec, seconds in start.seconds.items()
    )
    unknown = "" if start.own_time_known else ", excluding the app's own time"
    return (
        f"A cold start of {start.app} on {start.device} takes an estimated "
        f"{takes}{unknown}; its budget is {format_seconds(start.limit_s)}."
    )
