"""Programs with QML, in files or in themselves."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.launch_set import BlindSpot

LIB = "usr/lib/x86_64-linux-gnu"
QML = f"{LIB}/qt6/qml"
PROGRAM = make_elf(needed=["libQt6Qml.so.6"])
MODULES = {
    f"{LIB}/libQt6Qml.so.6": make_elf(),
    f"{QML}/QtQuick/qmldir": b"module QtQuick\nplugin qtquick2plugin\n",
    f"{QML}/QtQuick/libqtquick2plugin.so": make_elf(),
    f"{QML}/QtQuick/Controls/qmldir": b"optional import QtQuick.Controls.Fusion auto\n"
    b"optional import QtQuick.Controls.Material auto\n"
    b"default import QtQuick.Controls.Basic auto\noptional plugin controlsplugin\n",
    f"{QML}/QtQuick/Controls/libcontrolsplugin.so": make_elf(),
    f"{QML}/QtQuick/Controls/Basic/qmldir": b"module QtQuick.Controls.Basic\n",
    f"{QML}/QtQuick/Controls/Fusion/qmldir": b"plugin fusionplugin\n",
    f"{QML}/QtQuick/Controls/Fusion/libfusionplugin.so": make_elf(),
}
OTHERS = {
    f"{QML}/QtQuick/Controls/Material/qmldir": b"x",
    f"{QML}/QtQuick/Layouts/qmldir": b"x",
}


@pytest.mark.parametrize(
    "content",
    [
        PROGRAM + b"\nimport QtQuick.Controls as C\n",
        PROGRAM + "QtQuick.Controls".encode("utf-16-le") + b"\0\0",
    ],
    ids=["plain", "compiled"],
)
def test_modules_that_a_program_names_bring_their_plugins(content: bytes) -> None:
    files = {**MODULES, **OTHERS, "usr/bin/hello": content}
    named = found(files, "usr/bin/hello")
    assert set(named) == set(files) - set(OTHERS)
    assert named[f"{QML}/QtQuick/libqtquick2plugin.so"].way == "qml-plugin"


def test_files_of_the_application_name_modules_too() -> None:
    files = {
        **MODULES,
        "usr/bin/hello": PROGRAM,
        "usr/share/hello/qml/main.qml": b"import QtQuick 2.15\nimport QtQuick.Controls",
        "usr/share/other/main.qml": b"import QtQuick.Layouts 1.1",
    }
    named = set(found({**files, **OTHERS}, "usr/bin/hello"))
    assert named == set(files) - {"usr/share/other/main.qml"}


@pytest.mark.parametrize("version", ["QtQuick.2", "QtQuick"])
def test_version_of_a_directory_is_no_part_of_the_name(version: str) -> None:
    files = {
        f"{LIB}/libQt5Qml.so.5": make_elf(),
        "usr/bin/hello": make_elf(needed=["libQt5Qml.so.5"]) + b"\nimport QtQuick 2.1",
        f"{LIB}/qt5/qml/{version}/qmldir": b"plugin qtquick2plugin",
        f"{LIB}/qt5/qml/{version}/libqtquick2plugin.so": make_elf(),
    }
    assert set(found(files, "usr/bin/hello")) == set(files)


def test_program_whose_qml_cannot_be_seen_is_a_blind_spot() -> None:
    files = {**MODULES, "usr/bin/hello": PROGRAM}
    payload = make_payload(
        files, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    spots = find_candidates(payload, "hello").blind_spots
    assert BlindSpot(reason="embedded-code", where="usr/bin/hello") in spots


def test_program_that_links_qml_for_the_web_engine_is_no_blind_spot() -> None:
    files = {
        **MODULES,
        "usr/bin/hello": make_elf(needed=["libQt5Qml.so.5", "libQt5WebEngine.so.5"]),
        f"{LIB}/libQt5WebEngine.so.5": make_elf(),
    }
    payload = make_payload(
        files, base="bare", apps={"hello": {"command": "usr/bin/hello"}}
    )
    spots = find_candidates(payload, "hello").blind_spots
    assert "embedded-code" not in {spot.reason for spot in spots}


def test_program_without_qml_reads_no_module() -> None:
    files = {**MODULES, "usr/bin/hello": make_elf() + b"\nimport QtQuick\n"}
    assert set(found(files, "usr/bin/hello")) == {"usr/bin/hello"}
