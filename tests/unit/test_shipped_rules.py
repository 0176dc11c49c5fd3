"""SCA105 and SCA302 to SCA308: files that cost more than they are worth."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from analyses import make_analysis
from lint_contexts import (
    MUCH,
    found_by,
    judged,
    make_context,
    make_surveyed,
    sized,
    storing,
)
from payloads import make_inventory
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.rule import Context, Rule
from snapcraft_compression_advisor.lint.rules.compression import incompressible_payload
from snapcraft_compression_advisor.lint.rules.shipped import (
    RULES,
    duplicated_content,
    supplied_libraries,
)
from snapcraft_compression_advisor.lint.run import make_selection, run_rules
from snapcraft_compression_advisor.payload.copies import Copy, Supplied
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.payload.needless import (
    Needless,
    NeedlessFile,
    NeedlessKind,
)
from snapcraft_compression_advisor.payload.survey import Survey
from snapcraft_compression_advisor.settings.settings import Settings
from snapcraft_compression_advisor.trial.stored import (
    BlockSizes,
    StoredSizes,
    find_incompressible,
)

DEBUG_SYMBOLS, DOCUMENTATION = RULES[0], RULES[3]
KINDS: dict[str, NeedlessKind] = {
    "SCA302": "debug-symbols",
    "SCA303": "static-libraries",
    "SCA304": "development-files",
    "SCA305": "documentation",
    "SCA306": "package-caches",
}
NEEDLESS_RULES = [rule for rule in RULES if rule.id in KINDS]
LARGE = 1_000_000
SMALL = 10_000
BORDER = 210_000
"""105,000 with xz, by an error of some 10 %."""


def needless(rule: Rule, size_bytes: int, *, doubt: str | None = None) -> Needless:
    file = NeedlessFile(path="usr/lib/a/one", size_bytes=size_bytes, doubt=doubt)
    return Needless(kind=KINDS[rule.id], files=(file,))


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_what_weighs_something_is_a_finding(rule: Rule) -> None:
    context = make_surveyed(
        needless=[needless(rule, LARGE)], analysis=storing({"usr/lib/a/one": LARGE})
    )
    (finding,) = found_by(rule, context)
    assert finding.rule == rule.id
    assert finding.severity == "warning"
    assert not finding.undecided
    assert "(1 file) take 500.0 kB of the image with xz, 1.1% of it" in finding.message
    assert finding.location.path == "usr/lib/a"
    assert finding.files == ("usr/lib/a/one",)
    assert finding.evidence[0].origin == "measured"


@pytest.mark.parametrize("rule", NEEDLESS_RULES, ids=lambda rule: rule.id)
def test_files_of_another_kind_are_another_rules(rule: Rule) -> None:
    context = make_surveyed(
        needless=[needless(other, LARGE) for other in NEEDLESS_RULES if other != rule],
        analysis=storing({"usr/lib/a/one": LARGE}),
    )
    assert not found_by(rule, context)


@pytest.mark.parametrize(
    ("size_bytes", "image_mb"),
    [(SMALL, 44), (LARGE, 501)],  # half of it is stored
)
def test_what_weighs_little_by_itself_or_in_its_image_is_no_finding(
    size_bytes: int, image_mb: float
) -> None:
    analysis = storing({"usr/lib/a/one": size_bytes})
    context = make_surveyed(
        needless=[needless(DEBUG_SYMBOLS, size_bytes)],
        analysis=sized(analysis, "xz", Interval.exactly(image_mb)),
    )
    assert not found_by(DEBUG_SYMBOLS, context)


@pytest.mark.parametrize(
    ("size_bytes", "error", "doubt", "said"),
    [
        (BORDER, 0.1, None, "an estimated 105.0 kB ("),
        (LARGE, 0.0, "a compiler is shipped", "a compiler is shipped"),
    ],
)
def test_an_interval_across_the_line_and_a_doubt_are_undecided(
    size_bytes: int, error: float, doubt: str | None, said: str
) -> None:
    context = make_surveyed(
        needless=[needless(DEBUG_SYMBOLS, size_bytes, doubt=doubt)],
        analysis=storing({"usr/lib/a/one": size_bytes}, error=error),
    )
    (finding,) = found_by(DEBUG_SYMBOLS, context)
    assert (finding.undecided, finding.severity) == (True, "info")
    assert said in finding.message
    assert finding.evidence[0].origin == ("estimated" if error else "measured")


def test_doubtful_files_are_left_out_where_the_others_weigh_enough() -> None:
    files = (
        NeedlessFile(path="usr/share/doc/a/manual.pdf", size_bytes=LARGE, doubt="help"),
        NeedlessFile(path="usr/share/doc/a/changelog", size_bytes=LARGE),
    )
    context = make_surveyed(
        needless=[Needless(kind="documentation", files=files)],
        analysis=storing({file.path: file.size_bytes for file in files}),
    )
    (finding,) = found_by(DOCUMENTATION, context)
    assert finding.files == ("usr/share/doc/a/changelog",)
    assert "500.0 kB" in finding.message


def test_files_that_the_policy_leaves_out_are_not_weighed() -> None:
    files = (
        NeedlessFile(path="usr/share/doc/a/news", size_bytes=LARGE),
        NeedlessFile(path="usr/share/man/b", size_bytes=LARGE),
    )
    context = make_surveyed(
        needless=[Needless(kind="documentation", files=files)],
        analysis=storing({file.path: file.size_bytes for file in files}),
    )
    policy = Settings.model_validate({"ignore": ["SCA305:usr/share/doc"]})
    (finding,) = run_rules(context, RULES, make_selection(policy))
    assert finding.files == ("usr/share/man/b",)
    assert "(1 file) take 500.0 kB" in finding.message


def test_contents_that_other_files_keep_do_not_count() -> None:
    context = make_surveyed(
        needless=[needless(DEBUG_SYMBOLS, LARGE)],
        analysis=storing({"used": LARGE}, same_as={"usr/lib/a/one": "used"}),
    )
    assert not found_by(DEBUG_SYMBOLS, context)


def test_of_an_unstripped_file_only_its_symbols_count() -> None:
    file = NeedlessFile(path="bin/x", size_bytes=600_000, parts=((400_000, 1_000_000),))
    context = make_surveyed(
        needless=[Needless(kind="debug-symbols", files=(file,))],
        analysis=storing({"bin/x": LARGE}),
    )
    (finding,) = found_by(DEBUG_SYMBOLS, context)
    assert "an estimated 300.0 kB" in finding.message


def test_files_without_a_directory_in_common_are_the_payloads_affair() -> None:
    files = tuple(
        NeedlessFile(path=path, size_bytes=LARGE) for path in ("a/x.debug", "b/y.debug")
    )
    context = make_surveyed(
        needless=[Needless(kind="debug-symbols", files=files)],
        analysis=storing({file.path: file.size_bytes for file in files}),
    )
    (finding,) = found_by(DEBUG_SYMBOLS, context)
    assert finding.location.kind == "image"


def test_where_nothing_is_known_of_sizes_nothing_is_said() -> None:
    context = make_surveyed(needless=[needless(DEBUG_SYMBOLS, LARGE)])
    assert not found_by(DEBUG_SYMBOLS, context)


PATH = "usr/lib/libx.so.1.2.0"


def with_copy(
    size_bytes: int, *, error: float = 0, doubt: str | None = None
) -> Context:
    copy = Copy(
        path=PATH, like="usr/lib/libx.so.1.3.0", size_bytes=size_bytes, doubt=doubt
    )
    context = make_surveyed(analysis=storing({PATH: size_bytes}, error=error))
    return replace(context, survey=Survey(copies=(copy,)))


def with_library(
    size_bytes: int, *, error: float = 0, same: bool | None = True
) -> Context:
    supplied = Supplied(path=PATH, size_bytes=size_bytes, supplier="core24", same=same)
    context = make_surveyed(analysis=storing({PATH: size_bytes}, error=error))
    return replace(context, survey=Survey(supplied=(supplied,)))


def test_a_second_version_is_a_finding_and_says_what_it_is_like() -> None:
    (finding,) = found_by(duplicated_content, with_copy(LARGE))
    assert finding.severity == "warning"
    assert finding.files == (PATH,)
    assert "(1 file) take 500.0 kB of the image with xz, 1.1% of it" in finding.message
    assert any("libx.so.1.3.0" in each.text for each in finding.evidence)


def test_a_second_version_is_undecided_by_doubt_and_by_interval() -> None:
    (finding,) = found_by(duplicated_content, with_copy(LARGE, doubt="who knows"))
    assert finding.undecided
    (finding,) = found_by(duplicated_content, with_copy(BORDER, error=0.1))
    assert finding.undecided


def test_a_copy_that_the_image_stores_once_costs_nothing() -> None:
    context = with_copy(LARGE)
    shared = storing(
        {"usr/lib/libx.so.1.3.0": LARGE}, same_as={PATH: "usr/lib/libx.so.1.3.0"}
    )
    assert not found_by(duplicated_content, replace(context, analysis=shared))


def test_a_library_equal_to_the_bases_is_a_finding() -> None:
    (finding,) = found_by(supplied_libraries, with_library(LARGE))
    assert not finding.undecided
    assert finding.evidence[-1].text == "'core24'"
    assert finding.evidence[-1].origin == "measured"


def test_a_library_known_by_name_only_or_of_another_build_is_undecided() -> None:
    (finding,) = found_by(supplied_libraries, with_library(LARGE, same=None))
    assert finding.undecided
    assert "only their names are known" in finding.message
    assert finding.evidence[-1].origin == "published"
    (finding,) = found_by(supplied_libraries, with_library(LARGE, same=False))
    assert finding.undecided
    assert "other builds" in finding.message


BLOCK = 131_072
FILES = ("bin/app", "media/film", "media/song")
FILM_AND_APP = (0.3, 0.3, 1.0, 1.0, 0.98)


def stored(
    ratios: Sequence[float] = FILM_AND_APP, errors: Sequence[float] = (0,) * 5
) -> StoredSizes:
    """Return sizes of an app of two blocks, a film of two and a song of one."""
    layout = make_layout(
        [(FILES[0], 2 * BLOCK), (FILES[1], 2 * BLOCK), (FILES[2], BLOCK)]
    )
    sizes = BlockSizes(
        stored_bytes=np.array(ratios) * BLOCK, errors=np.array(errors) * BLOCK
    )
    return StoredSizes(layout=layout, codecs={"xz": sizes})


def context(sizes: StoredSizes | None, **options: object) -> Context:
    analysis = judged(make_analysis(), "xz", MUCH)
    analysis = replace(analysis, trial=replace(analysis.trial, stored=sizes))
    made = make_context(analysis=analysis, policy=options)
    return replace(made, inventory=make_inventory(dict.fromkeys(FILES, BLOCK)))


def test_media_that_fill_the_image_are_found_the_largest_first() -> None:
    (finding,) = found_by(incompressible_payload, context(stored()))
    assert (finding.severity, finding.undecided) == ("info", False)
    assert finding.files == ("media/film", "media/song")
    assert finding.message.startswith("An estimated 83% of the image's data")
    assert "2 files, the largest media/film (262.1 kB)" in finding.message


def test_parts_of_a_file_that_do_not_compress_count_as_parts() -> None:
    layout = make_layout([(FILES[0], 5 * BLOCK)])
    program = replace(stored((0.9, 1.0, 0.5, 0.3, 0.3)), layout=layout)
    (finding,) = found_by(incompressible_payload, context(program))
    assert finding.files == (FILES[0],)
    text = "33% of the image's data doesn't compress with xz: parts of 1 file, the "
    assert f"{text}largest bin/app (131.1 kB)." in finding.message


def test_files_and_parts_of_others_are_told_apart() -> None:
    layout = make_layout([(FILES[0], 4 * BLOCK), (FILES[2], BLOCK)])
    mixed = replace(stored((1.0, 0.9, 0.9, 0.9, 1.0)), layout=layout)
    (finding,) = found_by(incompressible_payload, context(mixed))
    assert "xz: 1 file and parts of 1 file, the largest" in finding.message


@pytest.mark.parametrize(
    "ratios", [(0.3, 0.3, 0.3, 0.3, 0.94), (0.9, 0.9, 0.9, 0.9, 0.96)]
)
def test_code_and_little_media_are_no_finding(ratios: Sequence[float]) -> None:
    assert not found_by(incompressible_payload, context(stored(ratios)))


def test_sizes_near_the_line_leave_it_undecided() -> None:
    ratios, errors = (0.3, 0.3, 0.95, 0.94, 0.95), (0, 0, 0.05, 0.05, 0.05)
    (finding,) = found_by(incompressible_payload, context(stored(ratios, errors)))
    assert finding.undecided
    assert finding.evidence[0].origin == "estimated"


def test_nothing_is_said_of_sizes_that_are_not_known() -> None:
    assert not found_by(incompressible_payload, context(None))
    empty = replace(stored(), codecs={})
    assert not found_by(incompressible_payload, context(empty))


def test_ignored_files_do_not_count() -> None:
    chosen = make_selection(
        context(None, ignore=["SCA105:media/film"], select=["SCA105"]).settings
    )
    (finding,) = run_rules(context(stored()), [incompressible_payload], chosen)
    assert finding.files == ("media/song",)
    assert finding.message.startswith("An estimated 27% of the image's data")


def test_blocks_near_the_line_make_an_interval() -> None:
    found = find_incompressible(
        stored((0.3, 0.3, 0.95, 1.0, 0.0), (0, 0, 0.01, 0, 0)), "xz", among=FILES
    )
    assert found is not None
    size = found.stored_bytes
    assert size.low == BLOCK
    assert size.mid == size.high == pytest.approx(1.95 * BLOCK)
    assert found.total_bytes == pytest.approx(BLOCK * 2.55)
