"""The policy's conditions: whether each holds, as far as intervals tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from ..core.units import Interval, combined
from .evidence import Downloads, Policy, Saving, download_seconds
from .month import month_of
from .reasons import Compression


class Answer(Enum):
    """Whether a condition of the policy holds, as far as the interval tells."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def saves_enough(saving: Saving, policy: Policy, current: Compression) -> Answer:
    """Return whether a launch becomes faster by as much as the policy asks.

    Where the doubt is smaller than anybody notices, the snap's codec stays.

    :param current: that codec.
    """
    sure = surely_saves_enough(saving, policy)
    if sure is not Answer.UNKNOWN or policy.min_saving_share is not None:
        return sure
    if current == "lzo":
        stays = saving.seconds.low >= policy.min_saving_s - policy.margin_s
        return Answer.YES if stays else sure
    stays = saving.seconds.high < policy.min_saving_s + policy.margin_s
    return Answer.NO if stays else sure


def surely_saves_enough(saving: Saving, policy: Policy) -> Answer:
    """Return whether a launch becomes faster by as much, without that margin."""
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
    if policy.habits is not None and downloads is not None:
        link = policy.link_mbit_per_s
        month = month_of(saving, policy.habits, downloads, added, link)
        return _reaches(month.total_s, 0.0)

    def gained_s(figures: Sequence[float]) -> float:
        saved_s, fewer_bytes = figures
        download_s = download_seconds(-fewer_bytes, policy.link_mbit_per_s)
        return policy.max_launches * saved_s - download_s

    fewer = -added
    return _reaches(combined(gained_s, (saving.seconds, fewer)), 0.0)


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
