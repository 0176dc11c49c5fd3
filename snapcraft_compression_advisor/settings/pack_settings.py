"""What the advisor does while snapcraft packs: the ``pack`` part of the policy."""

from __future__ import annotations

from typing import Literal

import pydantic

from snapcraft_compression_advisor.settings.policy_model import PolicyModel, Text

PackMode = Literal["advise", "apply", "write", "enforce"]


class PackSettings(PolicyModel):
    """What the advisor does while snapcraft packs; the command line has no use for it.

    Which compression suits the snap is the business of ``advice``, ``budgets``,
    ``apps``, ``devices`` and ``launch-profile``, as everywhere.
    """

    mode: PackMode = pydantic.Field(
        default="advise",
        description="'advise' says what suits the snap; 'apply' packs with it; 'write' "
        "also sets the key in snapcraft.yaml; 'enforce' stops the pack where the "
        "declared compression breaks the policy",
    )
    override_declared: bool = pydantic.Field(
        default=False,
        strict=True,
        description="whether 'apply' and 'write' may go against a compression that "
        "snapcraft.yaml declares",
    )
    report: Text | None = pydantic.Field(
        default=None,
        description="a report to write, relative to this file: JSON where its name "
        "ends so, else text; a component's has the component's name before the suffix",
    )
