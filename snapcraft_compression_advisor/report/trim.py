"""What a snap needn't ship: a page, JSON, and YAML to paste."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.terminal import printable
from ..core.units import counted, format_bytes, percent, seconds, size
from .document import Part, document_text, part
from .model import Entry, Page, Section, Step, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..trim.find import Reason
    from ..trim.plan import TrimGroup, TrimPlan
    from ..trim.prove import AppProof, Proof

_TITLES: Mapping[Reason, str] = {
    "supplied-libraries": "libraries that the base or a content snap has",
    "older-versions": "second versions of libraries",
    "debug-symbols": "debug symbols",
    "static-libraries": "static libraries",
    "development-files": "headers and other files for builds",
    "documentation": "documentation",
    "package-caches": "package managers' caches",
    "other-architectures": "programs and libraries for other architectures",
    "translations": "translations",
    "themes": "themes",
}
_SHELL_SAFE = re.compile(r"[^\w./*\[\]@%+=:,-]")
_TRIM_PART = "trim"


def trim_page(
    plan: TrimPlan,
    *,
    risky: bool,
    proof: Proof | None = None,
    part_names: Sequence[str] = (),
) -> Page:
    """Return the page on files that needn't ship, and their filters.

    :param risky: whether the filters of what may be needed are among them.
    :param part_names: as :func:`trim_yaml` takes them.
    """
    sections = [
        _groups(plan),
        *([_proof(proof)] if proof else []),
        _risky(plan),
        _filters(plan, part_names, proof, risky=risky),
        *([_launches(plan)] if any(each.saved_s for each in plan.groups) else []),
    ]
    return Page(
        title=f"What {plan.snap} needn't ship",
        headline=f"{plan.snap}: {_answer(plan)}",
        facts=(f"Looked at {plan.path}",),
        sections=tuple(each for each in sections if each is not None),
    )


def _answer(plan: TrimPlan) -> str:
    if not plan.sure:
        return "nothing was found that could be left out without a risk"
    if plan.sure_bytes is None:
        return "sizes in the image aren't known"
    off, image = plan.sure_bytes, plan.image_bytes
    share = f", {percent(off.mid / image.mid)} of it" if image and image.mid else ""
    return f"{size(off)} of the image with {plan.codec} can go{share} (estimated)"


def _groups(plan: TrimPlan) -> Section | None:
    """Return the files that can go, by reason."""
    delta = plan.delta_share
    rows = tuple(
        (
            _TITLES[each.reason],
            counted(len(each.files), "file"),
            size(each.raw_bytes),
            size(each.image_bytes) if each.image_bytes else "unknown",
            *([size(each.image_bytes * delta)] if delta and each.image_bytes else []),
        )
        for each in plan.sure
    )
    heads = ("", "files", "length", "of the image", "of a typical delta")
    if not rows:
        return None
    table = Table(heads=heads[: len(rows[0])], rows=rows)
    files = sum(len(each.files) for each in plan.small)
    kinds = ", ".join(_TITLES[each.reason] for each in plan.small)
    small = f"No filters for {kinds} ({counted(files, 'file')}): less than 0.1% of it."
    return Section(short=True, sentences=(small,) * bool(files), tables=(table,))


def _filters(
    plan: TrimPlan, part_names: Sequence[str], proof: Proof | None, *, risky: bool
) -> Section | None:
    if not (plan.groups if risky else plan.sure):
        return None
    lines = trim_yaml(plan, risky=risky, part_names=part_names).rstrip().split("\n")
    proven = proof is None or all(each.problem is None for each in proof.apps)
    how = "'--fix' adds them" if proven else "not proven: '--prove --fix' adds none"
    step = Step(title=f"In snapcraft.yaml ({how})", lines=tuple(lines))
    return Section(short=True, steps=(step,))


def _risky(plan: TrimPlan) -> Section:
    """Return the files that some users or features need, and the search's scope."""
    apps = ", ".join(plan.apps) or "none"
    entries = (
        Entry(
            mark="risky",
            title=f"{_TITLES[each.reason]}: {counted(len(each.files), 'file')}, "
            f"{format_bytes(each.raw_bytes)}",
            text=f"may be needed: {each.risk}",
        )
        for each in plan.groups
        if each.risk is not None
    )
    return Section(
        short=True,
        sentences=(
            (
                "Never listed: what a launch may read, as guessed from files or "
                f"recorded, and what its programs link or load (apps: {apps})."
                + " Test the snap without these files before you release it."
                * bool(plan.groups)
            ),
        ),
        entries=tuple(entries),
    )


