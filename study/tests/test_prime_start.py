"""What has an application start from a prime directory: alternatives and layouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

import prime_alternatives
import prime_layout
from prime_alternatives import Alternative, alternatives, make_alternatives

POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    update-alternatives --install /usr/bin/love love /usr/bin/love-11 110 \\
        --slave /usr/share/man/man6/love.6 love.6 /usr/share/man/man6/love-11.6
    /usr/bin/update-alternatives --quiet --install /usr/bin/old old /usr/bin/old-1 5;
    update-alternatives --install /usr/bin/$name $name /usr/bin/x 10
    update-alternatives --install /usr/bin/half half
    # update-alternatives --remove love /usr/bin/love-10
fi
"""
LOVE = Alternative(
    priority=110,
    links=(
        ("/usr/bin/love", "/usr/bin/love-11"),
        ("/usr/share/man/man6/love.6", "/usr/share/man/man6/love-11.6"),
    ),
)
OLD = Alternative(priority=5, links=(("/usr/bin/old", "/usr/bin/old-1"),))


def fill(root: Path, *names: str, text: str = "") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_links_that_a_script_asks_for_are_read() -> None:
    assert list(alternatives(POSTINST)) == [LOVE, OLD]


def test_link_leads_to_the_target_of_the_highest_priority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {
        "low": POSTINST.replace("love-11", "love-10").replace("110", "100"),
        "high": POSTINST,
    }
    monkeypatch.setattr(prime_alternatives, "_script", lambda it: scripts[it.name])
    fill(tmp_path, "usr/bin/love-10", "usr/bin/love-11", "usr/share/man/man6/love-11.6")
    made = make_alternatives(tmp_path, [Path(name) for name in scripts])
    links = {str(each.relative_to(tmp_path)): str(each.readlink()) for each in made}
    assert links == {
        "usr/bin/love": "love-11",
        "usr/share/man/man6/love.6": "love-11.6",
    }


def test_paths_that_files_name_and_the_base_lacks_get_a_layout(tmp_path: Path) -> None:
    root, base = tmp_path / "prime", tmp_path / "base"
    fill(root, "usr/bin/game", text="#!/bin/sh\nexec /usr/lib/game/run /etc/game.conf")
    fill(root, "usr/lib/game/run", "etc/game.conf", "usr/share/game/data")
    fill(root, "usr/lib/libgame.so.1", text="/usr/share/locale /usr/share/X11/rgb.txt")
    fill(root, "usr/share/X11/rgb.txt", "usr/share/locale/de/game.mo")
    fill(root, "usr/share/doc/game/README", text="see /usr/share/game/data")
    fill(base, "usr/share/X11/other", "usr/lib/libc.so.6", "etc/passwd")
    assert prime_layout.layout_of(root, base) == {
        "/etc/game.conf": {"bind-file": "$SNAP/etc/game.conf"},
        "/usr/lib/game": {"bind": "$SNAP/usr/lib/game"},
        "/usr/share/X11/rgb.txt": {"bind-file": "$SNAP/usr/share/X11/rgb.txt"},
    }


def test_app_gets_its_arguments_variables_and_layouts(tmp_path: Path) -> None:
    fill(tmp_path, "usr/share/perl5/Game.pm", "usr/games/game")
    fill(tmp_path, "usr/bin/start", text="#!/usr/games/game")
    meta = tmp_path / "meta/snap.yaml"
    fill(
        tmp_path, "meta/snap.yaml", text="apps: {game: {}}\nenvironment: {PATH: $PATH}"
    )
    prime_layout.make_startable(
        tmp_path, tmp_path / "base", "usr/games/game -x", windows=True
    )
    prime_layout.add_layout(tmp_path, "/usr/share/perl5")
    snap = YAML(typ="safe").load(meta.read_text())
    assert snap["apps"] == {"game": {"command": "usr/games/game -x"}}
    assert snap["environment"] == {
        "PATH": "$SNAP/usr/games:$PATH",
        "PERL5LIB": "$SNAP/usr/share/perl5",
    }
    assert list(snap["layout"]) == ["/usr/games", "/usr/share/perl5"]
    assert "Exec=game" in (tmp_path / "meta/gui/game.desktop").read_text()
