"""What several pages say of launches and verdicts, and what decides if none does."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ..advice.recommendation import Code
from ..core.terminal import printable
from ..core.units import counted, first_of, join_ends, joined
from ..payload.snap_yaml import split_component_name
from ..wording import not_followed, verdict_words
from .model import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..analysis import Analysis
    from ..devices.device import KernelProfile
    from ..launch.fit import FittedProfile
    from ..launch.launch_set import Source, WindowEnd
    from ..launches import LaunchAnalysis
    from ..payload.linkage import Unresolved

WINDOW_PHRASES: Mapping[WindowEnd, str] = {
    "drawn": "a window with content",
    "early": "a first window, which may be a dialog or a splash screen",
    "reading": "a window with content; reading went on",
    "blank": "a window that stayed blank",
}
"""What ended a launch."""

WHAT_IF = "* for comparison: snapcraft and the store accept only xz and lzo."

_SUPPLIED: Mapping[str, str] = {
    "base": "from the base",
    "base or content snap": "from the base or a content snap",
    "missing": "missing",
    "unreadable": "not readable as ELF",
}

_DEVICE = "this-machine.yaml"


def kernel_phrase(kernel: KernelProfile) -> str:
    """Return a phrase on a kernel's way to read squashfs."""
    return (
        f"kernel {kernel.versions}: file mode {kernel.file_mode}, decompressors "
        f"{kernel.decompressors}"
    )


def how_known(source: Source) -> str:
    """Return a phrase on the source of a launch's files."""
    return "guessed from files" if source == "static" else "recorded"


def accuracy(launch: LaunchAnalysis) -> Iterator[str]:
    """Yield how far what is known of a launch can be trusted, in clauses."""
    known, fit = launch.launch_set, launch.profile
    if known.basis is not None:
        yield _how_sure(known.basis.kind, [ratio for _, ratio in known.basis.recorded])
        if known.basis.blind_spots:
            yield not_followed(known.basis)
    if fit is not None and (fit.gone or fit.changed):
        yield _how_it_fits(fit)


def _how_sure(kind: str, ratios: Sequence[float]) -> str:
    if not ratios:
        return (
            f"accuracy: {kind}; no application of this kind was recorded, so the "
            "interval is wide"
        )
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return (
        f"accuracy: {kind}; {counted(len(ratios), 'recorded application')} of this "
        f"kind read {low if low == high else join_ends(low, high)} times the predicted "
        "bytes (measured)"
    )


def _how_it_fits(fit: FittedProfile) -> str:
    text = f"{fit.fitting_share:.0%} of the launch profile's blocks fit this payload"
    for names, what in ((fit.gone, "gone"), (fit.changed, "of another size")):
        if names:
            text += f"; {counted(len(names), 'file')} {what} ({first_of(names)})"
    return text


def not_shipped(needed: Iterable[Unresolved]) -> Iterator[str]:
    """Yield what a launch needs and the payload lacks, a clause for each supplier."""
    names: dict[str, list[str]] = {}
    for each in needed:
        names.setdefault(each.supplier, []).append(each.name)
    for supplier, found in names.items():
        yield f"{_SUPPLIED[supplier]}: {first_of(found)}"


def what_decides(analysis: Analysis) -> Iterator[Step]:
    """Yield what would decide an advice; nothing if it is decided."""
    if analysis.recommendation.verdict != "undecided":
        return
    guessed = guessed_apps(analysis)
    if Code.READER_UNKNOWN in analysis.recommendation.reasons:
        _, name = split_component_name(analysis.payload.name)
        setting = f"'components: {{{name}: {{read: all}}}}', or 'none'"
        yield Step(
            title=f"Say what is read of it in compression-advisor.yaml: {setting}",
            short=f"set {setting}",
        )
        return
    if analysis.missing_programs:  # which no recording could start either
        yield Step(
            title="Ship what the app starts, or correct its path ('lint' names both)",
            short="ship what it starts",
        )
        return
    if guessed:
        yield record_instead(analysis, guessed)
        return
    if any(each.launch_set.window == "early" for each in analysis.launches):
        yield Step(
            title="The recording ended at a first window. If that is a splash screen, "
            "wait longer; if it is a dialog of the first run, answer it in a home "
            "directory of its own (DIR/user), and record with --home DIR",
            lines=(again(analysis, "--record", "--until", "seconds:10"),),
            short="record past its first window",
        )
        return
    if not analysis.launches:
        if Code.NO_APP in analysis.recommendation.reasons:
            yield Step(
                title="If it is a base or a content snap, name snaps that run with it: "
                "their launches decide",
                lines=(again(analysis, "--consumer", "app.snap"),),
                short="name a snap that runs with it",
            )
        return
    if "growth" in analysis.recommendation.doubts:
        yield Step(title="--exact packs with every codec, so the sizes are measured")
    if {"saving", "paying"} & {*analysis.recommendation.doubts}:
        yield from _without_devices_in_doubt(analysis)
        yield Step(
            title="It depends on how fast the device is; a calibrated profile of your "
            "own device decides it for that device",
            lines=(
                # sudo doesn't look where pipx puts programs
                f'sudo "$(command -v compression-advisor)" calibrate -o {_DEVICE}',
                again(analysis, "--device", _DEVICE),
            ),
            short="measure your own device",
        )


def _without_devices_in_doubt(analysis: Analysis) -> Iterator[Step]:
    """Yield the step that names the devices which decide it by themselves, if any."""
    decides = analysis.recommendation.decides
    devices = decides.by_device if decides else ()
    sure = [each for each in devices if each.verdict != "undecided"]
    if sure:
        names = [each.device for each in sure]
        yield Step(
            title=f"Judged by {joined(names)} alone: {verdict_words(sure[0])}. Name "
            "the devices that your users have",
            lines=(again(analysis, *_each("--device", names)),),
            short="name the devices that your users have",
        )


def again(analysis: Analysis, *more: str) -> str:
    """Return the command that gave the advice, with options in place of its own."""
    kept = (
        word for option in analysis.options if option[0] not in more for word in option
    )
    words = map(printable, ("advise", str(analysis.payload.path), *kept, *more))
    return f"compression-advisor {shlex.join(words)}"


def record_instead(analysis: Analysis, guessed: Sequence[str]) -> Step:
    """Return the step that replaces guesses, for a snap or for its consumers."""
    consumers = (each for each in analysis.launches if each.weight is not None)
    names = [app for each in consumers if (app := each.launch_set.app) in guessed]
    if names:
        return Step(
            title="Record the launches of the consumers, in place of the guesses",
            lines=tuple(map(record_installed, names)),
            short="record the consumers' launches",
        )
    named = guessed if len(analysis.launches) > 1 else ()
    return Step(
        title="Record a launch, in place of the guess",
        lines=(again(analysis, "--record", *_each("--app", named)),),
        short="record a launch",
    )


def record_installed(name: str) -> str:
    """Return the command that records the launch of an installed snap, or an app."""
    file = shlex.quote(f"{name}.json")
    return f"compression-advisor record --installed {shlex.quote(name)} -o {file}"


def guessed_apps(analysis: Analysis) -> Sequence[str]:
    """Return the apps of which it was guessed what they read."""
    sets = (launch.launch_set for launch in analysis.launches)
    return [known.app for known in sets if known.files and known.source == "static"]


def _each(option: str, values: Iterable[str]) -> Iterator[str]:
    for value in values:
        yield from (option, value)
