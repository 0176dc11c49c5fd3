"""What to ship: from evidence by the policy's conditions and budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from ..core.units import Interval, combined
from .evidence import (
    ColdStart,
    Downloads,
    Evidence,
    Policy,
    Saving,
    break_even_launches,
    download_seconds,
)
from .month import Month, month_of
from .recommendation import (
    Budget,
    Code,
    Compression,
    Condition,
    Decider,
    Decides,
    DeviceVerdict,
    Fails,
    InDoubt,
    Lacking,
    Reason,
    Recommendation,
    Verdict,
)

SNAPCRAFT_DEFAULT: Compression = "xz"
"""What snapcraft and snapd pack with where snapcraft.yaml has no ``compression``."""

_OTHER: Mapping[Compression, Compression] = {"xz": "lzo", "lzo": "xz"}


def recommend(evidence: Evidence, policy: Policy) -> Recommendation:
    """Choose between xz and lzo."""
    added = evidence.bytes_added
    if added is not None and not evidence.launched:
        # They should be small.
        by_size = stay_small(evidence, policy, added, Code.NO_LAUNCH)
        return replace(by_size, evidence=evidence, policy=policy)
    if not evidence.reader_known:
        return _for_any_reader(evidence, policy)
    deciding = _deciding(evidence, policy)
    if added is None or not deciding:
        return Recommendation(
            compression=current_of(evidence),
            verdict="undecided",
            reasons=(_nothing_to_judge(evidence),),
            evidence=evidence,
            policy=policy,
        )

    judgement = judge(evidence, policy, deciding, added)
    decides = _decides(evidence, policy, deciding, judgement, added)
    saving, link = decides.saving, policy.link_mbit_per_s
    return replace(
        judgement,
        evidence=evidence,
        policy=policy,
        decides=decides,
        break_even_launches=break_even_launches(added.mid, saving.seconds.mid, link),
        month=_month(saving, evidence.downloads, policy),
    )


class Answer(Enum):
    """Whether a condition of the policy holds, as far as the interval tells."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def saves_enough(saving: Saving, policy: Policy) -> Answer:
    """Return whether a launch becomes faster by as much as the policy asks."""
    if policy.min_saving_share is None:
        return _reaches(saving.seconds, policy.min_saving_s)
    if saving.share is None:
        return Answer.UNKNOWN
    return _reaches(saving.share, policy.min_saving_share)


def fits_in(added: Interval, xz_bytes: Interval | None, policy: Policy) -> Answer:
    """Return whether lzo adds no more to the image than the policy allows."""
    answers = []
    if policy.max_growth_bytes is not None:
        answers.append(stays_within(added, policy.max_growth_bytes))
    if policy.max_growth_share is not None and xz_bytes is not None:
        limit = policy.max_growth_share * xz_bytes.mid
        answers.append(stays_within(added, limit))
    return all_of(answers)


def _reaches(figure: Interval, least: float) -> Answer:
    if figure.low >= least:
        return Answer.YES
    return Answer.NO if figure.high < least else Answer.UNKNOWN


def pays_for_itself(
    saving: Saving, added: Interval, policy: Policy, downloads: Downloads | None = None
) -> Answer:
    """Return whether the larger download is paid for within the policy's launches.

    What a launch saves and how large the image is are independent of each other.

    :param downloads: of a refresh: then it's whether a user gains time in a month.
    """
    if month := _month(saving, downloads, policy):
        return _reaches(month.total_s, 0.0)
    byte_s = download_seconds(1, policy.link_mbit_per_s)
    parts = (saving.seconds * policy.max_launches, added * -byte_s)
    return _reaches(combined(sum, parts), 0.0)


def all_of(answers: Iterable[Answer]) -> Answer:
    """Return whether all hold: a single no decides, else a single doubt."""
    given = set(answers)
    for answer in (Answer.NO, Answer.UNKNOWN):
        if answer in given:
            return answer
    return Answer.YES


def stays_within(figure: Interval, most: float) -> Answer:
    """Return whether a figure is no more than a limit."""
    if figure.high <= most:
        return Answer.YES
    return Answer.NO if figure.low > most else Answer.UNKNOWN


def judge(
    evidence: Evidence, policy: Policy, deciding: Sequence[Saving], added: Interval
) -> Recommendation:
    """Choose by what launches gain and the image grows, then by the budgets.

    :param deciding: savings, of which each has to meet the policy.
    :param added: what lzo adds to the image.
    """
    fits = fits_in(added, evidence.xz_bytes, policy)

    def judged(savings: Sequence[Saving]) -> Recommendation:
        return _judge_savings(evidence, policy, savings, added, fits)

    ordinary = judged([saving.likely for saving in deciding])
    if ordinary.verdict != judged(deciding).verdict:
        first, *others = ordinary.reasons
        ordinary = replace(ordinary, reasons=(first, Code.LIKELY, *others))
    return _within_budgets(ordinary, evidence, fits)


