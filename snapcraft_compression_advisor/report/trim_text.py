"""What could be left out of a snap: as text, and as YAML to paste."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import Interval, format_bytes, format_seconds
from ..lint.figures import bytes_text, share_text
from .lines import wrapped
from .page.texts import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..trim.find import Reason
    from ..trim.plan import TrimGroup, TrimPlan
    from ..trim.prove import AppProof, Proof

TITLES: Mapping[Reason, str] = {
    "supplied-libraries": "libraries that the base or a content snap has",
    "older-versions": "second versions of libraries",
    "debug-symbols": "debug symbols",
    "static-libraries": "static libraries",
    "development-files": "headers and other files for builds",
    "documentation": "documentation",
    "package-caches": "package managers' caches",
    "other-architectures": "programs and libraries for other architectures",
    "unused-libraries": "libraries that nothing links or names",
    "translations": "translations",
    "themes": "themes",
}
_LISTED_FILTERS = 6
_SHELL_SAFE = re.compile(r"[^\w./*\[\]@%+=:,-]")
_TRIM_PART = "trim"


def render_trim_text(plan: TrimPlan, *, risky: bool, proof: Proof | None = None) -> str:
    """Return for people what could be left out.

    :param risky: whether to list the filters of what may be needed, too.
    """
    lines = [f"{plan.snap}: {printable(str(plan.path))}", ""]
    lines += wrapped(_summary(plan))
    for group in plan.groups:
        lines += ["", *_group_lines(plan, group, filters=risky or group.risk is None)]
    if proof is not None:
        lines += ["", *_proof_lines(proof)]
    lines += ["", *wrapped(_closing(plan))]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _summary(plan: TrimPlan) -> str:
    if not plan.sure:
        return "There is nothing that this snap certainly doesn't need."
    if plan.sure_bytes is None:
        return "Sizes in the image aren't known."
    image = plan.image_bytes
    share = f", {share_text(plan.sure_bytes.mid, image.mid)} of it" if image else ""
    return (
        f"Without what nothing needs, the image with {plan.codec} is an estimated "
        f"{bytes_text(plan.sure_bytes)} smaller{share}."
    )


def _group_lines(plan: TrimPlan, group: TrimGroup, *, filters: bool) -> Iterator[str]:
    count = f"{len(group.files):,} file{'s' * (len(group.files) != 1)}"
    risk = "" if group.risk is None else " (risky)"
    saved = bytes_text(group.image_bytes) if group.image_bytes else "unknown"
    yield f"{TITLES[group.reason]}{risk}: {count}, {format_bytes(group.raw_bytes)}"
    yield from wrapped(
        f"in the image: {saved}, estimated{_delta_text(plan, group)}",
        first="  ",
        rest="    ",
    )
    if group.risk is not None:
        yield from wrapped(f"may be needed: {group.risk}", first="  ", rest="    ")
    for app, by_device in group.saved_s.items():
        costs = ", ".join(
            f"{seconds(cost)} on {device}" for device, cost in by_device.items()
        )
        yield from wrapped(
            f"a cold launch of {app} reads some of them, for an estimated {costs}",
            first="  ",
            rest="    ",
        )
    if filters:
        yield from _filter_lines(group)


def _delta_text(plan: TrimPlan, group: TrimGroup) -> str:
    if plan.delta_share is None or group.image_bytes is None:
        return ""
    typical = group.image_bytes.map(lambda size: size * (plan.delta_share or 0.0))
    return f"; of a typical delta: {bytes_text(typical)}"


def _filter_lines(group: TrimGroup) -> Iterator[str]:
    for part, patterns in group.filters.items():
        yield f"  part {printable(part)}:" if part else "  filters:"
        for pattern in patterns[:_LISTED_FILTERS]:
            yield f"    -{printable(pattern)}"
        if len(patterns) > _LISTED_FILTERS:
            yield f"    and {len(patterns) - _LISTED_FILTERS:,} more"


def _proof_lines(proof: Proof) -> Iterator[str]:
    """Yield what became of the snap without what nothing seemed to need."""
    saved = proof.before_bytes - proof.after_bytes
    yield from wrapped(
        f"Without these files (measured): image {format_bytes(proof.before_bytes)} → "
        f"{format_bytes(proof.after_bytes)}, {share_text(saved, proof.before_bytes)} "
        "smaller"
    )
    for app in proof.apps:
        if app.problem is not None:
            text = f"{app.app}: not proven, it can't be started here: {app.problem}"
        else:
            text = (
                f"{app.app}: starts; {app.common_share or 0:.0%} of the blocks that "
                "launches before and after read are the same"
            )
        yield from wrapped(printable(text), first="  ", rest="    ")
        yield from wrapped(_timed_text(app), first="    ", rest="    ")
    for each in proof.taken_back:
        yield from wrapped(
            printable(
                f"taken back: {TITLES[each.group.reason]}, for {each.app}: "
                f"{each.problem}"
            ),
            first="  ",
            rest="    ",
        )


def _timed_text(app: AppProof) -> str:
    """Return how much faster cold launches are; nothing where they weren't timed."""
    if app.turns is None:
        return ""
    cold_s = app.turns.cold_s
    found = app.saved
    text = (
        f"cold launches: {format_seconds(cold_s['before'].mean)} before, "
        f"{format_seconds(cold_s['after'].mean)} after (measured, mean of "
        f"{cold_s['after'].n})"
    )
    return f"{text}; saved: {seconds(found.saved_s)}" if found else text


