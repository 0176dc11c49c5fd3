"""SCA4xx: whether the image can be mounted, and taken by the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.lint.finding import Evidence, Finding, Fix
from snapcraft_compression_advisor.lint.kernels import (
    FIRST_KERNEL,
    OLDEST_KERNEL,
    kernel_has,
    target_has,
    version_text,
)
from snapcraft_compression_advisor.lint.places import compression_place, current_codec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity

_OLDEST_BASES = frozenset({"core", "core16"})
"""Bases of the release whose kernel is :data:`OLDEST_KERNEL`."""


class CodecNotInKernel:
    """A kernel that the snap is for can't decompress it."""

    id: ClassVar[str] = "SCA401"
    name: ClassVar[str] = "codec-not-in-kernel"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "A target's kernel may lack the codec."
    fails_if: ClassVar[str] = (
        "The image's codec isn't in the kernel of one of the policy's `targets`: "
        "mainline squashfs has gzip since 2.6.29, lzo since 2.6.36, xz since 2.6.38, "
        "lz4 since 3.19 and zstd since 4.14; a target may say that it has fewer. "
        "Without targets it is compared with 4.4, the kernel of Ubuntu 16.04 and "
        "Ubuntu Core 16, the oldest that snapd runs on: that decides for a snap of "
        "that base, and for others it is undecided."
    )
    why: ClassVar[str] = (
        "A snap that the kernel can't mount can't be installed there at all. xz and "
        "lzo are in every kernel that snapd supports, but for some vendors' own."
    )
    how_to_fix: ClassVar[str] = (
        "Pack with xz or lzo, or name the kernels that the snap is for as `targets`."
    )
    options: ClassVar[Mapping[str, str]] = {
        "targets": "systems by `kernel` ('4.4') or by `codecs` that theirs has"
    }

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding for each target that lacks the codec."""
        codec = current_codec(context)
        for target in context.policy.targets:
            if not target_has(target, codec):
                yield self._finding(context, codec, target.label, origin="declared")
        if context.policy.targets or kernel_has(codec, OLDEST_KERNEL):
            return
        yield self._finding(
            context,
            codec,
            f"kernel {version_text(OLDEST_KERNEL)} of Ubuntu 16.04",
            origin="published",
            # No mainline kernel has a codec that isn't in the table.
            undecided=codec in FIRST_KERNEL
            and context.snap.base_name not in _OLDEST_BASES,
        )

    def _finding(
        self,
        context: Context,
        codec: str,
        target: str,
        *,
        origin: Literal["declared", "published"],
        undecided: bool = False,
    ) -> Finding:
        since = FIRST_KERNEL.get(codec)
        text = "in no mainline kernel" if since is None else "since Linux "
        if since is not None:
            text += version_text(since)
        verb = "may have to be mounted by" if undecided else "can't be mounted by"
        detail = f"which lacks {codec}"
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=f"An image packed with {codec} {verb} {target}, {detail}.",
            location=compression_place(context),
            evidence=(
                Evidence(label=f"target {target}", text=f"no {codec}", origin=origin),
                Evidence(
                    label=f"squashfs decompresses {codec}",
                    text=text,
                    origin="published",
                ),
            ),
            fix=Fix(description="Pack with xz or lzo"),
            undecided=undecided,
        )


class CodecNotAccepted:
    """Neither snapcraft nor the store takes this codec."""

    id: ClassVar[str] = "SCA402"
    name: ClassVar[str] = "codec-not-accepted"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "snapcraft and the store accept only xz and lzo."
    fails_if: ClassVar[str] = (
        "The image is packed with a codec other than xz and lzo, or snapcraft.yaml "
        "names one."
    )
    why: ClassVar[str] = (
        "snapcraft refuses the key, and the store's review unpacks the image, packs "
        "it again with xz or lzo, and compares."
    )
    how_to_fix: ClassVar[str] = "Pack with `snapcraft pack` and xz or lzo."
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where the codec is another."""
        codec = current_codec(context)
        if codec in SHIPPABLE:
            return
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            message=f"The image is packed with {codec}; snapcraft and the store "
            "accept only xz and lzo.",
            location=compression_place(context),
            evidence=(Evidence(label="compression", text=codec, origin="declared"),),
            fix=Fix(description="Pack with xz or lzo"),
        )


RULES = (CodecNotInKernel(), CodecNotAccepted())
