"""What to ship: from evidence by the policy's conditions and budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..core.units import Interval
from .evidence import Evidence, Policy, Saving, break_even_launches
from .judging import current_of, judge, stay_small
from .month import month_by
from .recommendation import (
    Budget,
    Code,
    Decider,
    Decides,
    DeviceVerdict,
    Lacking,
    Reason,
    Recommendation,
)


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
        month=month_by(policy, saving, evidence.downloads),
    )


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
