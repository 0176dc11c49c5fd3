"""The JSON of ``advise``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lint.rule import size_origin
from ..trial.stored import find_incompressible
from ..wording import sentences
from .advise_details import blocks_known
from .document import Part, document_text, part
from .files import LISTED_FILES, file_kinds, heavy_files, launch_groups
from .lint_formats.json import finding_parts
from .refresh import month_part
from .stack import stack_part, stack_snaps, stack_whole
from .words import what_decides

if TYPE_CHECKING:
    from ..advice.evidence import Saving
    from ..analysis import Analysis
    from ..launch.fit import FittedProfile
    from ..launch.model import LaunchEstimate
    from ..launches import LaunchAnalysis
    from ..lint.finding import LintedPayload
    from ..trial.stored import StoredSizes


def advise_json(
    analysis: Analysis,
    *,
    linted: LintedPayload | None = None,
    command: str = "",
) -> str:
    """Return an analysis as JSON text.

    :param linted: findings on the same payload; None if it wasn't linted.
    :param command: that makes the same figures again; empty if none does.
    """
    stored, trial = analysis.trial.stored, analysis.trial
    month = analysis.recommendation.month
    devices = [
        part(
            each,
            "name description sources",
            kernel=part(each.kernel, "versions file_mode decompressors source"),
        )
        for each in analysis.devices
    ]
    document = part(
        analysis,
        "payload",
        trial=part(
            trial,
            "mode tool notes",
            codecs={
                name: part(
                    codec,
                    "image_bytes available shippable",
                    origin=codec.image_bytes
                    and size_origin(codec.image_bytes, analysis),
                )
                for name, codec in trial.codecs.items()
            },
        ),
        launches=[_launch(analysis, each) for each in analysis.launches],
        recommendation=_recommendation(analysis),
        kinds=file_kinds(stored) if stored else [],
        incompressible=_incompressible(stored) if stored else None,
        findings=None if linted is None else finding_parts(linted),
        method=part(
            analysis,
            "app_choice",
            command=command,
            distinct_blocks=stored.layout.block_count if stored else 0,
            blocks_known=blocks_known(analysis),
            devices=devices,
            policy=part(
                analysis.policy,
                "min_saving_s min_saving_share max_launches link_mbit_per_s "
                "deciding_apps device_shares max_growth_bytes max_growth_share",
            ),
        ),
        month=month_part(month) if month else None,
    )
    return document_text(document)


def _incompressible(stored: StoredSizes) -> Part | None:
    """Return the bytes that xz doesn't make smaller; None if xz is unknown."""
    found = find_incompressible(stored, "xz", among=stored.layout.file_numbers)
    if found is None:
        return None
    return part(
        found,
        "stored_bytes total_bytes",
        codec="xz",
        files=len(found.files),
        largest=[
            part(each, "path", size_bytes=round(each.stored_bytes))
            for each in found.files[:LISTED_FILES]
        ],
    )


def _recommendation(analysis: Analysis) -> Part:
    advice, steps = analysis.recommendation, what_decides(analysis)
    decides = advice.decides
    saving = advice.decisive
    return part(
        advice,
        "compression verdict bytes_added break_even_launches",
        reasons=sentences(advice),
        seconds_saved=saving.seconds if saving else None,
        decides=part(
            decides,
            "why",
            app=decides.saving.app,
            device=None if decides.saving.shares else decides.saving.device,
            shares=decides.saving.shares,
        )
        if decides
        else None,
        by_device=[
            part(
                each,
                "device verdict compression",
                app=each.saving.app,
                seconds_saved=each.saving.seconds,
            )
            for each in (decides.by_device if decides else ())
        ],
        steps=[{"text": each.title, "commands": each.lines} for each in steps],
    )


def _launch(analysis: Analysis, launch: LaunchAnalysis) -> Part:
    known, profile = launch.launch_set, launch.profile
    blocks = round(known.expected_blocks, 1)
    savings = launch.savings() if known.files else ()
    decisive = analysis.recommendation.decisive
    own = decisive if decisive and decisive.app == known.app else None
    stack = stack_snaps(analysis, launch)
    return part(
        known,
        "app source method data_blocks raw_bytes unresolved",
        files=len(known.files),
        guess=_guess(launch, blocks),
        fit=part(profile, "gone changed", blocks_share=profile.fitting_share)
        if profile and (profile.gone or profile.changed)
        else None,
        groups=launch_groups(known.files),
        heaviest=heavy_files(analysis, known),
        devices={
            device: {codec: _cost(cost, profile) for codec, cost in costs.items()}
            for device, costs in launch.estimates.items()
        },
        savings={each.device: _saving(each) for each in savings},
        average=_saving(own) if own and own.shares else None,
        narrowing=part(
            own.narrowing,
            "if_recorded if_calibrated",
            device_name=own.device,
            seconds_saved=own.seconds,
        )
        if own and own.narrowing
        else None,
        weight=launch.weight,
        stack=[*map(stack_part, stack)],
        stack_whole=stack_whole(stack),
    )


def _guess(launch: LaunchAnalysis, blocks: float) -> Part | None:
    basis = launch.launch_set.basis
    if basis is None:
        return None
    return part(
        basis,
        "kind blind_spots",
        expected_blocks=blocks,
        read_share=launch.launch_set.read_share,
        recorded=dict(basis.recorded),
        reference=dict(basis.reference),
    )


def _saving(saving: Saving) -> Part:
    return {"seconds_saved": saving.seconds, "share_saved": saving.share}


def _cost(estimate: LaunchEstimate, profile: FittedProfile | None) -> Part:
    warm_s = profile.warm_s if profile else None
    return part(
        estimate,
        "added_s",
        io_s=estimate.io.mid,
        copy_s=estimate.copying.mid,
        decompress_s=estimate.decompression.mid,
        warm_s=warm_s,
        cold_s=None if warm_s is None else warm_s + estimate.added_s.mid,
    )
