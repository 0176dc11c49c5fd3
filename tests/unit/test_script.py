"""What a script's text says about what it starts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.launch.guess.shell import (
    Shebang,
    command_place,
    parse_shebang,
    shell_commands,
    shell_words,
)
from snapcraft_compression_advisor.launch.guess.shell_values import Values


@pytest.mark.parametrize(
    ("line", "interpreter", "shell"),
    [
        (b"#!/bin/sh\n", "/bin/sh", True),
        (b"#! /bin/bash -e\n", "/bin/bash", True),
        (b"#!/usr/bin/env python3\nimport x", "python3", False),
        (b"#!/usr/bin/env -S VAR=1 node --flag\n", "node", False),
        (b"#!/usr/bin/env\n", "/usr/bin/env", False),
        (b"#!/usr/bin/perl", "/usr/bin/perl", False),
    ],
)
def test_interpreter_is_read(line: bytes, interpreter: str, shell: bool) -> None:  # noqa: FBT001 # a parametrised expectation
    assert parse_shebang(line) == Shebang(interpreter=interpreter, shell=shell)


@pytest.mark.parametrize("text", [b"", b"\x7fELF", b"echo", b"#!", b" #!/bin/sh"])
def test_other_files_have_no_interpreter(text: bytes) -> None:
    assert parse_shebang(text) is None


def test_variables_are_followed_through_a_wrapper() -> None:
    text = """#!/bin/sh
# comment with /usr/bin/never
APPNAME=chromium
export LIBDIR=/usr/lib/$APPNAME
FLAGS="--flag"
exec "${LIBDIR}/$APPNAME" $FLAGS \\
    --data=x "$@"
"""
    words = list(shell_words(text))
    assert "/usr/lib/chromium/chromium" in words
    assert "/usr/bin/never" not in words


def test_defaults_and_snap_variables_stay_usable() -> None:
    words = list(shell_words('exec "$SNAP/bin/${NAME:-tool}"; ${OTHER}/x'))
    assert "$SNAP/bin/tool" in words
    assert "${OTHER}/x" in words


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exec ${A:-${B:-java}} -jar x.jar", "java -jar x.jar"),
        ('A="${A:-${B:-"java"}}"\nexec "$A" x', "java x"),
        ("run() {\n  $A x\n}\nA=java\nrun", "java x"),
        (': "${A:=java}"\nexec $A x', "java x"),
        ("A=$(which java 2>/dev/null)\n$A x", "java x"),
        ("A=`command -v java`\n$A x", "java x"),
        ('A=(java -cp "x.jar")\nexec "${A[@]}" x', "java -cp x.jar x"),
        ('A="java -ea"\nexec $A x', "java -ea x"),
        ("cat <<-'EOS'\n\tdon't\n\tEOS\nexec java x", "java x"),
        ("exec java x || \\\n  printf 'it\nfailed'", "java x"),
        ("echo ${0##*/}; exec java x >/dev/null 2>&1 # now", "java x"),
    ],
)
def test_program_of_a_launcher_is_named(script: str, words: str) -> None:
    ran = {
        variant[command_place(variant) :]
        for variants in shell_commands(script, Values({}))
        for variant in variants
    }
    assert tuple(words.split()) in ran


def test_command_is_yielded_for_each_value_that_it_may_be_run_by() -> None:
    script = "if x; then A=/jre/java; else A=java; fi\nexec $A y"
    *_, last = shell_commands(script, Values({}))
    assert last == (("exec", "java", "y"), ("exec", "/jre/java", "y"))


def test_variable_that_doubles_itself_stays_short() -> None:
    text = "A=xxxxxxxxxx\n" + "A=$A$A\n" * 100 + "exec $A"
    assert max(len(word) for word in shell_words(text)) <= 4096


@given(st.text(alphabet=st.sampled_from("aA=$/{}:-\"'\\ \n;|&#()`"), max_size=200))
def test_any_text_yields_words(text: str) -> None:
    assert all(isinstance(word, str) for word in shell_words(text))
