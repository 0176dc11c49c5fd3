"""What to ship: from evidence by the policy's conditions and budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.units import Interval
from .conditions import (
    Answer,
    all_of,
    fits_in,
    pays_for_itself,
    saves_enough,
    stays_within,
    surely_saves_enough,
)
from .evidence import (
    ColdStart,
    Evidence,
    Policy,
    Saving,
    break_even_launches,
)
from .month import Month, month_of
from .reasons import (
    Budget,
    Code,
    Compression,
    Condition,
    Decider,
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

SNAPCRAFT_DEFAULT: Compression = "xz"
"""What snapcraft and snapd pack with where snapcraft.yaml has no ``compression``."""

_OTHER: Mapping[Compression, Compression] = {"xz": "lzo", "lzo": "xz"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What to ship.

    :param compression: the recommended codec.
    :param verdict: ``change`` it to that, ``keep`` it, ``no-benefit`` (lzo makes no
        difference worth having) or ``undecided`` (the evidence doesn't tell).
    :param reasons: the most important first.
    :param decides: which saving decided, and what each device gives by itself.
    :param bytes_added: what lzo adds to the image over xz.
    :param break_even_launches: cold launches that pay for ``bytes_added``.
    :param doubts: conditions of the policy that the evidence leaves open.
    :param month: of the saving that decided; ``None`` if nothing is known of
        refreshes.
    """

    compression: Compression
    verdict: Verdict
    reasons: tuple[Reason, ...]
    decides: Decides | None = None
    bytes_added: Interval | None = None
    break_even_launches: float | None = None
    doubts: tuple[Condition, ...] = ()
    month: Month | None = None

    @property
    def decisive(self) -> Saving | None:
        """The saving that decided."""
        return self.decides.saving if self.decides else None


def recommend(evidence: Evidence, policy: Policy) -> Recommendation:
    """Choose between xz and lzo."""
    added = evidence.bytes_added
    if added is not None and not evidence.launched:
        return _by_size(evidence, policy, added)
    if not evidence.reader_known:
        return _for_any_reader(evidence, policy)
    deciding = _deciding(evidence, policy)
    if added is None or not deciding:
        return Recommendation(
            compression=current_of(evidence),
            verdict="undecided",
            reasons=(_nothing_to_judge(evidence),),
            bytes_added=added,
        )

    judgement = judge(evidence, policy, deciding, added)
    decides = _decides(evidence, policy, deciding, judgement, added)
    launches = break_even_launches(
        added.mid, decides.saving.seconds.mid, policy.link_mbit_per_s
    )
    paid: tuple[Reason, ...] = ()
    if launches and (judgement.compression == "lzo" or _is_on_paying(judgement)):
        paid = (PaidAfter(launches, policy.link_mbit_per_s),)
    month = _month(evidence, policy, decides.saving, added)
    if month is not None:
        paid = (month,)
    return replace(
        judgement,
        reasons=(
            *judgement.reasons,
            decides.saving,
            *((decides,) if len(decides.by_device) > 1 else ()),
            *_growth(evidence, added),
            *paid,
        ),
        decides=decides,
        bytes_added=added,
        break_even_launches=launches,
        month=month,
    )


def _is_on_paying(judgement: Recommendation) -> bool:
    """Whether it follows from how soon the download pays for itself, or may."""
    reason = judgement.reasons[0]
    if isinstance(reason, InDoubt):
        return "paying" in reason.conditions
    return isinstance(reason, Fails) and reason.condition == "paying"


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
    figures = (each for each in read.reasons if isinstance(each, Saving | Growth))
    return replace(
        read,
        compression=current_of(evidence),
        verdict="undecided",
        reasons=(Code.READER_UNKNOWN, *figures),
    )


def _month(
    evidence: Evidence, policy: Policy, saving: Saving, added: Interval
) -> Month | None:
    """Return a user's month, where something is known of refreshes."""
    if policy.habits is None or evidence.downloads is None:
        return None
    link = policy.link_mbit_per_s
    return month_of(saving, policy.habits, evidence.downloads, added, link)


def _by_size(evidence: Evidence, policy: Policy, added: Interval) -> Recommendation:
    """Choose for files that no launch is known to read: they should be small."""
    judgement = stay_small(evidence, policy, added, Code.NO_LAUNCH)
    if judgement.verdict == "change" and evidence.xz_bytes is not None:
        negligible = policy.negligible_growth * evidence.xz_bytes.mid
        if evidence.declared == "lzo" and added.low <= negligible:
            judgement = Recommendation(
                compression="lzo",
                verdict="undecided",
                reasons=(Code.NO_LAUNCH, Code.SIZE_IN_DOUBT),
            )
    reasons = (*judgement.reasons, *_growth(evidence, added))
    return replace(judgement, reasons=reasons, bytes_added=added)


