"""Programs in Java."""

import pytest
from pytest_mock import MockerFixture

from elf_files import make_elf
from guesses import found, shell_words
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess import programs
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.runtimes.machines import (
    LINKED_MAX_BYTES,
)


def test_java_reads_its_machine_its_modules_and_the_archive_of_the_command() -> None:
    java = "usr/lib/jvm/java-17"
    files = {
        f"{java}/bin/java": make_elf(),
        f"{java}/lib/modules": b"x",
        f"{java}/lib/server/libjvm.so": make_elf(),
        f"{java}/lib/server/classes.jsa": b"x",
        "app/hello.jar": b"x",
        "app/other.jar": b"x",
    }
    named = found(files, f"{java}/bin/java -jar $SNAP/app/hello.jar")
    assert set(named) == set(files) - {"app/other.jar"}


def test_archives_of_a_class_path_are_read() -> None:
    files = {"usr/bin/java": make_elf(), "a/x.jar": b"x", "a/y.jar": b"x"}
    named = found(files, "usr/bin/java -cp $SNAP/a/x.jar:$SNAP/a/y.jar Main")
    assert set(named) == set(files)


def test_wrapper_of_java_leads_to_it_through_variables_with_defaults() -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\nNAME=hello\n"
        b'JAR="${JAR:-/usr/share/${NAME}/${NAME}.jar}"\nexec java -jar "${JAR}"\n',
        "usr/bin/java": make_elf(),
        "usr/share/hello/hello.jar": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


@pytest.mark.parametrize("shell", ["sh -c", "su -s /bin/sh -c", "exec bash -ec"])
def test_launcher_leads_to_java_by_the_text_that_it_gives_to_a_shell(
    shell: str,
) -> None:
    script = (
        "#!/bin/sh\nJAVACMD=`which java 2> /dev/null`\nHOME_OF=/usr/share/hello\n"
        "VERSION=`$JAVACMD -version | awk -F '\"' '{print $2}'`\n"
        f'RUN="{shell} "\n'
        '$RUN "\\"$JAVACMD\\" $OPTIONS -jar \\"$HOME_OF/hello.jar\\" $ARGUMENTS"\n'
    )
    files = {
        "usr/bin/hello": script.encode(),
        "usr/bin/java": make_elf(),
        "usr/share/hello/hello.jar": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


def test_only_some_texts_that_a_shell_is_given_are_followed(
    mocker: MockerFixture,
) -> None:
    mocker.patch.object(programs, "MAX_TEXTS", 1)
    files = {
        "usr/bin/hello": b"#!/bin/sh\nsh -c 'exec one'\nsh -c 'exec other'\n",
        "usr/bin/one": make_elf(),
        "usr/bin/other": make_elf(),
    }
    assert set(found(files, "usr/bin/hello")) == {"usr/bin/hello", "usr/bin/one"}


@pytest.mark.parametrize("text", ["A=`b '\"'`", 'A="`b \'"\'`"', 'A=`b "\'"`'])
def test_quotes_in_a_command_within_a_word_end_there(text: str) -> None:
    assert shell_words(f'{text}\nother "x y"\n') == ["other", "x y"]


def test_launcher_with_functions_leads_to_java_and_its_archives() -> None:
    files = {
        "usr/bin/hello": b"#!/bin/bash\n"
        b'run() {\n  "$JAVA" -cp "$JAR:/usr/share/java/*" Main "$@"\n}\n'
        b"JAR=/usr/share/hello/hello.jar\n"
        b'if [ -x "$JAVA_HOME/bin/java" ]; then JAVA="$JAVA_HOME/bin/java"\n'
        b'else JAVA="${JAVA_CMD:-java}"; fi\nrun "$@"\n',
        "usr/lib/jvm/java-21/bin/java": make_elf(),
        "usr/share/hello/hello.jar": b"x",
        "usr/share/java/other.jar": b"x",
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


def test_tools_of_a_launcher_are_read_but_not_its_messages() -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\ndirname $0\nzenity --error\nexec other",
        "usr/bin/dirname": make_elf(),
        "usr/bin/zenity": make_elf(needed=["libgtk-3.so.0"]),
        "usr/bin/other": make_elf(),
        "usr/lib/x86_64-linux-gnu/libgtk-3.so.0": make_elf(),
    }
    named = found(files, "usr/bin/hello")
    assert set(named) == {"usr/bin/hello", "usr/bin/dirname", "usr/bin/other"}
    assert named["usr/bin/dirname"].way == "called"


def test_a_window_of_java_reads_other_libraries_and_more_of_its_modules() -> None:
    java = "usr/lib/jvm/java-17"
    files = {
        f"{java}/bin/java": make_elf(),
        f"{java}/lib/modules": bytes(LINKED_MAX_BYTES),
        f"{java}/lib/libawt.so": make_elf(),
        "app/hello.jar": b"x",
    }
    command = f"{java}/bin/java -jar $SNAP/app/hello.jar"
    blocks = {}
    for plugs in ([], ["x11"]):
        apps = {"hello": {"command": command, "plugs": plugs}}
        payload = make_payload(files, base="bare", apps=apps)
        launch_set = static_launch_set(payload, "hello")
        read = {each.path: each.expected_blocks for each in launch_set.files}
        blocks[bool(plugs)] = read
    awt = f"{java}/lib/libawt.so"
    assert 10 * blocks[False].get(awt, 0) < blocks[True][awt]
    modules = f"{java}/lib/modules"
    assert blocks[True][modules] > 2 * blocks[False][modules]
