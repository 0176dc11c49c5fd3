"""SCA106 and SCA107: the compression declared, packed and published."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.core.units import format_bytes
from snapcraft_compression_advisor.lint.finding import Evidence, Finding, Fix
from snapcraft_compression_advisor.lint.places import compression_place, current_codec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity


class CompressionLost:
    """A key that the built snap doesn't show."""

    id: ClassVar[str] = "SCA106"
    name: ClassVar[str] = "compression-lost"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "The snap isn't packed with what was declared."
    fails_if: ClassVar[str] = (
        "A built snap is packed with another codec than snapcraft.yaml's `compression` "
        "or the policy's says, or snapcraft.yaml says another than the policy. "
        "Nothing is looked at where neither says anything."
    )
    why: ClassVar[str] = (
        "A key gets lost where a plugin, a wrapper or another packer packs with its "
        "own default, or where the snap is older than the key: what users get is then "
        "not what was decided."
    )
    how_to_fix: ClassVar[str] = (
        "Build the snap again. Where the key is lost again, pack with `snapcraft "
        "pack`, or give `snap pack` its `--compression`."
    )
    options: ClassVar[Mapping[str, str]] = {
        "compression": "what the snap is to be packed with: `xz` or `lzo`"
    }

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield a finding for each declaration that the snap doesn't keep."""
        codec = current_codec(context)
        project = context.project
        is_built = context.analysis.payload.kind == "snap"
        in_project = project.compression if project and is_built else None
        for where, declared in (
            ("snapcraft.yaml", in_project),
            ("the policy", context.policy.compression),
        ):
            if declared is None or declared == codec:
                continue
            verb = "is" if is_built else "would be"
            yield Finding(
                rule=self.id,
                name=self.name,
                severity=self.severity,
                message=f"{declared} is declared in {where}, but the snap {verb} "
                f"packed with {codec}.",
                location=compression_place(context),
                evidence=(
                    Evidence(label=f"in {where}", text=declared, origin="declared"),
                    Evidence(
                        label="packed with" if is_built else "to be packed with",
                        text=codec,
                        origin="measured" if is_built else "declared",
                    ),
                ),
                fix=Fix(
                    description="Build the snap again with 'snapcraft pack'"
                    if is_built
                    else f"Set 'compression: {declared}' in snapcraft.yaml"
                ),
            )


class CompressionChanged:
    """Another codec than the published snap has."""

    id: ClassVar[str] = "SCA107"
    name: ClassVar[str] = "compression-changed"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "The previous snap was packed with another codec."
    fails_if: ClassVar[str] = (
        "With `--previous FILE`: the snap that was published before, of the same "
        "name, is packed with another codec than this one."
    )
    why: ClassVar[str] = (
        "A change of the codec changes every block: the next refresh downloads the "
        "whole image, and launch time and size change for all users. That should be a "
        "decision, not an accident."
    )
    how_to_fix: ClassVar[str] = (
        "Where it is meant, ignore the rule for this release; else set `compression` "
        "to what it was."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where it changed."""
        previous = context.previous
        codec = current_codec(context)
        if previous is None or previous.codec == codec:
            return
        is_built = context.analysis.payload.kind == "snap"
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            message=f"The previous snap was packed with {previous.codec}, this one "
            f"{'is' if is_built else 'would be'} with {codec}.",
            location=compression_place(context),
            evidence=(
                Evidence(
                    label=f"previous snap {previous.path}",
                    text=f"{previous.codec}, {format_bytes(previous.image_bytes)}",
                    origin="measured",
                ),
                Evidence(
                    label="now",
                    text=codec,
                    origin="measured" if is_built else "declared",
                ),
            ),
            fix=Fix(
                description=f"Set 'compression: {previous.codec}' in snapcraft.yaml, "
                "unless the change is meant"
            ),
        )


RULES = (CompressionLost(), CompressionChanged())