def _judge_savings(
    evidence: Evidence,
    policy: Policy,
    deciding: Sequence[Saving],
    added: Interval,
    fits: Answer,
) -> Recommendation:
    current = current_of(evidence)
    answers: Mapping[Condition, Answer] = {
        "saving": all_of(saves_enough(each, policy) for each in deciding),
        "paying": all_of(
            pays_for_itself(each, added, policy, evidence.downloads)
            for each in deciding
        ),
        "growth": fits,
    }
    answer = all_of(answers.values())
    if answer is Answer.YES:
        verdict: Verdict = "keep" if evidence.declared == "lzo" else "change"
        return Recommendation(
            compression="lzo", verdict=verdict, reasons=(Code.LZO_PAYS,)
        )
    first, *others = [each for each in answers if answers[each] is answer]
    if answer is Answer.UNKNOWN:
        return Recommendation(
            compression=current,
            verdict="undecided",
            reasons=(InDoubt((first, *others)),),
        )
    judgement = stay_small(evidence, policy, added, Fails(first))
    if first != "saving" and judgement.verdict == "no-benefit":
        return replace(judgement, verdict="keep")
    return judgement


def stay_small(
    evidence: Evidence, policy: Policy, added: Interval, reason: Reason
) -> Recommendation:
    """Judge a snap whose launches aren't worth lzo's bytes.

    :param reason: why they aren't.
    """
    choice: Compression = "xz"
    verdict: Verdict = "change"
    reasons: tuple[Reason, ...] = (reason, Code.XZ_IS_SMALLER)
    same_size = Answer.NO
    if evidence.xz_bytes is not None:
        negligible = policy.negligible_growth * evidence.xz_bytes.mid
        same_size = stays_within(added, negligible)
    if evidence.declared in (None, "xz"):
        verdict, reasons = "no-benefit", (reason,)
    elif evidence.declared != "lzo":
        reasons = (reason, Code.FOREIGN_CODEC)
    elif same_size is Answer.YES:
        choice, verdict, reasons = "lzo", "no-benefit", (reason, Code.SAME_SIZE)
    elif same_size is Answer.UNKNOWN and reason is Code.NO_LAUNCH:
        choice, verdict, reasons = "lzo", "undecided", (reason, Code.SIZE_IN_DOUBT)
    return Recommendation(compression=choice, verdict=verdict, reasons=reasons)


def current_of(evidence: Evidence) -> Compression:
    """Return the snap's codec if it is xz or lzo, else the default."""
    return "lzo" if evidence.declared == "lzo" else SNAPCRAFT_DEFAULT


def _within_budgets(
    ordinary: Recommendation, evidence: Evidence, lzo_fits: Answer
) -> Recommendation:
    """Return a judgement that minds the budgets of cold starts.

    If one codec surely keeps them and the other surely breaks one, that decides,
    regardless of the saving: a budget is a limit. Only the limit of the image's
    growth stands above it, which speaks of the choice of lzo itself. If neither
    keeps them or the intervals leave it open, the ordinary judgement holds, but never
    leads from a codec to one that does worse.

    :param ordinary: what savings and size come to.
    :param lzo_fits: whether lzo adds no more to the image than the project allows.
    """
    starts = evidence.cold_starts
    if not starts:
        return ordinary
    current = current_of(evidence)
    other = _OTHER[current]
    now, then = (
        all_of(kept_with(codec, start) for start in starts)
        for codec in (current, other)
    )
    if {now, then} == {Answer.YES, Answer.NO}:
        keeper = current if now is Answer.YES else other
        return _by_budget(ordinary, evidence, keeper, lzo_fits)
    if now is Answer.NO:
        note = Budget("neither" if then is Answer.NO else "in-doubt", current)
        return replace(ordinary, reasons=(*ordinary.reasons, note))
    if ordinary.compression != current and then is not Answer.YES and then is not now:
        sure = then is Answer.NO
        return Recommendation(
            compression=current,
            verdict=_verdict(current, evidence) if sure else "undecided",
            reasons=(Budget("breaks" if sure else "may-break", other),),
        )
    return ordinary


def kept_with(codec: str, start: ColdStart) -> Answer:
    """Return whether a cold start keeps its budget with a codec."""
    seconds = start.seconds.get(codec)
    if seconds is None:
        return Answer.UNKNOWN
    answer = stays_within(seconds, start.limit_s)
    if answer is Answer.YES and not start.own_time_known:
        return Answer.UNKNOWN
    return answer


def _by_budget(
    ordinary: Recommendation, evidence: Evidence, keeper: Compression, lzo_fits: Answer
) -> Recommendation:
    """Return the judgement where one codec alone keeps the budgets."""
    if keeper == "lzo" and lzo_fits is Answer.NO:
        reasons = (*ordinary.reasons, Budget("too-large", keeper))
        return replace(ordinary, reasons=reasons)
    keeps = Budget("keeps", keeper)
    if keeper == "lzo" and lzo_fits is Answer.UNKNOWN:
        return Recommendation(
            compression=current_of(evidence),
            verdict="undecided",
            reasons=(keeps, Code.GROWTH_IN_DOUBT),
        )
    verdict = _verdict(keeper, evidence)
    return Recommendation(compression=keeper, verdict=verdict, reasons=(keeps,))