def _closing(plan: TrimPlan) -> str:
    apps = ", ".join(plan.apps) or "none"
    return (
        "Never listed: what a launch may read, as guessed from files or recorded, and "
        f"what its programs link or load (apps: {apps}). Test the snap without the "
        "files. '--format yaml' prints all filters for snapcraft.yaml."
    )


def render_trim_yaml(
    plan: TrimPlan, *, risky: bool, part_names: Sequence[str] = ()
) -> str:
    """Return filters to paste into snapcraft.yaml.

    :param risky: whether those of what may be needed are among them.
    :param part_names: all parts of the project, for a part that comes after them.
    """
    groups = plan.groups if risky else plan.sure
    lines = ["parts:"]
    for part in _parts(groups):
        own = [each for each in groups if part in each.filters]
        lines += _part_lines(part, own) if part else _own_part_lines(own, part_names)
    return "\n".join(lines) + "\n" if len(lines) > 1 else "parts: {}\n"


def sure_filters(plan: TrimPlan) -> dict[str, tuple[str, ...]]:
    """Return the filters of what nothing needs, by part."""
    return {
        part: tuple(
            pattern for each in plan.sure for pattern in each.filters.get(part, ())
        )
        for part in _parts(plan.sure)
    }


def _parts(groups: Iterable[TrimGroup]) -> list[str]:
    return list(dict.fromkeys(part for group in groups for part in group.filters))


def _part_lines(part: str, groups: Sequence[TrimGroup]) -> Iterator[str]:
    yield f"  {part}:"
    yield "    prime:"
    for group in groups:
        yield f"      # {_comment(group)}"
        for pattern in group.filters[part]:
            yield "      - '-" + printable(pattern).replace("'", "''") + "'"


def _own_part_lines(groups: Sequence[TrimGroup], names: Sequence[str]) -> Iterator[str]:
    """Yield a part that removes files of other parts, which isn't known which."""
    yield f"  {_TRIM_PART}:"
    yield "    plugin: nil"
    after = ", ".join(names) or "ALL-OTHER-PARTS"
    yield f"    after: [{after}]"
    yield "    override-prime: |"
    yield "      craftctl default"
    yield "      shopt -s globstar"
    yield '      cd "$CRAFT_PRIME"'
    for group in groups:
        yield f"      # {_comment(group)}"
        for pattern in group.filters[""]:
            safe = _SHELL_SAFE.sub(lambda match: f"\\{match[0]}", pattern)
            yield f"      rm -rf ./{safe}"


def _comment(group: TrimGroup) -> str:
    size = group.image_bytes or Interval.exactly(0)
    risk = f"; risky: {group.risk}" if group.risk else ""
    return f"{TITLES[group.reason]}: {format_bytes(size.mid)} of the image{risk}"
