"""Scripts that start programs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from guesses import guessed, shell_words
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.guess.programs import SCRIPT_MAX_BYTES
from snapcraft_compression_advisor.launch.guess.shell import Script, Values
from snapcraft_compression_advisor.launch.guess.shell_words import (
    command_place,
    is_shell,
    script_interpreter,
)
from snapcraft_compression_advisor.launch.launch_set import BlindSpot

PROGRAM = "opt/app/lib/app-bin"
DECOY = "opt/other/lib/app-bin"

LAUNCHERS = Path(__file__).with_name("launchers")
"""What launchers of published applications do, each in its shortest form."""

IDIOMS = {path.name: path.read_bytes().decode() for path in LAUNCHERS.iterdir()}


def started(text: str, *, chain: tuple[str, ...] = ()) -> tuple[set[str], set[str]]:
    """Return the files that a launcher is found to start, and what wasn't followed."""
    program = make_elf()
    payload = make_payload(
        {
            "opt/app/bin/launch": b"#!/bin/bash\n" + text.encode(),
            "opt/app/bin/settings.sh": b'APP_ROOT="$(dirname "${BASH_SOURCE}")/.."\n',
            PROGRAM: program,
            DECOY: program,
            **dict.fromkeys(chain, b'#!/bin/sh\nexport A=1\nexec "$@"\n'),
        },
        base="bare",
        apps={"hello": {"command": "opt/app/bin/launch", "command-chain": list(chain)}},
    )
    found = find_candidates(payload, "hello")
    paths = {file.entry.path for file in found.files if file.way == "started"}
    return paths, {spot.reason for spot in found.blind_spots}


@pytest.mark.parametrize("name", sorted(IDIOMS))
def test_launcher_is_followed(name: str) -> None:
    paths, not_followed = started(IDIOMS[name])
    assert PROGRAM in paths
    assert DECOY not in paths
    assert not_followed == set()


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("bin/node --version", False),
        ("bin/start", False),
        ("bin/node -e CODE", True),
        ("bin/node $SNAP/lib/main.js", True),
        ("bin/tool", True),
        ("bin/computed", True),
    ],
)
def test_run_time_without_a_script_is_a_kind_of_its_own(
    command: str, *, script: bool
) -> None:
    files = {
        "bin/node": make_elf(),
        "bin/start": b'#!/bin/sh\nexec "$SNAP/bin/node" "$@"\n',
        "bin/tool": b"#!/usr/bin/env node\nrequire('../lib/main')\n",
        "bin/computed": b'#!/bin/sh\nexec "$SNAP/bin/node" "$SNAP/$(cat main)"\n',
        "lib/main.js": b"module.exports = 1\n",
    }
    payload = make_payload(files, apps={"hello": {"command": command}})
    kind = find_candidates(payload, "hello").kind
    assert kind == ("Node" if script else "run time without a script")


def test_command_chain_is_followed_without_blind_spots() -> None:
    text = 'exec "$SNAP/opt/app/lib/app-bin" "$@"'
    paths, not_followed = started(text, chain=("snap/one", "snap/two"))
    assert {"snap/one", "snap/two", PROGRAM} <= paths
    assert not_followed == set()


@pytest.mark.parametrize(
    "prefix", ["../opt/app/bin/launch", "/snap/hello/1/opt/app/bin/launch"]
)
def test_launcher_behind_a_link_finds_its_own_directory(prefix: str) -> None:
    payload = make_payload(
        {
            "opt/app/bin/launch": b"#!/bin/bash\n" + IDIOMS["link-loop"].encode(),
            PROGRAM: make_elf(),
        },
        links={"bin/hello": prefix},
        base="bare",
        apps={"hello": {"command": "bin/hello"}},
    )
    found = find_candidates(payload, "hello")
    assert PROGRAM in {file.entry.path for file in found.files}
    assert found.blind_spots == ()


def test_scripts_that_pass_each_other_on_lead_to_an_application_in_the_root() -> None:
    names = ("desktop-init.sh", "desktop-common.sh")
    line = " ".join(f'"$SNAP/{name}"' for name in (*names, "hello"))
    payload = make_payload(
        {
            "command.sh": f'#!/bin/bash -e\nexec {line} "$@" --flag\n'.encode(),
            **dict.fromkeys(names, b'#!/bin/bash\nexport A=1\nexec "$@"\n'),
            "hello": make_elf(needed=["libgtk-3.so.0"]),
            "resources.pak": b"x",
            "icudtl.dat": b"x",
        },
        base="bare",
        apps={"hello": {"command": "command.sh", "plugs": ["x11"]}},
    )
    found = find_candidates(payload, "hello")
    assert found.blind_spots == ()
    assert found.kind == "Chromium engine"


