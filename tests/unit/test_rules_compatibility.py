"""Whether kernels and the store take the codec."""

from __future__ import annotations

import pytest

from lint_contexts import found_by, make_context, make_project
from snapcraft_compression_advisor.lint.project import project_of_component
from snapcraft_compression_advisor.lint.rules.compatibility import (
    codec_not_accepted,
    codec_not_in_kernel,
    target_has,
)
from snapcraft_compression_advisor.settings.policy_parts import Target


def test_target_whose_kernel_is_too_old_is_named() -> None:
    policy = {"targets": [{"kernel": "4.13"}, {"kernel": "4.14.2"}]}
    (finding,) = found_by(
        codec_not_in_kernel, make_context(declared="zstd", policy=policy)
    )
    assert (finding.severity, finding.undecided) == ("error", False)
    assert "can't be mounted by kernel 4.13, which lacks zstd" in finding.message
    assert finding.evidence[-1].text == "since Linux 4.14"


def test_target_with_fewer_codecs_than_its_kernel_is_named() -> None:
    policy = {"targets": [{"name": "router", "codecs": ["gzip"]}]}
    (finding,) = found_by(codec_not_in_kernel, make_context(policy=policy))
    assert "packed with xz can't be mounted by router" in finding.message


@pytest.mark.parametrize("codec", ["xz", "lzo", "gzip", "lz4"])
def test_codec_that_all_kernels_have_is_no_finding(codec: str) -> None:
    assert not found_by(codec_not_in_kernel, make_context(declared=codec))


def test_without_targets_zstd_is_undecided_but_on_the_oldest_base() -> None:
    (finding,) = found_by(codec_not_in_kernel, make_context(declared="zstd"))
    assert (finding.severity, finding.undecided) == ("info", True)
    (finding,) = found_by(
        codec_not_in_kernel, make_context(declared="zstd", base="core")
    )
    assert (finding.severity, finding.undecided) == ("error", False)


def test_legacy_codec_is_in_no_kernel() -> None:
    (finding,) = found_by(codec_not_in_kernel, make_context(declared="lzma"))
    assert not finding.undecided
    assert finding.evidence[-1].text == "in no mainline kernel"


@pytest.mark.parametrize(
    ("kernel", "codec", "has"),
    [
        ("2.6.35", "lzo", False),
        ("2.6.36", "lzo", True),
        ("2.6.36", "xz", False),
        ("3.18", "lz4", False),
        ("3.19", "lz4", True),
        ("4.4", "zstd", False),
        ("6.8", "zstd", True),
        ("6.8", "lzma", False),
        ("2.6.28", "none", True),
    ],
)
def test_codecs_came_with_these_kernels(kernel: str, codec: str, *, has: bool) -> None:
    assert target_has(Target(kernel=kernel), codec) is has


def test_codec_that_the_store_refuses_is_found() -> None:
    (finding,) = found_by(codec_not_accepted, make_context(declared="gzip"))
    assert finding.severity == "error"
    assert not found_by(codec_not_accepted, make_context(declared="lzo"))
    assert not found_by(codec_not_accepted, make_context(declared=None))


def test_keys_of_components_that_snapcraft_refuses_are_found() -> None:
    keys = "{a: {compression: }, b: {compression: zstd}, c: {compression: xz}, d: {}}"
    project = make_project(f"name: x\ncomponents: {keys}\n")
    found = found_by(codec_not_accepted, make_context(project=project))
    assert [each.subject for each in found] == [{"component": "a"}, {"component": "b"}]
    assert found[0].message.startswith("Component a has 'compression: null'")
    assert [project_of_component(project, each).compression for each in "abc"] == [
        None,
        "zstd",
        "xz",
    ]
