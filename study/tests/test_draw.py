"""The draw of applications: indices, strata, sets and order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from draw import Drawn, draw, read_drawn, write_drawn
from draw_indices import Package, parse_contents, parse_packages
from draw_strata import STRATA, stratum_of

if TYPE_CHECKING:
    from pathlib import Path

INDEX = """\
Package: viewer
Source: viewer-source (2.0)
Version: 1.0-1
Section: graphics
Pre-Depends: dpkg
Depends: libc6 (>= 2.38), libqt6widgets6t64 | libqt6-gles, python3:any
Static-Built-Using: rustc (= 1.85)

Package: notes
Version: 2-1
"""
CONTENTS = """\
usr/bin/viewer                                 graphics/viewer
usr/share/applications/a viewer.desktop        graphics/viewer
usr/share/doc/viewer/copyright                 graphics/viewer
usr/lib/systemd/system/both.service            admin/notes,admin/viewer
"""


def package(name: str, *depends: str, source: str = "", **fields: object) -> Package:
    values = {"release": "trixie", "section": "misc", "files": (f"usr/bin/{name}",)}
    return Package(
        name=name,
        version="1-1",
        source=source or name,
        depends=frozenset(depends),
        built_using=frozenset(),
        **{**values, **fields},  # type: ignore[arg-type]
    )


def desktop(name: str, *depends: str) -> Package:
    return package(name, *depends, files=(f"usr/share/applications/{name}.desktop",))


def test_packages_are_read_with_dependencies_and_files() -> None:
    files = parse_contents(CONTENTS.splitlines())
    viewer, notes = parse_packages("trixie", INDEX, files)
    assert (viewer.source, viewer.version) == ("viewer-source", "1.0-1")
    assert viewer.depends == {
        "dpkg",
        "libc6",
        "libqt6widgets6",
        "libqt6-gles",
        "python3",
    }
    assert viewer.built_using == {"rustc"}
    assert viewer.files == (
        "usr/bin/viewer",
        "usr/lib/systemd/system/both.service",
        "usr/share/applications/a viewer.desktop",
    )
    assert (notes.source, len(notes.files)) == ("notes", 1)


@pytest.mark.parametrize(
    ("depends", "stratum"),
    [
        (("python3-pyqt5", "python3", "libqt5widgets5"), "python-qt5"),
        (("python3-gi", "gir1.2-gtk-4.0", "gir1.2-gtk-3.0"), "python-gtk4"),
        (("python3-gi", "gir1.2-gtk-3.0"), "python-gtk3"),
        (("libkf6i18n6", "libqt6widgets6"), "kde6"),
        (("libqt5widgets5", "libx11-6"), "qt5"),
        (("libgtk-4-1", "libadwaita-1-0"), "libadwaita"),
        (("libgtk-3-0",), "gtk3"),
        (("openjdk-21-jre",), "java"),
    ],
)
def test_an_application_is_of_the_first_stratum_that_fits(
    depends: tuple[str, ...], stratum: str
) -> None:
    found = stratum_of(desktop("app", *depends, "libc6"))
    assert found is not None
    assert (found[0].name, found[1]) == (stratum, "usr/share/applications/app.desktop")


def test_a_package_with_a_desktop_file_is_no_program() -> None:
    assert stratum_of(desktop("app", "nodejs")) is None
    assert stratum_of(package("app", "nodejs")) is not None


def test_a_service_comes_before_its_programs() -> None:
    unit = "usr/lib/systemd/system/served.service"
    found = stratum_of(package("served", "libc6", files=("usr/bin/ctl", unit)))
    assert found is not None
    assert (found[0].name, found[1]) == ("service-c", unit)


@pytest.mark.parametrize(
    ("name", "files", "file"),
    [
        ("node-carto", ("usr/bin/carto", "usr/bin/x"), "usr/bin/carto"),
        ("libfoo-perl", ("usr/bin/foo", "usr/bin/x"), "usr/bin/foo"),
        ("tool", ("usr/bin/other",), "usr/bin/other"),
        ("tool", ("usr/bin/one", "usr/bin/two"), None),
    ],
)
def test_the_program_is_named_after_the_package_or_the_only_one(
    name: str, files: tuple[str, ...], file: str | None
) -> None:
    found = stratum_of(package(name, "libc6", files=files))
    assert (found and found[1]) == file


def test_programs_of_libraries_arent_applications() -> None:
    assert stratum_of(package("foo", "libc6", section="libdevel")) is None


def test_qt_s_release_follows_from_the_dependencies() -> None:
    strata = {stratum.name: stratum for stratum in STRATA}
    qml = strata["qml"]
    assert qml.kind_of(desktop("a", "libqt6quick6")) == "qt6"
    assert qml.kind_of(desktop("a", "libqt5quick5")) == "qt5"
    assert strata["kde6"].kind_of(desktop("a", "libqt6core6")) == "qt6-kde"
    assert strata["gtk3"].kind_of(desktop("a", "libqt6core6")) == "gtk3"


PACKAGES = [
    *(package(f"tool{number}", "libc6") for number in range(20)),
    *(desktop(f"app{number}", "libgtk-3-0") for number in range(20)),
    desktop("alone", "love"),
]


def test_the_same_seed_draws_the_same_whatever_the_order_of_packages() -> None:
    drawn = draw(PACKAGES, "seed")
    assert draw(reversed(PACKAGES), "seed") == drawn
    assert draw(PACKAGES, "other seed") != drawn


def test_each_stratum_has_a_slot_of_each_set_where_it_has_enough() -> None:
    drawn = draw(PACKAGES, "seed")
    slots = {(row.slot, row.stratum, row.set) for row in drawn}
    sets = sorted((stratum, which) for _, stratum, which in slots)
    assert len({slot for slot, *_ in slots}) == len(slots)
    assert [each for each in sets if each[0] != "love"] == [
        ("c", "blind"),
        ("c", "fit"),
        ("gtk3", "blind"),
        ("gtk3", "fit"),
    ]
    assert len([each for each in sets if each[0] == "love"]) == 1


def test_a_draw_may_be_for_one_set_alone() -> None:
    drawn = draw(PACKAGES, "seed", sets=["blind"])
    assert {(row.set, row.seed) for row in drawn} == {("blind", "seed")}
    assert {row.stratum for row in drawn} == {"c", "gtk3", "love"}


def test_nothing_is_drawn_twice_and_the_sets_are_apart() -> None:
    drawn = draw(PACKAGES, "seed")
    names = [row.package for row in drawn]
    assert len(names) == len(set(names)) > len(STRATA) // 4


def test_one_package_stands_for_its_source_and_both_releases() -> None:
    packages = [
        package(f"part{number}", "libc6", source="whole", release=release)
        for number in range(5)
        for release in ("bookworm", "trixie")
    ]
    assert len(draw(packages, "seed")) == 1


def test_sources_of_known_packages_arent_drawn() -> None:
    packages = [
        package("known", "libc6", source="whole"),
        package("sibling", "libc6", source="whole"),
        package("other", "libc6"),
    ]
    assert [row.package for row in draw(packages, "seed", known={"known"})] == ["other"]


def test_the_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        Drawn(
            seed="seed",
            slot=3,
            set="blind",
            stratum="c",
            kind="cli",
            release="trixie",
            package="tool",
            version="1:2-3",
            file="usr/bin/tool",
            reason="it says: no, never",
        )
    ]
    write_drawn(tmp_path / "drawn.csv", rows)
    assert read_drawn(tmp_path / "drawn.csv") == rows
    assert read_drawn(tmp_path / "none.csv") == []
