"""The ways in which vendors start what they ship, for ``vendor_layout.py``.

Each is a form that such launchers have; the texts are our own. ``{program}`` is the
program's path below the payload, ``{arguments}`` what it is given.
"""

from __future__ import annotations

LAUNCHERS = {
    "direct": "",
    "bin": "",
    "readlink": """\
#!/bin/sh
HERE="$(dirname "$(readlink -f "$0")")"
exec "$HERE/../{program}" {arguments} "$@"
""",
    "dirname": """\
#!/usr/bin/env bash
DIR="$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)"
exec "$DIR/../{program}" {arguments} "$@"
""",
    "source": """\
#!/bin/bash
set -eu
SOURCE="${{BASH_SOURCE[0]}}"
while [ -L "$SOURCE" ]; do
  DIR="$(cd -P "$(dirname "$SOURCE")" && pwd)"
  SOURCE="$(readlink "$SOURCE")"
  [[ $SOURCE != /* ]] && SOURCE="$DIR/$SOURCE"
done
ROOT="$(cd -P "$(dirname "$SOURCE")/.." && pwd)"
exec "$ROOT/{program}" {arguments} "$@"
""",
    "path": """\
#!/bin/sh
export PATH="$SNAP/{folder}:$PATH"
exec {name} {arguments} "$@"
""",
    "cd": """\
#!/bin/sh
cd "$(dirname "$0")/../{folder}" || exit 1
./{name} {arguments} "$@"
""",
    "appdir": """\
#!/bin/sh
SELF=$(readlink -f "$0")
HERE=${{SELF%/*}}
export LD_LIBRARY_PATH="${{HERE}}/../{folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
EXEC="${{HERE}}/../{program}"
exec "${{EXEC}}" {arguments} "$@"
""",
    "gradle": """\
#!/bin/sh
app_path=$0
while [ -h "$app_path" ]; do
  target=$(readlink "$app_path")
  case $target in
    /*) app_path=$target ;;
    *) app_path=$(dirname "$app_path")/$target ;;
  esac
done
APP_HOME=$(cd "$(dirname "$app_path")/.." > /dev/null && pwd -P) || exit
CLASSPATH={classpath}
if [ -n "$JAVA_HOME" ]; then
  JAVACMD=$JAVA_HOME/bin/java
else
  JAVACMD=java
fi
set -- -classpath "$CLASSPATH" {arguments} "$@"
exec "$JAVACMD" "$@"
""",
    "maven": """\
#!/bin/sh
PRG="$0"
while [ -h "$PRG" ]; do
  PRG=$(readlink "$PRG")
done
BASEDIR=$(cd "$(dirname "$PRG")/.." && pwd)
JAVACMD="$BASEDIR/jre/bin/java"
if [ ! -x "$JAVACMD" ]; then
  echo "no Java run time" >&2
  exit 1
fi
exec "$JAVACMD" $JAVA_OPTS -classpath "$BASEDIR/lib/*" {arguments} "$@"
""",
    "exec-java": """\
#!/bin/sh -e
exec "$SNAP/jre/bin/java" -cp "$SNAP/lib/*" {arguments} "$@"
""",
    "node-shebang": "",
    "cmd-shim": """\
#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")
if [ -x "$basedir/node" ]; then
  exec "$basedir/node" "$basedir/../{program}" {arguments} "$@"
else
  exec node "$basedir/../{program}" {arguments} "$@"
fi
""",
    "readlink-node": """\
#!/bin/sh
ROOT=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$ROOT/bin/node" "$ROOT/{program}" {arguments} "$@"
""",
    "python": "",
    "venv": "",
    "module": """\
#!/bin/sh
set -eu
export PYTHONNOUSERSITE=1
exec python3 "$SNAP/{program}" {arguments} "$@"
""",
    "exec": """\
#!/usr/bin/env python3
import os
import sys

here = os.path.dirname(os.path.realpath(__file__))
os.environ["PYTHONNOUSERSITE"] = "1"
script = os.path.join(here, "..", "{program}")
os.execv(sys.executable, [sys.executable, script, *{listed}, *sys.argv[1:]])
""",
}
"""By name; those without a text need none: the command is the program itself."""

JAVA_PATH = """\
#!/bin/sh
export JAVA_HOME="$SNAP/jre"
export PATH="$JAVA_HOME/bin:$PATH"
exec java -cp "$SNAP/lib/*" {arguments} "$@"
"""
JAVA_APPDIR = """\
#!/bin/sh
SELF=$(readlink -f "$0")
HERE=${{SELF%/*}}
exec "${{HERE}}/../jre/bin/java" -cp "${{HERE}}/../lib/*" {arguments} "$@"
"""
OF_JAVA = {"path": JAVA_PATH, "appdir": JAVA_APPDIR}
"""Those of Java by names that other launchers have, too."""
