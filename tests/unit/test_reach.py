"""Libraries of a content snap that an app's loader surely finds, or may not."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.payload.copies import find_supplied
from snapcraft_compression_advisor.payload.tree import Tree

LIB = "usr/lib/x86_64-linux-gnu"
FOO = make_elf(soname="libfoo.so.1")
LOADER = "/lib64/ld-linux-x86-64.so.2"
RUNTIME = {"SNAP_DESKTOP_RUNTIME": "$SNAP/runtime"}
LAUNCHER = """\
#!/bin/bash
set -e
append_dir() {
  local -n var="$1"
  export "$1=${var:+$var:}$2"
}
if [ "$SNAP_ARCH" = amd64 ]; then
  ARCH=x86_64-linux-gnu
fi
append_dir LD_LIBRARY_PATH "$SNAP_DESKTOP_RUNTIME/usr/lib/$ARCH"
exec "$@"
"""


def doubts(
    *,
    environment: dict[str, str] | None = None,
    launcher: str = "",
    runpath: str | None = None,
    content: str = "gnome-46-2404",
) -> list[str | None]:
    app = {"command": "bin/app", "command-chain": ["snap/command-chain/desktop-launch"]}
    payload = make_payload(
        {
            "bin/app": make_elf(
                needed=["libfoo.so.1"], interpreter=LOADER, runpath=runpath
            ),
            f"{LIB}/libfoo.so.1": FOO,
            "snap/command-chain/desktop-launch": launcher.encode() or b"none",
        },
        plugs={
            "gnome-46-2404": {
                "interface": "content",
                "target": "$SNAP/runtime",
                "default-provider": "gnome-46-2404:gnome-46-2404",
            }
        },
        apps={"app": app},
        environment=environment or {},
    )
    other = make_payload(
        {f"{LIB}/libfoo.so.1": FOO},
        name=content,
        slots={"gnome-46-2404": "content"},
        links={"lib": "usr/lib"},
    )
    return [each.doubt for each in find_supplied(Tree(payload), [other])]


@pytest.mark.parametrize(
    "environment",
    [
        {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"},
        {"LD_LIBRARY_PATH": f"$SNAP/lib:${{SNAP}}/runtime/{LIB}:$LD_LIBRARY_PATH"},
        {"LD_LIBRARY_PATH": "/snap/hello/current/runtime/lib/x86_64-linux-gnu"},
        {"LD_LIBRARY_PATH": f"$SNAP_DESKTOP_RUNTIME/{LIB}", **RUNTIME},
    ],
)
def test_library_path_of_snap_yaml_leads_there(environment: dict[str, str]) -> None:
    assert doubts(environment=environment) == [None]


def test_launcher_of_an_extension_leads_there() -> None:
    assert doubts(environment=RUNTIME, launcher=LAUNCHER) == [None]
    (doubt,) = doubts(launcher=LAUNCHER)
    assert doubt == f"the library path of app app doesn't lead to 'runtime/{LIB}'"


def test_runpath_of_all_that_link_it_leads_there() -> None:
    assert doubts(runpath=f"$ORIGIN/../runtime/{LIB}") == [None]
    assert doubts(runpath="$ORIGIN/../runtime/usr/lib") != [None]


def test_launcher_that_forgets_other_paths_leaves_it_open() -> None:
    path = {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"}
    launcher = "#!/bin/sh\nexport LD_LIBRARY_PATH=$SNAP/lib\n"
    (doubt,) = doubts(environment=path, launcher=launcher)
    assert doubt == ("'snap/command-chain/desktop-launch' may replace LD_LIBRARY_PATH")


def test_sdk_provides_nothing_at_run_time() -> None:
    path = {"LD_LIBRARY_PATH": f"$SNAP/runtime/{LIB}"}
    assert doubts(environment=path, content="gnome-46-2404-sdk") == []
