"""The draw of applications: sets, order, and what is not drawn."""

from __future__ import annotations

from draw import draw
from draw_indices import Package
from draw_strata import STRATA


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
