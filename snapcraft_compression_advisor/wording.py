"""The words for a recommendation's reasons, for reports and for lint's messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from .advice.evidence import ColdStart, Habits, Policy, Saving
from .advice.month import Month
from .advice.reasons import (
    Budget,
    Code,
    Condition,
    Decides,
    DeviceVerdict,
    Fails,
    Growth,
    InDoubt,
    Lacking,
    PaidAfter,
    Reason,
    Verdict,
)
from .core.terminal import printable
from .core.units import (
    Interval,
    format_bytes,
    format_seconds,
    joined,
    seconds,
    seconds_text,
)

if TYPE_CHECKING:
    from .launch.launch_set import BlindReason

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

Figures: TypeAlias = "Growth | PaidAfter | Month | Saving | ColdStart | Decides"

_VERDICTS: Mapping[Verdict, str] = {
    "change": "change to {}",
    "keep": "keep {}",
    "no-benefit": "no benefit",
    "undecided": "undecided",
}
_MANY_LAUNCHES = 1_000
_LEAST_SHOWN_S = 0.005
_TEN = 10

_SENTENCES: Mapping[Code, str] = {
    Code.LZO_PAYS: "lzo makes cold launches faster and is worth its size.",
    Code.NO_LAUNCH: "No known launch reads these files.",
    Code.READER_UNKNOWN: "It isn't known whether anything waits for all of these "
    "files: 'components' in compression-advisor.yaml can say that.",
    Code.NO_APP: "The snap has no app, so the advisor can't tell which of its files "
    "are read at launch.",
    Code.NO_CODEC_IN_BUDGET: "Neither xz nor lzo meets the cold-start budget: ship "
    "less, or raise the budget.",
    Code.BUDGET_OR_SIZE: "Only lzo meets the cold-start budget, but it adds more to "
    "the image than the project allows: ship less, or raise one of the two limits.",
}
CONTINUATIONS: Mapping[Code, str] = {
    Code.LIKELY: "The interval reaches across the limit, but this holds in nine cases "
    "of ten.",
    Code.FOREIGN_CODEC: "snapcraft and the store accept only xz and lzo.",
    Code.XZ_IS_SMALLER: "xz makes the image smaller.",
    Code.SAME_SIZE: "It doesn't make the image noticeably larger either.",
    Code.SIZE_IN_DOUBT: "The estimate is too wide to tell whether xz makes them "
    "smaller.",
    Code.GROWTH_IN_DOUBT: "The estimate is too wide to tell whether the image grows by "
    "more than allowed.",
}


def sentences(reasons: Iterable[Reason]) -> tuple[str, ...]:
    """Return reasons in words: a sentence or two for each, the most important first."""
    sentences: list[str] = []
    for reason in reasons:
        if isinstance(reason, Code) and reason in CONTINUATIONS:
            sentences[-1] += f" {CONTINUATIONS[reason]}"
        else:
            sentences.append(_sentence(reason))
    return tuple(sentences)


def not_followed(
    spots: Sequence[tuple[BlindReason, str, str]], *, recorded: int
) -> str:
    """Return a clause on a guess's blind spots; the most important is named.

    :param spots: reason, place and what it is about of each, at least one.
    :param recorded: applications that stand in for what wasn't followed.
    """
    reason, where, what = min(spots, key=lambda spot: [*_BLIND].index(spot[0]))
    clause = _BLIND[reason].format(where=printable(where), what=printable(what))
    others = f" (and {len(spots) - 1:,} more)" if len(spots) > 1 else ""
    covered = "so the interval is wide"
    if reason == "computed-import":
        covered = "the interval covers those of its package, others may add to it"
    if recorded:
        which = (
            "1 recorded application read that was"
            if recorded == 1
            else f"{recorded:,} recorded applications read that were"
        )
        covered = f"so the interval also covers what {which} searched as blindly"
    return f"not followed: {clause}{others}; {covered}"


def _sentence(reason: Reason) -> str:
    match reason:
        case Code():
            return _SENTENCES[reason]
        case Fails():
            return _failing(reason)
        case InDoubt(conditions, policy):
            question = " and ".join(_open(each, policy) for each in conditions)
            return f"The estimate is too wide to tell {question}."
        case Lacking():
            return _lacking(reason)
        case Budget():
            return _budget(reason)
        case _:
            return _figures(reason)


def _failing(reason: Fails) -> str:
    policy = reason.policy
    if reason.condition == "saving":
        hardly = ", or hardly more" if reason.within_margin else ""
        return f"lzo saves less than {asked(policy)} per cold launch{hardly}."
    if reason.condition == "paying" and policy.habits is not None:
        month = habits_text(policy.habits)
        return f"lzo makes launches faster, but costs time over {month}."
    if reason.condition == "paying":
        return (
            "lzo makes launches faster, but its larger download takes more than "
            f"{policy.max_launches:g} cold launches to pay for itself."
        )
    return (
        "lzo makes launches faster, but adds more to the image than the "
        f"{_allowed(policy)} that the project allows."
    )


def _open(condition: Condition, policy: Policy) -> str:
    if condition == "saving":
        return f"whether a cold launch gains {asked(policy)}"
    if condition == "paying" and policy.habits is not None:
        return f"whether lzo saves time over {habits_text(policy.habits)}"
    if condition == "paying":
        return (
            "whether the larger download pays for itself within "
            f"{policy.max_launches:g} cold launches"
        )
    return f"whether the image grows by no more than {_allowed(policy)}"


def asked(policy: Policy) -> str:
    """Return the gain that the policy asks of a cold start."""
    if policy.min_saving_share is None:
        return str(seconds(policy.min_saving_s))
    return f"{100 * policy.min_saving_share:g} % of what xz adds"


def _allowed(policy: Policy) -> str:
    limits = []
    if policy.max_growth_bytes is not None:
        limits.append(format_bytes(policy.max_growth_bytes))
    if policy.max_growth_share is not None:
        limits.append(f"{100 * policy.max_growth_share:g} %")
    return " or ".join(limits)


def _lacking(reason: Lacking) -> str:
    if reason.what == "codec":
        return f"This mksquashfs cannot pack with {' and '.join(reason.names)}."
    apps = ", ".join(reason.names)
    if reason.what == "program":
        return (
            "The payload doesn't contain the program that snap.yaml names for "
            f"{apps}, so the launch can't be estimated."
        )
    return (
        f"The payload contains no file that a launch of {apps} is known to read, so "
        "the launch can't be estimated."
    )


def _budget(reason: Budget) -> str:
    codec, other = reason.codec, "lzo" if reason.codec == "xz" else "xz"
    if reason.effect == "keeps":
        return f"{codec} meets the cold-start budget; {other} exceeds it."
    if reason.effect == "in-doubt":
        return (
            f"{codec} exceeds the cold-start budget; it isn't certain that {other} "
            "meets it."
        )
    verb = "would" if reason.effect == "breaks" else "may"
    return (
        f"Savings and size favour {codec}, which {verb} exceed the cold-start budget."
    )


def _decides(reason: Decides) -> Iterator[str]:
    """Yield which of several devices decides, and what each gives by itself."""
    device, shares = reason.saving.device, reason.saving.shares
    head = f"Of the {len(reason.by_device)} chosen devices, {device} decides: lzo"
    if reason.why == "least-saving":
        yield f"{head} saves least there."
    elif reason.why == "not-worth-there":
        verdicts = {each.device: each.verdict for each in reason.by_device}
        undecided = verdicts[device] == "undecided"
        there = (
            "there the estimate is too wide to tell" if undecided else "there it isn't"
        )
        yield f"{head} must be worth its size on each, and {there}."
    elif reason.why == "average":
        users = [f"{share:.0%} have {device}" for device, share in shares.items()]
        yield f"The average over the users decides: {joined(users)}."
    yield _by_device(reason.by_device)


def verdict_words(verdict: DeviceVerdict) -> str:
    """Say what a device gives by itself."""
    return _VERDICTS[verdict.verdict].format(verdict.compression)


def _by_device(verdicts: Sequence[DeviceVerdict]) -> str:
    devices: dict[str, list[str]] = {}
    for each in verdicts:
        devices.setdefault(verdict_words(each), []).append(each.device)
    if len(devices) == 1:
        return "Each device gives the same verdict by itself."
    alike = (f"{verdict} on {joined(names)}" for verdict, names in devices.items())
    return f"By itself, each device gives: {'; '.join(alike)}."


def _figures(figures: Figures) -> str:
    match figures:
        case Growth():
            return _growth(figures)
        case Saving():
            return _saving(figures)
        case ColdStart():
            return _cold_start(figures)
        case Decides():
            return " ".join(_decides(figures))
        case Month():
            return month_text(figures)
        case PaidAfter():
            paid, link = _launches(figures), figures.link_mbit_per_s
            return f"At {link:g} Mbit/s, {paid} for the larger download."


def _growth(growth: Growth) -> str:
    added = growth.added
    share = abs(added.mid) / growth.xz_bytes.mid
    verb, preposition = ("adds", "to") if added.mid >= 0 else ("takes", "off")
    return (
        f"lzo {verb} {'' if added.known else 'an estimated '}"
        f"{format_bytes(abs(added.mid))} ({share:.0%}) {preposition} the image."
    )


def place_of(saving: Saving) -> str:
    """Return where a launch saves that."""
    return "on average" if saving.shares else f"on {saving.device}"


def _saving(saving: Saving) -> str:
    """Return the saving in words, also one that two decimals don't show."""
    seconds = saving.seconds
    where = f"cold launch of {saving.app} {place_of(saving)}"
    if max(abs(seconds.low), abs(seconds.high)) < _LEAST_SHOWN_S:
        return f"lzo changes a {where} by less than 0.01 s (estimated)."
    return f"lzo saves an estimated {seconds_text(seconds)} per {where}."


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
    if abs(saved.mid) < _LEAST_SHOWN_S:
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


def _launches(paid: PaidAfter) -> str:
    if paid.launches <= 1:
        return "the first cold launch makes up"
    if paid.launches > _MANY_LAUNCHES:
        return f"not even {_MANY_LAUNCHES:,} cold launches make up"
    if paid.whole_launches == 1:
        return "1 cold launch makes up"
    return f"{paid.whole_launches} cold launches make up"
