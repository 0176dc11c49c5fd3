"""The linter ``compression`` in snapcraft's own list.

Only snapcraft can import this module.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from craft_cli import emit
from snapcraft.linters.base import Linter, LinterIssue, LinterResult

from snapcraft_compression_advisor.host.artifact import DEFAULT_COMPRESSION, Artifact
from snapcraft_compression_advisor.host.errors import SettingsError
from snapcraft_compression_advisor.host.guard import harmless
from snapcraft_compression_advisor.output.names import printable
from snapcraft_compression_advisor.rules.all_rules import ALL_RULES
from snapcraft_compression_advisor.rules.component_sizes import component_sizes
from snapcraft_compression_advisor.rules.components import ComponentKey
from snapcraft_compression_advisor.rules.run import run_rules
from snapcraft_compression_advisor.rules.select import make_selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from snapcraft_compression_advisor.host.advisor import Advisor
    from snapcraft_compression_advisor.rules.finding import Finding


class CompressionLinter(Linter):  # type: ignore[misc] # snapcraft is no dependency
    """The advisor's rules, as ``compression-advisor lint`` has them.

    An error of theirs stops the pack where the settings enforce the policy; else it is
    a warning, since advice stops nothing.

    :cvar find_advisor: returns who gives the advice, always the same.
    """

    find_advisor: Callable[[], Advisor]

    @property
    def advisor(self) -> Advisor:
        """Who gives the advice."""
        return type(self).find_advisor()

    def run(self) -> list[Any]:
        """Return the findings on the prime directory, which is the current one."""
        try:
            findings = harmless(
                lambda: find(self.advisor, Path.cwd()), what="no compression findings"
            )
        except SettingsError as error:  # the pack that follows says more, and stops
            emit.debug(f"No compression findings: {error}")
            return []
        return [self._issue(finding) for finding in findings or ()]

    def _issue(self, finding: Finding) -> Any:  # noqa: ANN401 # snapcraft's own type
        results = {
            "error": LinterResult.ERROR
            if self.advisor.settings.policy.pack.mode == "enforce"
            else LinterResult.WARNING,
            "warning": LinterResult.WARNING,
            "info": LinterResult.INFO,
        }
        place = finding.location
        in_payload = place.kind == "payload"
        where = ""
        if place.kind == "project":
            line = f":{place.line}" if place.line else ""
            where = f"{printable(place.path)}{line}: "
        return LinterIssue(
            name=self._name,
            result=results[finding.severity],
            filename=printable(place.path) if in_payload else None,
            text=f"{finding.rule} {finding.name}: {where}{finding.message}",
        )


def compression_linter(
    find_advisor: Callable[[], Advisor],
) -> type[CompressionLinter]:
    """Return the linter of an advisor.

    :param find_advisor: returns who gives the advice, always the same.
    """
    attributes = {"find_advisor": staticmethod(find_advisor)}
    return type("AdvisedCompressionLinter", (CompressionLinter,), attributes)


def find(advisor: Advisor, prime_dir: Path) -> Sequence[Finding]:
    """Return the findings on a snap's prime directory.

    :raises SettingsError: where the settings are broken.
    :raises AdvisorError: where it can't be analysed.
    """
    declared = advisor.declared(None)
    # The very one that is packed, so that it is analysed once.
    artifact = advisor.snap_in(prime_dir.resolve()) or Artifact(
        prime_dir=prime_dir.resolve(),
        compression=declared or DEFAULT_COMPRESSION,
        declared=declared,
    )
    context = advisor.context(artifact)
    if context is None:
        return ()
    says = advisor.project.says
    selection = make_selection(context.policy, ignored=says.ignored if says else ())
    if says is not None and selection.wants(ComponentKey.id):
        sizes = component_sizes(prime_dir.parent, says, progress=emit.progress)
        context = replace(context, project=replace(says, component_sizes=sizes))
    return run_rules(context, ALL_RULES, selection)