def _launches(plan: TrimPlan) -> Section:
    """Return the seconds that the files add to launches."""
    return Section(
        title="What they add to a cold launch",
        origin="Estimated.",
        sentences=tuple(
            f"{_TITLES[group.reason]}: {app} reads some of them, for "
            + ", ".join(f"{seconds(s)} on {device}" for device, s in by_device.items())
            + "."
            for group in plan.groups
            for app, by_device in group.saved_s.items()
        ),
    )


def _proof(proof: Proof) -> Section:
    """Return the outcome of launches without the files that can go."""
    off = proof.before_bytes - proof.after_bytes
    taken_back = (
        Entry(
            mark="taken back",
            tone="warning",
            title=_TITLES[each.group.reason],
            text=f"for {each.app}: {each.problem}",
        )
        for each in proof.taken_back
    )
    return Section(
        title="Without these files",
        short=True,
        origin="Measured.",
        sentences=(
            (
                f"The image: {format_bytes(proof.before_bytes)} before, "
                f"{format_bytes(proof.after_bytes)} after, "
                f"{percent(off / proof.before_bytes)} smaller."
            ),
            *map(_started, proof.apps),
        ),
        entries=tuple(taken_back),
    )


def _started(app: AppProof) -> str:
    if app.problem is not None:
        return f"{app.app}: not proven, it can't be started here: {app.problem}."
    text = (
        f"{app.app}: starts; {app.common_share or 0:.0%} of the blocks that launches "
        "before and after read are the same"
    )
    if app.turns is not None:
        cold_s = app.turns.cold_s
        before, after = (seconds(cold_s[name].mean) for name in ("before", "after"))
        text += f"; cold launches: {before} before, {after} after"
        text += f" (mean of {cold_s['after'].n})"
    return f"{text}; saved: {seconds(app.saved.saved_s)}." if app.saved else f"{text}."


def trim_yaml(plan: TrimPlan, *, risky: bool, part_names: Sequence[str] = ()) -> str:
    """Return filters to paste into snapcraft.yaml.

    :param risky: whether those of what may be needed are among them.
    :param part_names: all parts of the project, for a part that comes after them.
    """
    groups = plan.groups if risky else plan.sure
    lines = ["parts:"]
    for name in _parts(groups):
        own = [each for each in groups if name in each.filters]
        lines += _part_lines(name, own) if name else _own_part_lines(own, part_names)
    return "\n".join(lines) + "\n" if len(lines) > 1 else "parts: {}\n"


def sure_filters(plan: TrimPlan) -> dict[str, tuple[str, ...]]:
    """Return the filters of what nothing needs, by part."""
    return {
        name: tuple(
            pattern for each in plan.sure for pattern in each.filters.get(name, ())
        )
        for name in _parts(plan.sure)
    }


def _parts(groups: Iterable[TrimGroup]) -> list[str]:
    return list(dict.fromkeys(name for group in groups for name in group.filters))


def _part_lines(name: str, groups: Sequence[TrimGroup]) -> Iterator[str]:
    yield f"  {name}:"
    yield "    prime:"
    for group in groups:
        yield f"      # {_comment(group)}"
        for pattern in group.filters[name]:
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
    bytes_off = group.image_bytes.mid if group.image_bytes else 0
    risk = f"; risky: {group.risk}" if group.risk else ""
    return f"{_TITLES[group.reason]}: {format_bytes(bytes_off)} of the image{risk}"


def trim_json(plan: TrimPlan, proof: Proof | None) -> str:
    """Return a plan as JSON."""
    names = "path snap codec image_bytes sure_bytes delta_share apps"
    groups = [
        part(
            group,
            "reason risk files raw_bytes image_bytes saved_s",
            filters={
                name: [f"-{each}" for each in patterns]
                for name, patterns in group.filters.items()
            },
        )
        for group in plan.groups
    ]
    proven = _proof_part(proof) if proof else None
    return document_text(part(plan, names, groups=groups, proof=proven))


def _proof_part(proof: Proof) -> Part:
    taken_back = [
        part(each, "app problem", reason=each.group.reason) for each in proof.taken_back
    ]
    apps = []
    for app in proof.apps:
        cold_s = app.turns.cold_s if app.turns else None
        apps.append(
            part(
                app,
                "app problem common_share traced",
                cold_before_s=cold_s["before"].mean if cold_s else None,
                cold_after_s=cold_s["after"].mean if cold_s else None,
                saved_s=app.saved.saved_s if app.saved else None,
            )
        )
    return part(proof, "before_bytes after_bytes", apps=apps, taken_back=taken_back)
