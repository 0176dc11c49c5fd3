"""Skipped tests: counted with their reasons; what could be installed is a failure."""

import errno

import pytest

import abilities

pytest_plugins = ["pytester"]

TESTS = """
import pytest

def test_runs(): pass

@pytest.mark.skipif(True, reason="no frobnicator here")
def test_needs_a_tool(): pass

@pytest.mark.parametrize("n", [1, 2])
def test_needs_snapcraft(n):
    pytest.skip("snapcraft 9 isn't importable: install it from its repository")
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_what_could_be_installed_is_a_failure(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makepyfile(TESTS)
    result = pytester.runpytest("-p", "skips", "--no-missing", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*3 skipped*",
            "   2 snapcraft 9 isn't importable: *",
            "   1 MISSING no frobnicator here",
            "failed: what is MISSING can be installed*",
        ]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_skipped_file_is_counted(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makepyfile("import pytest\npytest.importorskip('frobnicator')")
    result = pytester.runpytest("-p", "skips", "--no-missing", *workers)
    result.stdout.fnmatch_lines(["   1 MISSING could not import 'frobnicator'*"])


def test_what_a_machine_refuses_is_excused_unless_it_has_to_allow_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setitem(abilities.ABILITIES, "mounts", refuse)
    abilities.why_not.cache_clear()
    pytester.makepyfile("import pytest\n@pytest.mark.mounts\ndef test_mounts(): pass")
    try:
        result = pytester.runpytest_inprocess("-p", "skips", "--no-missing")
        refusal = "this machine refuses mounts: *not permitted"
        assert result.ret == pytest.ExitCode.OK
        result.stdout.fnmatch_lines([f"   1 {refusal}"])
        result = pytester.runpytest_inprocess("-p", "skips", "--able", "mounts")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {refusal}"])
    finally:
        abilities.why_not.cache_clear()
