"""Findings without payloads, for tests of the forms that they take."""

from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from snapcraft_compression_advisor.lint.finding import (
    Evidence,
    Finding,
    Fix,
    LintedPayload,
    LintReport,
    Location,
    Unchecked,
)
from snapcraft_compression_advisor.lint.rule import Rule
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.project.edit import Edit
from snapcraft_compression_advisor.report.lines import TextStyle
from snapcraft_compression_advisor.report.lint_formats import Findings, render

PROJECT = "snap/snapcraft.yaml"
BEFORE = b"name: calculator\nbase: core24\ncompression: xz\nparts: {}\n"
SET_LZO = Fix(
    description="Set 'compression: lzo' in snapcraft.yaml.",
    safe=True,
    edit=Edit(
        path=Path(PROJECT),
        before=BEFORE,
        after=BEFORE.replace(b"compression: xz", b"compression: lzo"),
        sets={None: "lzo"},
    ),
)
LZO_WOULD_GAIN = Finding(
    rule="SCA101",
    name="lzo-would-gain",
    severity="warning",
    message="With lzo a cold launch of calculator takes 1.00 s less (0.45-3.12) on "
    "nvme-laptop, for 13.1 MB more to download.",
    location=Location(kind="project", path=PROJECT, line=3),
    evidence=(
        Evidence(
            label="saved per cold launch of calculator on nvme-laptop",
            text="1.00 s (0.45-3.12)",
            origin="estimated",
        ),
        Evidence(label="image with xz", text="44.1 MB", origin="measured"),
        Evidence(label="image with lzo", text="57.2 MB (±1.2%)", origin="estimated"),
    ),
    fix=SET_LZO,
)
BUDGET_BROKEN = Finding(
    rule="SCA201",
    name="cold-start-budget",
    severity="error",
    message="A cold launch of calculator takes 1.84 s longer (1.62-2.90) than a warm "
    "one on nvme-laptop; the budget is 1.50 s.",
    location=Location(kind="image", path="prime"),
    subject={"app": "calculator", "device": "nvme-laptop"},
    evidence=(
        Evidence(
            label="added by a cold launch of calculator on nvme-laptop",
            text="1.84 s (1.62-2.90)",
            origin="estimated",
        ),
        Evidence(label="budget", text="1.50 s", origin="declared"),
    ),
)
OTHER_BUDGET_BROKEN = Finding(
    rule="SCA201",
    name="cold-start-budget",
    severity="error",
    message="A cold launch of calculator takes 5.10 s longer (4.40-6.20) than a warm "
    "one on sd-card; the budget is 4.00 s.",
    location=Location(kind="image", path="prime"),
    subject={"app": "calculator", "device": "sd-card"},
    evidence=(
        Evidence(
            label="added by a cold launch of calculator on sd-card",
            text="5.10 s (4.40-6.20)",
            origin="estimated",
        ),
    ),
)
DEBUG_SYMBOLS = Finding(
    rule="SCA302",
    name="debug-symbols",
    severity="warning",
    message="Debug symbols of 8 files take 2.3 MB (2.1-2.5) of the image with xz.",
    location=Location(kind="payload", path="usr/lib/libcalc.so.1.0"),
    evidence=(
        Evidence(label="image with xz", text="2.3 MB (2.1-2.5)", origin="estimated"),
    ),
    files=tuple(f"usr/lib/libcalc{number}.so" for number in range(8)),
    fix=Fix(description="Strip them in the part's override-prime."),
)
STRADDLES = Finding(
    rule="SCA301",
    name="image-size-budget",
    severity="info",
    message="The image takes 57.2 MB (56.5-57.9); the budget of 57.0 MB lies within.",
    location=Location(kind="image", path="prime"),
    undecided=True,
)


NOT_LOOKED = Unchecked(
    rule="SCA202",
    name="launch-dominated",
    why="what a launch costs with gzip isn't known",
)


def make_report() -> LintReport:
    """Return the report of a payload with findings, a clean and a broken one."""
    return LintReport(
        version="0.1.0",
        payloads=(
            LintedPayload(
                path="prime",
                snap_name="calculator",
                findings=(
                    BUDGET_BROKEN,
                    OTHER_BUDGET_BROKEN,
                    LZO_WOULD_GAIN,
                    DEBUG_SYMBOLS,
                    STRADDLES,
                ),
            ),
            LintedPayload(
                path="out/clean_1.snap",
                snap_name="clean",
                findings=(),
                unchecked=(NOT_LOOKED,),
            ),
            LintedPayload(
                path="out/broken.snap",
                snap_name="",
                findings=(),
                error="'out/broken.snap' ends within its inode table",
            ),
        ),
    )