@pytest.mark.parametrize(
    "text",
    [
        'exec "$(choose)" "$@"',
        '"$SNAP/opt/app/lib/check"\nexec "$APP" "$@"',
        'read -r APP < "$SNAP/name"\nexec "$APP"',
        'exec "$(cat "$SNAP/name")"',
        'exec "$SNAP/opt/$(choose)/lib/app-bin"',
        'eval "$(base64 -d <<< aGVsbG8=)"',
        "f() { f; }; f",
        'exec python3 "$SNAP/opt/$(choose).py" start',
        'exec python3 -m "$MODULE"',
        'exec java $OPTIONS -jar "$SNAP/lib/$NAME.jar"',
        'exec "$SNAP/opt/dotnet" "$SNAP/opt/not-there.dll"',
        '"$@"',
        "",
    ],
)
def test_launcher_that_computes_what_it_starts_is_a_blind_spot(text: str) -> None:
    assert "computed-command" in started(text)[1]


@pytest.mark.parametrize("command", ["-m app", "-Ic 'import app'", '"$@"', "--version"])
def test_interpreter_without_a_program_by_path_is_no_blind_spot(command: str) -> None:
    assert started(f"exec python3 {command}")[1] == set()


def test_scripts_that_read_each_other_end() -> None:
    found = guessed(
        {
            "bin/a": b"#!/bin/sh\n. $SNAP/bin/b\n",
            "bin/b": b". $SNAP/bin/a\n. $SNAP/bin/b\n",
        },
        "bin/a",
    )
    assert found.blind_spots == (BlindSpot(reason="computed-command", where="bin/a"),)


@pytest.mark.parametrize(
    "repeated",
    [
        "f() { g; g; }\ng() { f; f; }\nf\n",
        'A="$A$(dirname "$A")"\n',
        "cat <<EOF\n",
        "A=(\n",
        'eval "eval \\"eval x\\""\n',
        "A=${A%*a*b*c*}x\n",
        "$(",
        "${A:-",
        "x() {\n",
        'A=1; A=2; A="$A$B"; B="$B$A"; $A\n',
    ],
)
def test_script_of_any_length_ends(repeated: str) -> None:
    started(repeated * (SCRIPT_MAX_BYTES // len(repeated)))


@pytest.mark.parametrize(
    ("line", "interpreter", "shell"),
    [
        (b"#!/bin/sh\n", "/bin/sh", True),
        (b"#! /bin/bash -e\n", "/bin/bash", True),
        (b"#!/usr/bin/env python3\nimport x", "python3", False),
        (b"#!/usr/bin/env -S VAR=1 node --flag\n", "node", False),
        (b"#!/usr/bin/env\n", "/usr/bin/env", False),
        (b"#!/usr/bin/perl", "/usr/bin/perl", False),
        (b"", "", False),
        (b"\x7fELF", "", False),
        (b"#!", "", False),
        (b" #!/bin/sh", "", False),
    ],
)
def test_interpreter_is_read(line: bytes, interpreter: str, shell: bool) -> None:  # noqa: FBT001 # a parametrised expectation
    assert script_interpreter(line.decode()) == interpreter
    assert is_shell(interpreter) is shell


def test_variables_are_followed_through_a_wrapper() -> None:
    text = """#!/bin/sh
# comment with /usr/bin/never
APPNAME=chromium
export LIBDIR=/usr/lib/$APPNAME
FLAGS="--flag"
exec "${LIBDIR}/$APPNAME" $FLAGS \\
    --data=x "$@"
"""
    words = shell_words(text)
    assert "/usr/lib/chromium/chromium" in words
    assert "/usr/bin/never" not in words


def test_defaults_and_snap_variables_stay_usable() -> None:
    words = shell_words('exec "$SNAP/bin/${NAME:-tool}"; ${OTHER}/x')
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
        for variants in Script(Values({})).commands(script)
        for variant in variants
    }
    assert tuple(words.split()) in ran


def test_command_is_yielded_for_each_value_that_it_may_be_run_by() -> None:
    script = "if x; then A=/jre/java; else A=java; fi\nexec $A y"
    *_, last = Script(Values({})).commands(script)
    assert last == (("exec", "java", "y"), ("exec", "/jre/java", "y"))


def test_variable_that_doubles_itself_stays_short() -> None:
    text = "A=xxxxxxxxxx\n" + "A=$A$A\n" * 100 + "exec $A"
    assert max(len(word) for word in shell_words(text)) <= 4096


@given(st.text(alphabet=st.sampled_from("aA=$/{}:-\"'\\ \n;|&#()`"), max_size=200))
def test_any_text_yields_words(text: str) -> None:
    assert all(isinstance(word, str) for word in shell_words(text))


def test_interpreter_beside_the_launcher_is_not_looked_for_in_the_base() -> None:
    launcher = b'#!/bin/sh\ncd "$(dirname "$0")"\nexec ./perl ../lib/app "$@"\n'
    payload = make_payload(
        {
            "bin/launch": launcher,
            "bin/perl": make_elf(),
            "lib/app": b"#!/usr/bin/env perl\nprint 1;\n",
        },
        base="core24",
        apps={"hello": {"command": "bin/launch"}},
    )
    found = find_candidates(payload, "hello")
    assert "./perl" not in {each.name for each in found.unresolved}
    assert "bin/perl" in {each.entry.path for each in found.files}