def _verdict(choice: Compression, evidence: Evidence) -> Verdict:
    """Return whether a choice changes what is declared; by default that is xz."""
    return "keep" if choice == (evidence.declared or SNAPCRAFT_DEFAULT) else "change"


def starts_at_risk(evidence: Evidence) -> tuple[ColdStart, ...]:
    """Return the starts that don't surely keep their budget with both codecs."""
    return tuple(
        start
        for start in evidence.cold_starts
        if any(kept_with(codec, start) is not Answer.YES for codec in _OTHER)
    )


def _month(saving: Saving, downloads: Downloads | None, policy: Policy) -> Month | None:
    """Return the month of the policy's user; None if nothing is known of refreshes."""
    if policy.habits is None or downloads is None:
        return None
    return month_of(saving, policy.habits, downloads, policy.link_mbit_per_s)


def _for_any_reader(evidence: Evidence, policy: Policy) -> Recommendation:
    """Choose for files of which it isn't known whether anything reads them.

    That is decided if it is the same for what reads all of them and if nothing does.
    """
    unread, read = (
        recommend(replace(evidence, reader_known=True, launched=launched), policy)
        for launched in (False, True)
    )
    if (unread.compression, unread.verdict) == (read.compression, read.verdict):
        return read
    return replace(
        read,
        compression=current_of(evidence),
        verdict="undecided",
        reasons=(Code.READER_UNKNOWN,),
    )


def _nothing_to_judge(evidence: Evidence) -> Reason:
    """Return why there is no figure to decide by."""
    sizes = (("xz", evidence.xz_bytes), ("lzo", evidence.lzo_bytes))
    lacking = tuple(codec for codec, size in sizes if size is None)
    if lacking:
        return Lacking("codec", lacking)
    if evidence.without_program:
        return Lacking("program", tuple(evidence.without_program))
    if evidence.nothing_found:
        return Lacking("files", tuple(evidence.nothing_found))
    return Code.NO_APP


def _deciding(evidence: Evidence, policy: Policy) -> Sequence[Saving]:
    """Return the savings that decide; none if one of their apps is unknown."""
    apps = [saving.app for saving in evidence.savings]
    deciding_apps = set(apps if policy.deciding_apps == "every" else apps[:1])
    if deciding_apps & {*evidence.nothing_found, *evidence.without_program}:
        return ()
    savings = evidence.averages or evidence.savings
    return [saving for saving in savings if saving.app in deciding_apps]


def _decides(
    evidence: Evidence,
    policy: Policy,
    deciding: Sequence[Saving],
    judgement: Recommendation,
    added: Interval,
) -> Decides:
    """Return the saving that decides: the least of those that give the verdict.

    A saving that is larger, but less certain, can be the one that fails the policy. So
    those go first which alone come to the same verdict for the same reason.

    :param deciding: savings that decide together, at least one.
    :param judgement: of all of them.
    :param added: what lzo adds to the image.
    """
    apps = {saving.app for saving in deciding}
    savings = [saving for saving in evidence.savings if saving.app in apps]
    by_device = tuple(_by_device(evidence, policy, savings, added))
    alone = [(each, judge(evidence, policy, [each], added)) for each in deciding]
    alike = [saving for saving, each in alone if each.verdict == judgement.verdict]
    same = [
        saving
        for saving, each in alone
        if (each.verdict, each.reasons) == (judgement.verdict, judgement.reasons)
    ]
    saving = _least(same or alike or deciding)
    why: Decider = "least-saving"
    if len(by_device) == 1:
        why = "only-device"
    elif isinstance(judgement.reasons[0], Budget):
        why = "budget"
    elif saving.shares:
        why = "average"
    elif saving.device != _least(deciding).device:
        why = "not-worth-there"
    return Decides(saving=saving, why=why, by_device=by_device)


def _by_device(
    evidence: Evidence, policy: Policy, savings: Sequence[Saving], added: Interval
) -> Iterator[DeviceVerdict]:
    """Yield what each device gives by itself."""
    for device in dict.fromkeys(saving.device for saving in savings):
        here = [saving for saving in savings if saving.device == device]
        starts = [start for start in evidence.cold_starts if start.device == device]
        known = replace(evidence, cold_starts=starts)
        judgement = judge(known, policy, here, added)
        yield DeviceVerdict(
            device=device,
            verdict=judgement.verdict,
            compression=judgement.compression,
            saving=_least(here),
        )


def _least(savings: Sequence[Saving]) -> Saving:
    return min(savings, key=lambda saving: saving.seconds.mid)