def sample_rules() -> tuple[Rule, ...]:
    """Return the rules of the findings above."""
    ids = ("SCA101", "SCA201", "SCA301", "SCA302")
    return tuple(rule for rule in ALL_RULES if rule.id in ids)


def report_of(*findings: Finding, path: str = "prime", snap: str = "s") -> LintReport:
    """Return the report of one payload."""
    payload = LintedPayload(path=path, snap_name=snap, findings=findings)
    return LintReport(version="0.1.0", payloads=(payload,))


def rendered(name: str, report: LintReport, style: TextStyle | None = None) -> str:
    """Return a report in the format of that name."""
    style = style or TextStyle()
    return render(name, Findings(report=report, style=style))


def report_of_longest_path() -> LintReport:
    """Return a report in which every path is as long as it gets."""
    location = Location(kind="payload", path=LONGEST_PATH)
    finding = replace(DEBUG_SYMBOLS, location=location, files=(LONGEST_PATH,) * 2)
    return report_of(
        replace(finding, message=f"{LONGEST_PATH} is too large."), path=LONGEST_PATH
    )


_NASTY = st.sampled_from(
    [
        "::error::x",
        "\n::stop-commands::t\n",
        "##[error]",
        "]]>",
        "<script>",
        "`|`",
        "\x1b[2J",
        "\r",
        "\x00",
        "\udcff",
        "\u2028",
        "\ufffe",
        "%0A",
        "@everyone",
        "https://a.example/",
        "\U0001f600",
        "-",
        " ",
        "/",
        "é",
    ]
)
_PARTS = st.one_of(_NASTY, st.characters(codec="utf-8"))
HOSTILE_PATHS = st.one_of(
    st.lists(_PARTS, min_size=1, max_size=12).map("".join),
    st.binary(min_size=1, max_size=40).map(
        lambda name: name.decode("utf-8", "surrogateescape")
    ),
)
"""What files may be called, and worse."""

HOSTILE_TEXTS = HOSTILE_PATHS | st.text(min_size=1, max_size=12)
"""What stands in texts: YAML may hold surrogates that no path has."""

LONGEST_PATH = "/".join(["é" * 127, *["-" * 255] * 15])
"""4,094 bytes of names as long as they get, by PATH_MAX and NAME_MAX of Linux."""

_SEVERITIES = st.sampled_from(["error", "warning", "info"])
_EVIDENCE = st.builds(
    Evidence,
    label=HOSTILE_TEXTS,
    text=HOSTILE_TEXTS,
    origin=st.sampled_from(["measured", "estimated", "published", "declared"]),
)
_FINDINGS = st.builds(
    Finding,
    rule=st.sampled_from(["SCA101", "SCA302"]),
    name=st.just("a-rule"),
    severity=_SEVERITIES,
    message=HOSTILE_TEXTS,
    location=st.builds(
        Location,
        kind=st.sampled_from(["project", "payload", "image"]),
        path=HOSTILE_PATHS,
        line=st.none() | st.integers(1, 10**6),
    ),
    subject=st.dictionaries(st.just("app"), HOSTILE_TEXTS, max_size=1),
    evidence=st.lists(_EVIDENCE, max_size=2).map(tuple),
    files=st.lists(HOSTILE_PATHS, max_size=8).map(tuple),
    fix=st.none()
    | st.builds(Fix, description=HOSTILE_TEXTS, safe=st.booleans(), edit=st.none()),
    undecided=st.booleans(),
)
HOSTILE_REPORTS = st.builds(
    LintReport,
    version=st.just("0.1.0"),
    payloads=st.lists(
        st.builds(
            LintedPayload,
            path=HOSTILE_PATHS,
            snap_name=HOSTILE_TEXTS | st.just(""),
            findings=st.lists(_FINDINGS, max_size=3).map(tuple),
            error=st.none() | HOSTILE_TEXTS,
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
)
"""Reports on payloads that want to harm who reads them."""
