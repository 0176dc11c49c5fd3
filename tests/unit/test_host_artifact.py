"""What an artifact is packed with, given advice and settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyses import make_analysis
from snapcraft_compression_advisor.host.artifact import (
    Artifact,
    Decision,
    check_advice,
    decide,
)
from snapcraft_compression_advisor.host.guard import PolicyBrokenError

if TYPE_CHECKING:
    from snapcraft_compression_advisor.advice.reasons import Verdict
    from snapcraft_compression_advisor.settings.policy_parts import PackMode


def decision(
    mode: PackMode,
    *,
    verdict: Verdict = "change",
    override_declared: bool = False,
    **artifact: str,
) -> Decision:
    analysis = make_analysis()
    advice = replace(analysis.recommendation, compression="lzo", verdict=verdict)
    return decide(
        Artifact(
            prime_dir=Path("/prime"),
            component=artifact.get("component"),
            compression=artifact.get("compression", "xz"),
            declared=artifact.get("declared"),
        ),
        replace(analysis, recommendation=advice),
        mode,
        override_declared=override_declared,
    )


@pytest.mark.parametrize("mode", ["apply", "write"])
def test_a_change_is_followed_where_nothing_is_declared(mode: PackMode) -> None:
    assert decision(mode).compression == "lzo"
    assert decision(mode).follows


@pytest.mark.parametrize("mode", ["advise", "enforce"])
def test_other_modes_follow_nothing(mode: PackMode) -> None:
    assert decision(mode, override_declared=True).compression == "xz"


@pytest.mark.parametrize("verdict", ["keep", "no-benefit", "undecided"])
def test_only_a_change_is_followed(verdict: Verdict) -> None:
    assert decision("apply", verdict=verdict).compression == "xz"


def test_what_is_declared_stands_unless_the_settings_say_otherwise() -> None:
    assert decision("apply", declared="xz").compression == "xz"
    given = decision("apply", declared="xz", override_declared=True)
    assert given.compression == "lzo"


def test_what_snapcraft_does_not_heed_is_not_declared() -> None:
    # On core22 a component is packed with the snap's compression, whatever its own.
    assert decision("apply", declared="lzo", compression="xz").compression == "lzo"


def test_enforce_stops_at_a_change_and_says_how_to_make_it() -> None:
    with pytest.raises(PolicyBrokenError) as raised:
        check_advice(decision("enforce", declared="xz"))
    assert str(raised.value).startswith("The declared compression 'xz' of the snap")
    assert "'snapcraft set-compression lzo'" in str(raised.value.resolution)
    assert raised.value.retcode == 1


def test_enforce_names_the_component() -> None:
    with pytest.raises(PolicyBrokenError) as raised:
        check_advice(decision("enforce", component="more"))
    assert str(raised.value).startswith(
        "The implied compression 'xz' of component more"
    )
    assert "lzo --component more" in str(raised.value.resolution)


@pytest.mark.parametrize("verdict", ["keep", "no-benefit", "undecided"])
def test_enforce_lets_other_verdicts_pass(verdict: Verdict) -> None:
    check_advice(decision("enforce", verdict=verdict))