def _growth(evidence: Evidence, added: Interval) -> tuple[Growth, ...]:
    xz_bytes = evidence.xz_bytes
    return () if xz_bytes is None else (Growth(added, xz_bytes),)


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
    enough = all_of(saves_enough(saving, policy, current) for saving in deciding)
    pays = all_of(
        pays_for_itself(saving, added, policy, evidence.downloads)
        for saving in deciding
    )
    answer = all_of((enough, pays, fits))
    if answer is Answer.YES:
        verdict: Verdict = "keep" if evidence.declared == "lzo" else "change"
        return Recommendation(
            compression="lzo", verdict=verdict, reasons=(Code.LZO_PAYS,)
        )
    if answer is Answer.UNKNOWN:
        doubts = _doubts(saving=enough, paying=pays, growth=fits)
        return Recommendation(
            compression=current_of(evidence),
            verdict="undecided",
            reasons=(InDoubt(doubts, policy),),
            doubts=doubts,
        )
    if enough is Answer.NO:
        sure = all_of(surely_saves_enough(saving, policy) for saving in deciding)
        reason = Fails("saving", policy, within_margin=sure is not Answer.NO)
        return stay_small(evidence, policy, added, reason)
    condition: Condition = "paying" if pays is Answer.NO else "growth"
    judgement = stay_small(evidence, policy, added, Fails(condition, policy))
    if judgement.verdict == "no-benefit":
        return replace(judgement, verdict="keep")
    return judgement


def _doubts(**answers: Answer) -> tuple[Condition, ...]:
    every: tuple[Condition, ...] = ("saving", "paying", "growth")
    return tuple(each for each in every if answers[each] is Answer.UNKNOWN)


def stay_small(
    evidence: Evidence, policy: Policy, added: Interval, reason: Reason
) -> Recommendation:
    """Judge a snap whose launches aren't worth lzo's bytes.

    :param reason: why they aren't.
    """
    choice: Compression = "xz"
    verdict: Verdict = "change"
    reasons: tuple[Reason, ...] = (reason, Code.XZ_IS_SMALLER)
    if evidence.declared in (None, "xz"):
        verdict, reasons = "no-benefit", (reason,)
    elif evidence.declared != "lzo":
        reasons = (reason, Code.FOREIGN_CODEC)
    elif evidence.xz_bytes and added.high <= (
        policy.negligible_growth * evidence.xz_bytes.mid
    ):
        choice, verdict, reasons = "lzo", "no-benefit", (reason, Code.SAME_SIZE)
    return Recommendation(compression=choice, verdict=verdict, reasons=reasons)


def current_of(evidence: Evidence) -> Compression:
    """Return the snap's codec if it is xz or lzo, else the default."""
    return "lzo" if evidence.declared == "lzo" else SNAPCRAFT_DEFAULT


def _within_budgets(
    ordinary: Recommendation, evidence: Evidence, lzo_fits: Answer
) -> Recommendation:
    """Return a judgement that minds the budgets of cold starts.

    Where one codec surely keeps them and the other surely breaks one, that decides,
    regardless of the saving: a budget is a limit. Only the limit of the image's
    growth stands above it, which speaks of the choice of lzo itself. Where neither
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
        none = then is Answer.NO
        note = Code.NO_CODEC_IN_BUDGET if none else Budget("in-doubt", current)
        return _noted(ordinary, note, starts)
    if ordinary.compression != current and then is not Answer.YES and then is not now:
        sure = then is Answer.NO
        return Recommendation(
            compression=current,
            verdict=_verdict(current, evidence) if sure else "undecided",
            reasons=(
                Budget("breaks" if sure else "may-break", other),
                *_at_risk(starts),
            ),
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
    starts = evidence.cold_starts
    if keeper == "lzo" and lzo_fits is Answer.NO:
        return _noted(ordinary, Code.BUDGET_OR_SIZE, starts)
    keeps = Budget("keeps", keeper)
    if keeper == "lzo" and lzo_fits is Answer.UNKNOWN:
        return Recommendation(
            compression=current_of(evidence),
            verdict="undecided",
            reasons=(keeps, Code.GROWTH_IN_DOUBT, *_at_risk(starts)),
        )
    return Recommendation(
        compression=keeper,
        verdict=_verdict(keeper, evidence),
        reasons=(keeps, *_at_risk(starts)),
    )


def _verdict(choice: Compression, evidence: Evidence) -> Verdict:
    """Return whether a choice changes what is declared; by default that is xz."""
    return "keep" if choice == (evidence.declared or SNAPCRAFT_DEFAULT) else "change"


def _noted(
    judgement: Recommendation, note: Reason, starts: Sequence[ColdStart]
) -> Recommendation:
    return replace(judgement, reasons=(*judgement.reasons, note, *_at_risk(starts)))


def _at_risk(starts: Sequence[ColdStart]) -> tuple[ColdStart, ...]:
    """Return the starts that don't surely keep their budget with both codecs."""
    return tuple(
        start
        for start in starts
        if any(kept_with(codec, start) is not Answer.YES for codec in _OTHER)
    )
