"""The standard streams, and reports and pages to one or into a file."""

from __future__ import annotations

import argparse
import errno
import fcntl
import os
import select
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from craft_cli import EmitterMode

from ..core.child import deferred_signals
from ..core.errors import StorageError, UsageError
from ..core.files import replace_bytes
from ..core.terminal import Kept, emit, safe_text, wants_colour

if TYPE_CHECKING:
    from ..lint.finding import LintReport
    from ..report.lines import TextStyle
    from ..report.model import Page

_HTML_ENDINGS = (".html", ".htm")
_STREAMS = (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
"""Of ``/dev/null``: what stands in for a stream that is closed.

The standard output can't be written either then, since a report that goes nowhere is an
error. Progress and messages that go nowhere are none.
"""


def open_standard_streams() -> None:
    """Put ``/dev/null`` in the place of standard streams that are closed (``>&-``).

    Else the next file that is opened would get the number of one, and programs that are
    started would write into it.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, mode)  # the lowest that is free: the number
        if descriptor == number:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 # takes no keyword
        direction = "r" if name == "stdin" else "w"
        stream = open(descriptor, direction, encoding="utf-8")  # noqa: SIM115, PTH123 # to the end
        setattr(sys, name, stream)


def discard_broken_pipes() -> None:
    """Write no more into pipes that nobody reads, not even while the process ends."""
    for stream in (sys.stdout, sys.stderr):
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        if any(event & select.POLLERR for _, event in poll.poll(0)):
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.dup2(descriptor, stream.fileno())
            os.close(descriptor)


def check_outputs(*paths: Path | None) -> None:
    """Refuse what can't be written, before the work that makes it; change nothing."""
    for path in paths:
        if path is None:
            _check_stdout()
            continue
        try:
            _check_file(path)
        except OSError as error:
            raise cannot_write(path, error) from error


def note(text: str) -> None:
    """Print a line of progress that stays."""
    emit.progress(text, permanent=True)


def warn(text: str) -> None:
    """Print a warning."""
    note(f"Warning: {text}")


def write_error(text: str) -> None:
    """Write lines to the standard error output, past the emitter."""
    sys.stderr.write(safe_text(f"{text}\n"))


def write_output(text: str, path: Path | None, *, kept: Kept | None = None) -> None:
    """Write a report to the standard output, or a file, which is complete or not there.

    :raises StorageError: if the file can't be written.
    """
    if path is not None:
        write_file(safe_text(text, kept=kept).encode(), path)
        return
    _check_stdout()
    if kept is None and wants_colour(os.environ, terminal=sys.stdout.isatty()):
        kept = "colours"
    with emit.pause():
        sys.stdout.write(safe_text(text, kept=kept))
        sys.stdout.flush()


def write_findings(name: str, report: LintReport, path: Path | None) -> None:
    """Write findings in the format of that name; GitHub's is made of commands."""
    from ..report.lint_formats import Findings, render  # noqa: PLC0415 # as below

    kept: Kept | None = "commands" if name == "github" else None
    style = text_style(path)
    if path or not sys.stdout.isatty():
        style = replace(style, columns=None)  # programs read a finding by its line
    text = render(name, Findings(report=report, style=style))
    write_output(text, path, kept=kept)


def write_file(content: bytes, path: Path) -> None:
    """Write a report into a file, which is complete or not there."""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a FIFO: in its place
            path.write_bytes(content)
        else:
            target = Path(os.path.realpath(path))  # a link to itself is replaced
            replace_bytes(target, content, mode=_mode(target))
    except OSError as error:
        raise cannot_write(path, error) from error
    note(f"Report written to {path}")


def text_style(output: Path | None) -> TextStyle:
    """Return the style of text in a file or on the standard output; verbose with -v."""
    from ..report.lines import FILE_STYLE, style_for  # noqa: PLC0415 # help has none

    style = FILE_STYLE if output else style_for(sys.stdout, os.environ)
    is_brief = emit.get_mode() in {EmitterMode.QUIET, EmitterMode.BRIEF}
    return style if is_brief else style.with_all()


def write_page(page: Page, parsed_args: argparse.Namespace, document: str = "") -> None:
    """Write a page in the format that is wanted, or the document for JSON."""
    form, output = parsed_args.format, parsed_args.output
    if form == "json":
        text = document
    elif form == "markdown":
        from ..report.markdown_printer import print_markdown  # noqa: PLC0415 # as below

        text = print_markdown(page)
    else:
        from ..report.text_printer import print_text  # noqa: PLC0415 # what is printed

        text = print_text(page, text_style(output))
    write_output(text, output)


def check_page_outputs(parsed_args: argparse.Namespace) -> None:
    """Refuse early what can't be written after minutes of work."""
    path: Path | None = parsed_args.report
    check_page_name(path, "report")
    check_outputs(parsed_args.output, *filter(None, [path]))


def check_page_name(path: Path | None, example: str) -> None:
    """Refuse a page that is neither HTML nor Markdown, or HTML that can't be made."""
    if path is None or path.suffix.lower() == ".md":
        return
    if path.suffix.lower() not in _HTML_ENDINGS:
        message = f"{str(path)!r} is neither .html nor .md"
        raise UsageError(message, resolution=f"Specify a file such as {example}.html.")
    from ..report.html_printer import check_html_extra  # noqa: PLC0415 # with --report

    check_html_extra()


def print_page(page: Page, path: Path) -> str:
    """Return a page in the form that the ending of its file's name has."""
    if path.suffix.lower() in _HTML_ENDINGS:
        from ..report.html_printer import print_html  # noqa: PLC0415 # with --report

        return print_html(page)
    from ..report.markdown_printer import print_markdown  # noqa: PLC0415 # as above

    return print_markdown(page)


def _check_stdout() -> None:
    """Refuse a standard output that was closed, which has ``/dev/null`` to read."""
    try:
        flags = fcntl.fcntl(sys.stdout.fileno(), fcntl.F_GETFL)
    except (OSError, ValueError):  # no file at all, as in tests
        return
    if flags & os.O_ACCMODE == os.O_RDONLY:
        message = "Cannot write to the standard output: it is closed"
        raise StorageError(
            message,
            resolution="Leave it open ('>/dev/null' discards it), or name a file with "
            "-o FILE if the command supports it.",
        )


def _check_file(path: Path) -> None:
    """Try to write where a file is to be."""
    if path.exists() and not path.is_file():  # /dev/stdout, a FIFO: it may be waiting
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return
    target = Path(os.path.realpath(path))
    with suppress(FileNotFoundError):
        target.lstat()  # its name may be too long
    with (
        deferred_signals(),
        tempfile.TemporaryFile(dir=target.parent),
    ):
        pass  # its file has no name, where the file system can do so


def cannot_write(path: Path, error: OSError) -> StorageError:
    """Return the error of a file that can't be written."""
    message = f"Cannot write {str(path)!r}: {error.strerror}"
    return StorageError(
        message, resolution="Make room, or specify a file that you can write."
    )


def _mode(target: Path) -> int:
    """Return the mode that the file has or would be created with."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
