"""``snapcraft compression-advice`` and ``snapcraft set-compression``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from craft_application.commands import AppCommand

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..codecs import SHIPPABLE
from ..core.errors import NoInputError
from ..core.terminal import emit
from ..payload.source import find_payload
from ..project.edit import apply_edit, plan_edit
from ..project.project_file import find_project_file
from ..report.lines import style_for
from .advisor import advisor_here
from .decision import Artifact, render_report

GROUP = "Compression"


class CompressionAdviceCommand(AppCommand):
    """Advise on what was built, packing nothing."""

    name = "compression-advice"
    help_msg = "Advise which compression suits the snap"
    overview = (
        "Advise which compression suits the snap, with the settings that apply "
        "when it is packed. Nothing is packed or changed.\n\n"
        "The advice needs a finished build: a prime directory ('snapcraft prime "
        "--destructive-mode') or a .snap."
    )
    common = False

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "path",
            metavar="PATH",
            nargs="?",
            type=Path,
            help="a prime directory or a .snap (default: 'prime', else the only "
            ".snap, in the current directory)",
        )
        parser.add_argument(
            "--component",
            metavar="NAME",
            help="a component to advise on; PATH is then its prime directory "
            "(default: where snapcraft keeps it)",
        )
        parser.add_argument(
            "--format", choices=("text", "json"), default="text", help="default: text"
        )

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the report."""
        advisor = advisor_here(self._services)
        component: str | None = parsed_args.component
        path = parsed_args.path or _built(component)
        declared = advisor.declared(component) if path.is_dir() else None
        artifact = Artifact(
            prime_dir=path,
            component=component,
            compression=declared or SNAPCRAFT_DEFAULT,
            declared=declared,
        )
        analysis = advisor.analyse(artifact)
        as_text = parsed_args.format == "text"
        # The message is logged as well, where colours would be noise.
        style = style_for(sys.stdout, {"NO_COLOR": "1"}) if as_text else None
        text = render_report(analysis, style, component=component)
        emit.message(text.removesuffix("\n"))


class SetCompressionCommand(AppCommand):
    """Change one line of snapcraft.yaml."""

    name = "set-compression"
    help_msg = "Set the compression in snapcraft.yaml"
    overview = (
        "Change or insert the 'compression' key of the project's snapcraft.yaml, or "
        "of one of its components. No other line changes."
    )
    common = False

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "compression", choices=SHIPPABLE, help="the codec to pack with"
        )
        parser.add_argument(
            "--component", metavar="NAME", help="the component to set it for"
        )
        parser.add_argument(
            "--diff",
            action="store_true",
            help="print the change as a unified diff without making it",
        )

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Make the change, or show it."""
        path = find_project_file(Path())
        component: str | None = parsed_args.component
        compression: str = parsed_args.compression
        edit = plan_edit(path, compression, component=component)
        of = "" if component is None else f" of component {component}"
        if not edit.changes:
            emit.message(f"{path}: compression{of} is already {compression}")
        elif parsed_args.diff:
            emit.message(edit.diff().removesuffix("\n"))
        else:
            apply_edit(edit)
            emit.message(f"{path}: compression{of} set to {compression}")


COMMANDS = (CompressionAdviceCommand, SetCompressionCommand)


def _built(component: str | None) -> Path:
    """Return the snaps and components that were built here."""
    if component is None:
        return find_payload(Path())
    path = Path("partitions", "component", component, "prime")
    if not path.is_dir():
        message = f"Component {component!r} has no prime directory here ({path})"
        raise NoInputError(
            message, resolution="Build it, or give the directory as PATH."
        )
    return path
