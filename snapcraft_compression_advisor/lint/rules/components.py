"""SCA104: whether a component's compression suits it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.advice.evidence import Policy
from snapcraft_compression_advisor.lint.figures import bytes_text, share_text
from snapcraft_compression_advisor.lint.finding import (
    Evidence,
    Finding,
    Fix,
    Location,
)
from snapcraft_compression_advisor.lint.project import ComponentSizes, ProjectFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity

_NEGLIGIBLE = Policy().negligible_growth


class ComponentKey:
    """A component inherits lzo without a launch to gain from it."""

    id: ClassVar[str] = "SCA104"
    name: ClassVar[str] = "component-key"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "A component inherits a compression that doesn't suit it."
    fails_if: ClassVar[str] = (
        "snapcraft.yaml has `compression: lzo`, a component has no key of its own and "
        "so inherits it, and lzo makes the component's image more than 1 % larger "
        "than xz. That is tried on the component's files, where they are beside the "
        "snap's (`partitions/component/NAME/prime`). Where they aren't, or the "
        "interval leaves it open, the finding is undecided."
    )
    why: ClassVar[str] = (
        "lzo is chosen for the files that the snap's launch reads. A component's "
        "files aren't among them, so its users only download more."
    )
    how_to_fix: ClassVar[str] = (
        "Give the component a `compression: xz`; `--fix` does. Write `compression: "
        "lzo` where its files are read while the user waits."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding for each component that inherits lzo."""
        project = context.project
        if not isinstance(project, ProjectFile) or project.compression != "lzo":
            return
        for name, compression in project.components.items():
            sizes = project.component_sizes.get(name)
            if compression is None and not _is_no_larger(sizes):
                yield self._finding(project, name, sizes)

    def _finding(
        self, project: ProjectFile, name: str, sizes: ComponentSizes | None
    ) -> Finding:
        undecided = sizes is None or _growth(sizes, sizes.lzo_less_xz_bytes.low) <= (
            _NEGLIGIBLE
        )
        inherits = f"Component {name} inherits 'compression: lzo'"
        if sizes is None:
            message = (
                f"{inherits}, which is chosen for the snap's launch; its files aren't "
                "here to try."
            )
        else:
            added = sizes.lzo_less_xz_bytes
            share = share_text(added.mid, sizes.xz_bytes.mid)
            message = (
                f"{inherits}, which adds an estimated {bytes_text(added)} ({share}) to "
                "what it would take with xz; the snap's launch reads none of its files."
            )
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=message,
            location=Location(
                kind="project",
                path=str(project.path),
                line=project.component_lines.get(name),
            ),
            evidence=tuple(_evidence(name, sizes)),
            fix=Fix(
                description=f"Give component {name} 'compression: xz'",
                safe=not undecided,
                edit=project.edit_component(name, "xz"),
            ),
            undecided=undecided,
        )


def _is_no_larger(sizes: ComponentSizes | None) -> bool:
    return sizes is not None and (
        _growth(sizes, sizes.lzo_less_xz_bytes.high) <= _NEGLIGIBLE
    )


def _growth(sizes: ComponentSizes, added: float) -> float:
    return added / sizes.xz_bytes.mid


def _evidence(name: str, sizes: ComponentSizes | None) -> Iterator[Evidence]:
    yield Evidence(
        label=f"compression of component {name}", text="inherited", origin="declared"
    )
    if sizes is not None:
        yield Evidence(
            label=f"component {name} with xz",
            text=bytes_text(sizes.xz_bytes),
            origin="estimated",
        )
        yield Evidence(
            label="added by lzo",
            text=bytes_text(sizes.lzo_less_xz_bytes),
            origin="estimated",
        )


RULES = (ComponentKey(),)
