"""The advice of one snapcraft run, asked for by hook, linter and wrapper alike."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from snapcraft_compression_advisor_plugin import may_enforce, reason_of, warn_of

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..analysis import Analysis, Request, analyse, analysis_request, check_apps
from ..codecs import CODECS, SHIPPABLE
from ..core.errors import ToolError
from ..core.files import keeping_results
from ..core.terminal import emit
from ..launch.launch_set import check_app
from ..launches import Surroundings
from ..lint.rule import Context
from ..payload.source import DirectoryPayload, Payload, open_payload
from ..payload.stack import check_stack
from ..payload.survey import take_survey
from ..project.project_file import ProjectFile
from ..settings.load import POLICY_PLACES, LoadedSettings, ignored_policy_files
from ..settings.settings import Settings
from .decision import (
    Artifact,
    Decision,
    check_advice,
    check_budgets,
    decide,
    show,
    show_outcome,
    write_key,
    write_report,
)
from .guard import Result, SettingsError, blaming_settings, harmless, judging
from .project import (
    Parts,
    project_apps,
    project_parts,
    read_host_project,
    read_settings,
)

FindAdvisor = Callable[[], "Advisor | None"]
"""Returns who gives the advice, always the same; None if nobody can."""


@dataclass(slots=True, kw_only=True)
class Advisor:
    """Advice on the artifacts of one project, each asked for once.

    :param project_dir: absolute.
    :param find_parts: returns the project's parts, as far as extensions are applied.
    :param find_apps: returns the names of its apps; None if they aren't known.
    :param linted: directories and images that the linter has looked at.
    """

    project_dir: Path
    find_parts: Callable[[], Parts] = dict
    find_apps: Callable[[], Collection[str] | None] = lambda: None
    linted: set[Path] = field(default_factory=set)
    _decisions: dict[Artifact, Decision | None] = field(default_factory=dict)
    _asked: set[Artifact] = field(default_factory=set)
    _unconcluded: list[Artifact] = field(default_factory=list)
    _contexts: dict[Artifact, Context] = field(default_factory=dict)
    _directories: dict[Artifact, DirectoryPayload] = field(default_factory=dict)
    _unset: dict[Artifact, str] = field(default_factory=dict)
    """Why snapcraft.yaml couldn't be changed."""
    _project: ProjectFile | None = None
    _loaded: LoadedSettings | None = None

    @property
    def project(self) -> ProjectFile | None:
        """The project as it was when it was first asked for; None if there is none.

        :raises AdvisorError: if its snapcraft.yaml can't be read.
        """
        if self._project is None:
            self._project = read_host_project(self.project_dir)
        return self._project

    @property
    def loaded(self) -> LoadedSettings:
        """The settings as they were when they were first asked for.

        :raises SettingsError: if they are broken.
        """
        if self._loaded is None:
            self._loaded = read_settings(
                self.project_dir, self.find_parts(), os.environ
            )
            for file in ignored_policy_files(self.project_dir):
                place = file.relative_to(self.project_dir)
                warn_of(f"{place} isn't read: {POLICY_PLACES}")
        return self._loaded

    def check_settings(self) -> None:
        """Read the settings, and check what they say of the project.

        :raises SettingsError: if they are broken.
        """
        loaded, apps = self.loaded, self.find_apps()
        if apps is None:
            return
        snap = (self.project and self.project.name) or self.project_dir.name
        recorded = (each.app for each in loaded.settings.record if each.app is not None)
        profiles = (each.app for each in loaded.profiles)
        for name in (*loaded.settings.apps, *profiles, *recorded):
            with blaming_settings():
                check_app(snap, apps, name)

    def enforces(self) -> bool:
        """Return whether the mode is ``enforce``, or may be.

        :raises SettingsError: if the settings are broken.
        """
        try:
            return self.loaded.settings.mode == "enforce"
        except SettingsError:
            raise
        except Exception:  # noqa: BLE001 # then it can't be ruled out by them
            return may_enforce(self.project_dir, os.environ)

    def judging(self, action: Callable[[], Result], *, what: str) -> Result | None:
        """Do something that a pack can do without; see :func:`~.guard.judging`."""
        return judging(action, what=what, enforces=self.enforces)

    def has_advised(self, prime_dir: Path) -> bool:
        """Return whether a directory is about to be packed with advice."""
        return any(each.prime_dir == prime_dir for each in self._asked)

    def snap_in(self, prime_dir: Path) -> Artifact | None:
        """Return the snap of a directory, if advice on it was asked for before."""
        snaps = (each for each in self._decisions if each.component is None)
        return next((each for each in snaps if each.prime_dir == prime_dir), None)

    def declared(self, component: str | None) -> str | None:
        """Return the compression that snapcraft.yaml itself gives an artifact.

        :raises AdvisorError: if it can't be read.
        """
        says = self.project
        if says is None:
            return None
        return says.compression if component is None else says.components.get(component)

    def before_pack(self, artifact: Artifact) -> str:
        """Give the advice, act on it as the settings say.

        :returns: what to pack with.
        :raises SettingsError: if the settings are broken.
        :raises PolicyBrokenError: if they enforce a policy that isn't kept.
        """
        is_new = artifact not in self._asked
        self._asked.add(artifact)
        decision = self.decision(artifact)
        if decision is None:
            return artifact.compression
        report = self.loaded.settings.report
        if is_new:
            self._unconcluded.append(artifact)
            harmless(partial(show, decision), what="the advice isn't shown")
            if report is not None:
                harmless(
                    partial(write_report, decision, Path(report)),
                    what=f"the report {report} isn't written",
                )
        if decision.mode == "enforce":
            self._enforce(decision)
        if decision.mode == "write" and decision.follows:
            try:
                write_key(self.project_dir, self.project, decision)
            except Exception as error:  # noqa: BLE001 # the pack goes on, and says so last
                self._unset[artifact] = reason_of(error)
            self._project = None  # it says something else by now
        return decision.compression

    def conclude(self) -> None:
        """Say last, once all is packed, what became of the advice."""
        artifacts, self._unconcluded = self._unconcluded, []
        for artifact in artifacts:
            decision = self._decisions.get(artifact)
            if decision is not None:
                harmless(
                    partial(show_outcome, decision, unset=self._unset.get(artifact)),
                    what="the outcome isn't shown",
                )

    def decision(self, artifact: Artifact) -> Decision | None:
        """Return the codec to pack an artifact with; None if advice failed.

        :raises SettingsError: if the settings are broken.
        :raises CannotJudgeError: if advice failed and the mode is ``enforce``.
        """
        if artifact not in self._decisions:
            self._decisions[artifact] = self.judging(
                lambda: decide(artifact, self.analyse(artifact), self.loaded.settings),
                what=f"no advice on {artifact.label}, which is packed with "
                f"{artifact.compression}",
            )
        return self._decisions[artifact]

    def context(self, artifact: Artifact) -> Context | None:
        """Return all that rules may look at; None if advice failed.

        :raises AdvisorError: if the files have changed since the advice.
        """
        decision = self.decision(artifact)
        if decision is None:
            return None
        if artifact not in self._contexts:
            with self._opened(artifact) as payload:
                self._contexts[artifact] = Context(
                    analysis=decision.as_packed,
                    inventory=payload.inventory,
                    snap=payload.snap,
                    survey=take_survey(payload),
                    settings=self.loaded.settings,
                )
        # The project may have got a key since.
        return replace(self._contexts[artifact], project=self.project)

    def _enforce(self, decision: Decision) -> None:
        check_advice(decision)
        settings = self.loaded.settings
        has_budgets = settings.max_cold_start or settings.max_image_size is not None
        if has_budgets and decision.artifact.component is None:
            self.judging(
                partial(self._check_budgets, decision.artifact),
                what="the budgets aren't checked",
            )

    def _check_budgets(self, artifact: Artifact) -> None:
        context = self.context(artifact)
        if context is not None:
            check_budgets(context)

    def analyse(self, artifact: Artifact) -> Analysis:
        """Analyse an artifact as the settings say, deciding nothing.

        :raises SettingsError: if the settings are broken.
        :raises AdvisorError: if it can't be analysed.
        """
        lacking = [name for name in SHIPPABLE if not CODECS[name].available]
        if lacking:  # mksquashfs would try them, which takes as long as the pack
            message = f"the library of {' and '.join(lacking)} isn't installed"
            raise ToolError(message, resolution="Install liblzma5 and liblzo2-2.")
        with (
            keeping_results(),
            self._opened(artifact) as payload,
            ExitStack() as until,
        ):
            request = _request(artifact, self.loaded, payload, until)
            request = _with_recordings(payload, request, self.loaded.settings)
            # One line: logs and pipes keep each.
            emit.progress(f"Estimating what compression suits {artifact.label}")
            return analyse(payload, request, progress=emit.debug)

    @contextmanager
    def _opened(self, artifact: Artifact) -> Iterator[Payload]:
        """Open an artifact's files; a directory is listed once a run."""
        place, listed = artifact.prime_dir, self._directories.get(artifact)
        if artifact.component is not None and listed is None:
            listed = DirectoryPayload(place, component=artifact.component)
        with open_payload(place) if listed is None else nullcontext(listed) as payload:
            if isinstance(payload, DirectoryPayload):
                self._directories[artifact] = payload
            yield payload


