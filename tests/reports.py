"""Full reports without files or tools, for tests of pages."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analyses import make_analysis
from lint_reports import BUDGET_BROKEN, DEBUG_SYMBOLS, LZO_WOULD_GAIN, STRADDLES
from made_blocks import stored_block
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.launch.launch_set import GuessBasis, LaunchFile
from snapcraft_compression_advisor.lint.finding import LintedPayload, Unchecked
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.report.advise_details import detail_sections
from snapcraft_compression_advisor.report.answer import advise_page
from snapcraft_compression_advisor.report.charts import chart_sections
from snapcraft_compression_advisor.report.lines import FILE_STYLE, TextStyle
from snapcraft_compression_advisor.report.model import Page
from snapcraft_compression_advisor.report.text_printer import print_text
from snapcraft_compression_advisor.trial.result import blocks_of_files
from snapcraft_compression_advisor.trial.stored import BlockSizes, StoredSizes

FILES = (
    ("usr/bin/calc", 300_000),
    ("usr/lib/libcalc.so.1", 2_000_000),
    ("usr/lib/libbig.so", 9_000_000),
    ("usr/share/calc/sound.ogg", 700_000),
    ("usr/share/calc/help.txt", 1_500),
)
COMPRESSED_SHARE = {"xz": 0.3, "lzo": 0.45, "gzip": 0.4, "zstd": 0.35, "none": 1.0}


def make_stored(files: Sequence[tuple[str, int]] = FILES) -> StoredSizes:
    """Return sizes of files of which sound doesn't compress; all are known."""
    layout = make_layout(files)
    owners = layout.files_of_blocks()
    packed = np.array([path.endswith(".ogg") for path, _ in files])[owners]
    return StoredSizes(
        layout=layout,
        codecs={
            codec: BlockSizes(
                stored_bytes=layout.raw_bytes().astype(np.float64)
                * np.where(packed, 1.0, share),
                errors=np.zeros(layout.block_count),
            )
            for codec, share in COMPRESSED_SHARE.items()
        },
    )


def make_full_analysis(
    files: Sequence[tuple[str, int]] = FILES, *, apps: int = 1
) -> Analysis:
    """Return an analysis with all that reports tell; launches read every file."""
    analysis = make_analysis(apps=apps)
    launch_files = tuple(
        LaunchFile(path=path, size_bytes=size, blocks=((0, (size - 1) // (128 * KIB)),))
        for path, size in sorted(files)
    )
    basis = GuessBasis(kind="GTK 4", recorded=(("a", 1.12), ("b", 1.17)))
    launches = tuple(
        replace(
            launch,
            launch_set=replace(launch.launch_set, files=launch_files, basis=basis),
        )
        for launch in analysis.launches
    )
    codecs = {
        name: replace(
            codec,
            blocks=blocks_of_files(
                {
                    path: tuple(
                        stored_block(
                            raw_bytes=128 * KIB,
                            stored_bytes=round(128 * KIB * COMPRESSED_SHARE[name]),
                        )
                        for _ in range((size - 1) // (128 * KIB) + 1)
                    )
                    for path, size in files
                }
            ),
        )
        if codec.available
        else codec
        for name, codec in analysis.trial.codecs.items()
    }
    trial = replace(analysis.trial, codecs=codecs, stored=make_stored(files))
    return replace(analysis, trial=trial, launches=launches)


def make_linted() -> LintedPayload:
    """Return findings on the calculator, of each kind."""
    findings = (BUDGET_BROKEN, LZO_WOULD_GAIN, DEBUG_SYMBOLS, STRADDLES)
    unchecked = (Unchecked(rule="SCA601", name="launch-slower", why="no baseline"),)
    return LintedPayload(
        path="prime", snap_name="calculator", findings=findings, unchecked=unchecked
    )


def full_page(
    analysis: Analysis, *, linted: LintedPayload | None = None, apply: str | None = ""
) -> Page:
    """Return the page of ``advise`` with all that it may have."""
    details = detail_sections(analysis, linted=linted, command="advise")
    sections = (*chart_sections(analysis), *details)
    return advise_page(analysis, apply=apply, details=sections)


def full_text(analysis: Analysis, *, columns: int = 80, apply: str | None = "") -> str:
    """Return what ``advise -v`` prints."""
    details = detail_sections(analysis)
    page = advise_page(analysis, columns=columns, apply=apply, details=details)
    return print_text(page, TextStyle(columns=columns, verbose=True))


def answer_text(
    analysis: Analysis, style: TextStyle = FILE_STYLE, *, apply: str | None = ""
) -> str:
    """Return what ``advise`` prints."""
    page = advise_page(analysis, columns=style.wrap_columns, apply=apply)
    return print_text(page, style)
