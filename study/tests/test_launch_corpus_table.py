"""The table of the launch corpus."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from corpus_applications import APPLICATIONS, KIND_PACKAGES, Application
from draw_strata import STRATA
from snap_metadata import check_snap_name

each_application = pytest.mark.parametrize(
    "application", APPLICATIONS, ids=lambda application: application.name
)


def test_there_are_enough_applications_of_enough_kinds() -> None:
    assert len(APPLICATIONS) >= 18
    assert len({application.kind for application in APPLICATIONS}) >= 10


def test_names_are_unique() -> None:
    assert len({application.name for application in APPLICATIONS}) == len(APPLICATIONS)


def test_every_kind_is_in_use() -> None:
    by_hand = {application.kind for application in APPLICATIONS}
    drawn = {
        stratum.kind.replace("qt", release)
        for stratum in STRATA
        for release in ("qt5", "qt6")
    }
    assert by_hand | drawn == set(KIND_PACKAGES)


@each_application
def test_the_name_is_a_snap_name(application: Application) -> None:
    check_snap_name(application.name)


@each_application
def test_the_program_is_a_path_below_the_root(application: Application) -> None:
    program = PurePosixPath(application.command[0])
    assert not program.is_absolute()
    assert ".." not in program.parts
    assert len(program.parts) > 1


@each_application
def test_the_event_is_one_that_record_takes(application: Application) -> None:
    assert re.fullmatch("window|exit|output:.+", application.event)


@each_application
def test_files_are_settings_or_scripts_that_the_command_names(
    application: Application,
) -> None:
    scripts = {f"/{path}" for path in application.files if path.startswith("opt/")}
    assert scripts == {it for it in application.command if it.startswith("/opt/")}
    settings = [path for path in application.files if not path.startswith("opt/")]
    assert all(path.startswith("etc/xdg/") for path in settings)


@each_application
def test_packages_are_named_once(application: Application) -> None:
    packages = [*application.packages, *KIND_PACKAGES[application.kind]]
    assert len(packages) == len(set(packages))