def _request(
    artifact: Artifact, loaded: LoadedSettings, payload: Payload, until: ExitStack
) -> Request:
    """Return the request of ``lint``, with the settings' base and content snaps."""
    settings, around = loaded.settings, Surroundings()
    if artifact.component is None:
        around = Surroundings.opened(until, settings.bases, settings.contents)
        check_stack([payload], bases=around.bases, contents=around.contents)
    default = artifact.compression == SNAPCRAFT_DEFAULT
    request = replace(
        analysis_request(payload, loaded, around),
        # If nothing is declared, what an extension chose is as good as declared.
        declared_compression=artifact.declared
        or (None if default else artifact.compression),
    )
    if artifact.component is not None:
        return replace(request, apps=(), profiles=())
    with blaming_settings():
        check_apps(payload, loaded)
    return request


def _with_recordings(payload: Payload, request: Request, settings: Settings) -> Request:
    """Return the request with the launches that the settings ask to record."""
    if not settings.record:
        return request
    from ..capture.recordings import (  # noqa: PLC0415 # few projects ask for it
        Reporter,
        in_place,
        recorded_profiles,
    )

    reporter = Reporter(
        progress=emit.progress,
        note=partial(emit.progress, permanent=True),
        warn=warn_of,
    )
    recorded = recorded_profiles(payload, settings.record, reporter, apps=settings.apps)
    return replace(request, profiles=in_place(request.profiles, recorded))


def finding_advisor(services: Any, project_dir: Path) -> FindAdvisor:
    """Return a function that returns an advisor, always the same.

    If the advisor can't be loaded, it returns None, having said so once; or raises
    CannotJudgeError if the settings may say ``enforce``.
    """

    @functools.cache
    def find_advisor() -> Advisor | None:
        return judging(
            lambda: advisor_here(services, project_dir),
            what="no advice, because it can't be loaded",
            enforces=lambda: may_enforce(project_dir, os.environ),
        )

    return find_advisor


def advisor_here(services: Any, project_dir: Path | None = None) -> Advisor:
    """Return an advisor on the project of an application's services.

    :param services: the application's service factory.
    :param project_dir: the project's folder; here by default.
    """
    return Advisor(
        project_dir=(project_dir or Path()).absolute(),
        find_parts=lambda: project_parts(services),
        find_apps=lambda: project_apps(services),
    )


def check_settings(find_advisor: FindAdvisor) -> None:
    """Stop a build before its first step if the settings are broken.

    :raises SettingsError: in that case.
    :raises CannotJudgeError: if there is no telling, and the mode is ``enforce``.
    """
    advisor = find_advisor()
    if advisor is not None:
        advisor.judging(advisor.check_settings, what="the settings aren't checked")
