"""``compression-advisor trim``: what a snap needn't ship, as filters of its parts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..analysis import analyse
from ..core.errors import NoInputError, ToolError
from ..core.terminal import emit
from ..project.changes import add_filters
from ..project.document import child, names, read_document
from ..project.edit import Edit
from ..project.project_file import find_project_file, read_project_file
from ..report.trim import sure_filters, trim_json, trim_page, trim_yaml
from ..trim.filters import parts_of_files
from ..trim.plan import plan_trim
from .commands import (
    EDITS,
    FORMATS,
    PATH,
    Arguments,
    Command,
    details,
    exclude,
    output_arguments,
    whole_number,
)
from .edits import change_file
from .settings_options import POLICY_ARGUMENTS, reporter_here
from .subject import STACK_ARGUMENTS, Subject, find_project_folder, open_subject
from .write import check_outputs, note, write_output, write_page

if TYPE_CHECKING:
    from ..trim.plan import TrimPlan
    from ..trim.prove import Proof


class TrimCommand(Command):
    """List what needn't ship."""

    name = "trim"
    overview = (
        "List the files of a prime directory or a built snap that nothing needs when "
        "the snap runs, with what they take in the image, and filters for the parts "
        "that brought them. What a start of any app may read, links or loads is never "
        "among them. Files that only some users or features need are risky.\n\n"
        "Nothing is changed unless --fix is given; it leaves risky filters out."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        **POLICY_ARGUMENTS,
        **STACK_ARGUMENTS,
        "--risky": "also print filters for what some users or features may need",
        **output_arguments((*FORMATS, "yaml")),
        "--prove": "leave the files out of a copy, start every app with and without "
        "them, and compare what it reads; isolated. A group that an app needs is "
        "taken back. This runs the snap's programs",
        "--runs COUNT": details(
            "with --prove: also time this many cold launches of each app before and "
            "after, in turns, from mounted images",
            type=whole_number(least=0),
            default=0,  # a launch takes seconds, and each app has four of them a round
        ),
        "--project PROJECT_DIR": "the snap's project, or its snapcraft.yaml "
        "(default: the one beside the snap; for --fix, else the one here)",
        **EDITS,
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print what could be left out, and write it if that is asked for."""
        edits = parsed_args.fix or parsed_args.diff
        named = {"--fix" if parsed_args.fix else "--diff": edits}
        named["--risky"] = parsed_args.risky
        exclude(named, "Add risky filters by hand, one after the other.")
        check_outputs(parsed_args.output)
        with open_subject(parsed_args) as subject:
            payload, project_dir = subject.payload, subject.project_dir
            analysis = analyse(payload, subject.request(), progress=emit.progress)
            folder = find_project_folder(payload.path, project_dir)
            parts = parts_of_files(folder) if folder is not None else {}
            around = subject.surroundings
            plan = plan_trim(payload, analysis, around, parts, progress=emit.progress)
            file = find_project_file(project_dir) if edits and project_dir else None
            proof = None
            if parsed_args.prove and plan.sure:
                if file is not None:
                    _edit(plan, file)  # what can't be written fails at once
                proof = _proof(subject, plan, parsed_args.runs)
                plan = plan.only(proof.groups)
        risky, names = parsed_args.risky, _part_names(folder)
        if parsed_args.format == "yaml" and not parsed_args.diff:
            text = trim_yaml(plan, risky=risky, part_names=names)
            write_output(text, parsed_args.output)
        elif not parsed_args.diff:
            page = trim_page(plan, risky=risky, proof=proof, part_names=names)
            write_page(page, parsed_args, trim_json(plan, proof))
        if file is not None:
            _check_proof(proof)
            _change(plan, file, parsed_args)


def _proof(subject: Subject, plan: TrimPlan, runs: int) -> Proof:
    """Start every app with and without the files."""
    from ..trim.prove import prove_trim  # noqa: PLC0415 # few runs start any
    from ..trim.without import Starts, seeing  # noqa: PLC0415 # as above

    starts = Starts(
        reporter=reporter_here(),
        recordings=subject.loaded.settings.record,
        timed=runs,
    )
    with seeing(starts, subject.payload, subject.surroundings) as seen:
        return prove_trim(subject.payload, plan, seen)


def _change(plan: TrimPlan, file: Path, parsed_args: argparse.Namespace) -> None:
    """Add the filters to a project file, all of them or none, or show them."""
    edit, added = _edit(plan, file), sure_filters(plan)
    if change_file(edit, diff=parsed_args.diff, output=parsed_args.output):
        count = sum(map(len, added.values()))
        note(f"{file}: filters added to {', '.join(added)} ({count})")
    elif not edit.changes:
        note(f"{file}: there is no filter to add")


def _part_names(folder: Path | None) -> tuple[str, ...]:
    """Return the parts of a project, none if there is no project."""
    if folder is None:
        return ()
    try:
        file = find_project_file(folder)
        document = read_document(read_project_file(file), where=str(file))
    except NoInputError:
        return ()
    return tuple(name for name, *_ in names(child(document.root, "parts")))


def _check_proof(proof: Proof | None) -> None:
    """Refuse to write if an app can't be started here even with all files."""
    for app in proof.apps if proof is not None else ():
        if app.problem is not None:
            message = f"Nothing is written: {app.app} can't be started here"
            raise ToolError(
                message,
                details=app.problem,
                resolution="Run 'trim --prove' where it starts, or leave out --prove.",
            )


def _edit(plan: TrimPlan, file: Path) -> Edit:
    """Return the edit that adds all of the filters, whose parts must be known."""
    filters = sure_filters(plan)
    if "" in filters:
        message = f"{file}: which part brought {filters[''][0]!r} isn't known"
        raise NoInputError(
            message,
            resolution="Build the project here, so that 'parts' has craft-parts' "
            "state, or paste what '--format yaml' prints.",
        )
    before = read_project_file(file)
    return Edit(
        path=file, before=before, after=add_filters(before, filters, where=str(file))
    )
