"""``compression-advisor rule``: what the rules say."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..lint.all_rules import ALL_RULES
from ..lint.run import find_rule
from ..report.rule_pages import render_rule_list, render_rule_page
from .arguments import Arguments, Command
from .write import write_output

if TYPE_CHECKING:
    import argparse


class RuleCommand(Command):
    """Explain rules."""

    name = "rule"
    help_msg = "Explain a rule of 'lint', or list all"
    overview = (
        "Print when a rule fails, why that matters, how to fix it and which policy "
        "options it uses. Without an ID, list all rules."
    )

    arguments: ClassVar[Arguments] = {
        "[ID]": "a rule's id or name (default: all, one line each)"
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print one rule's page, or the list."""
        if parsed_args.id is None:
            text = render_rule_list(ALL_RULES)
        else:
            text = render_rule_page(find_rule(parsed_args.id, ALL_RULES))
        write_output(text, None)
