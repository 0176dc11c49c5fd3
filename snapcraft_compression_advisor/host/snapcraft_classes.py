"""The linter ``compression`` and the extension ``compression-advisor``.

Both are classes of snapcraft's own kinds: only snapcraft can import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from snapcraft.extensions.extension import Extension
from snapcraft.linters.base import Linter, LinterIssue, LinterResult

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..core.terminal import emit, printable, safe_line
from ..lint.finding import Finding
from ..lint.lint import check_rules
from ..settings.load import PLUGIN
from .advisor import Advisor, FindAdvisor
from .decision import Artifact, codec_of
from .guard import SettingsError, stopping_snapcraft, wrap
from .project import mark_apps

SUPPORTED_BASES = ("core22", "core24", "core26")
"""Whose pack the advisor hooks into."""

_SPEAKING = ("SCA1", "SCA2", "SCA301")
"""What a linter called ``compression`` speaks of: codec, launches, the size's budget.

``compression-advisor lint`` checks all rules; ``select`` has snapcraft do so."""
_SAID_BY_ADVICE = ("SCA101", "SCA102", "SCA103", "SCA104")


class CompressionLinter(Linter):  # type: ignore[misc] # snapcraft is no dependency
    """The advisor's rules, as ``compression-advisor lint`` has them.

    An error of theirs stops the pack if the settings enforce the policy; else it is
    a warning, since advice stops nothing.

    :cvar find_advisor: returns who gives the advice, always the same.
    :cvar image: the built snap that is looked at, if it is one.
    """

    find_advisor: FindAdvisor
    image: Path | None = None

    def run(self) -> list[Any]:
        """Return the findings on the prime directory, which is the current one.

        :raises SnapcraftError: if there are none to be had and the mode is ``enforce``.
        """
        with stopping_snapcraft():
            try:
                advisor = type(self).find_advisor()
                path = (type(self).image or Path.cwd()).resolve()
                # Every artifact has snapcraft look at the same directory.
                if advisor is None or path in advisor.linted:
                    return []
                advisor.linted.add(path)
                findings = advisor.judging(
                    lambda: find(advisor, path), what="no compression findings"
                )
                if not findings:
                    return []
                enforces = advisor.enforces()
            except SettingsError as error:  # the pack that follows says more, and stops
                emit.debug(f"No compression findings: {error}")
                return []
        return [self._issue(finding, enforces=enforces) for finding in findings]

    def _issue(self, finding: Finding, *, enforces: bool) -> Any:
        results = {
            "error": LinterResult.ERROR if enforces else LinterResult.WARNING,
            "warning": LinterResult.WARNING,
            "info": LinterResult.INFO,
        }
        place = finding.location
        in_payload = place.kind == "payload"
        where = ""
        if place.kind == "project":
            line = f":{place.line}" if place.line else ""
            where = f"{place.path}{line}: "
        return LinterIssue(
            name=self._name,
            result=results[finding.severity],
            filename=printable(place.path) if in_payload else None,
            text=safe_line(f"{finding.rule} {finding.name}: {where}{finding.message}"),
        )


def compression_linter(find_advisor: FindAdvisor) -> type[CompressionLinter]:
    """Return the linter of an advisor."""
    attributes = {"find_advisor": staticmethod(find_advisor)}
    return type("AdvisedCompressionLinter", (CompressionLinter,), attributes)


def wrap_lint_command(command: Any, linter: type[CompressionLinter]) -> None:
    """Have the linter know which image ``snapcraft lint`` has installed.

    The codec is the image's: neither the files in ``/snap`` nor a project have it.

    :param command: ``snapcraft.commands.lint.LintCommand``.
    """

    def run_on_image(
        run: Callable[..., Any], command: Any, snap_file: Path, *args: Any
    ) -> Any:
        linter.image = Path(snap_file).resolve()
        return run(command, snap_file, *args)

    wrap(command, "_run_linter", run_on_image)


def find(advisor: Advisor, path: Path) -> Sequence[Finding]:
    """Return the findings on a snap.

    :param path: its prime directory or its image.
    :raises SettingsError: if the settings are broken.
    :raises AdvisorError: if it can't be analysed.
    """
    artifact = _artifact(advisor, path)
    context = advisor.context(artifact)
    if context is None:
        return ()
    settings = context.settings
    if not settings.select:
        ignored = settings.ignore
        if path.is_dir():  # which is about to be packed
            ignored = (*ignored, *_SAID_BY_ADVICE)
        update = {"select": _SPEAKING, "ignore": ignored}
        context = replace(context, settings=settings.model_copy(update=update))
    says = advisor.project
    if says is not None and path.is_file() and says.name != context.snap.name:
        context = replace(context, project=None)  # of another snap
    return check_rules(context, path.parent, emit.debug)


def _artifact(advisor: Advisor, path: Path) -> Artifact:
    if path.is_file():
        return Artifact(prime_dir=path, compression=codec_of(path))
    # The very one that is packed, so that it is analysed once.
    packed = advisor.snap_in(path)
    if packed is not None:
        return packed
    says = advisor.project
    return Artifact(
        prime_dir=path,
        compression=(says and says.effective) or SNAPCRAFT_DEFAULT,
        declared=advisor.declared(None),
    )


class CompressionAdvisorExtension(Extension):  # type: ignore[misc] # snapcraft is no dependency
    """Adds the part that carries the settings, and to it the apps that are marked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._marked: set[str] = set()

    @staticmethod
    def get_supported_bases() -> tuple[str, ...]:
        """Return the bases that the extension is for."""
        return SUPPORTED_BASES

    @staticmethod
    def get_supported_confinement() -> tuple[str, ...]:
        """Return all of them: the extension leaves the app as it is."""
        return ("strict", "devmode", "classic")

    @staticmethod
    def is_experimental(base: str | None) -> bool:  # noqa: ARG004 # the same for all
        """Return that it is stable."""
        return False

    def get_root_snippet(self) -> dict[str, Any]:
        """Change nothing of the snap."""
        return {}

    def get_app_snippet(self, *, app_name: str) -> dict[str, Any]:
        """Note the app, and change nothing of it."""
        self._marked.add(app_name)
        return {}

    def get_part_snippet(self, *, plugin_name: str) -> dict[str, Any]:
        """Add the apps to the user's own part, before those that it names."""
        if plugin_name != PLUGIN:
            return {}
        return {f"{PLUGIN}-apps": self._apps()}

    def get_parts_snippet(self) -> dict[str, Any]:
        """Add a part where the user has none."""
        parts = self.yaml_data.get("parts", {})
        if any(part.get("plugin") == PLUGIN for part in parts.values()):
            return {}
        added: dict[str, dict[str, object]] = {}
        mark_apps(added, self._apps())
        return added

    def _apps(self) -> list[str]:
        """Return the marked apps in the project's order; snapcraft has them in none."""
        return [app for app in self.yaml_data.get("apps", {}) if app in self._marked]
