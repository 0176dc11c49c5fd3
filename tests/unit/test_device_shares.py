"""Shares of the users by device, and the average that they make decide."""

import argparse
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyses import interval, make_evidence
from snapcraft_compression_advisor.advice.evidence import AVERAGE, Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.cli.settings_options import given_settings
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.core.units import Interval, combined
from snapcraft_compression_advisor.launch.model import (
    LaunchEstimate,
    average_figures,
    average_saving,
    seconds_saved,
    total_s,
)
from snapcraft_compression_advisor.settings.load import (
    LoadedSettings,
    environment_settings,
    load_settings,
    read_settings_file,
)
from snapcraft_compression_advisor.settings.quantities import parse_devices
from snapcraft_compression_advisor.settings.settings import Settings
from snapcraft_compression_advisor.wording import sentences

PREFIX = "SNAPCRAFT_COMPRESSION_ADVISOR_"


EXACT = Interval.exactly(1.0)


def figures(
    *, transfer: Interval = EXACT, work: Interval = EXACT, read: Interval = EXACT
) -> tuple[Interval, ...]:
    return (Interval.exactly(0.0), transfer, work, EXACT, read, EXACT)


def average(*devices: tuple[float, tuple[Interval, ...]]) -> Interval:
    return combined(total_s, average_figures(devices))


def test_errors_of_storage_are_independent_from_device_to_device() -> None:
    device = figures(transfer=interval(0, 4, 8))
    both = average((0.5, device), (0.5, device))
    assert both.high - both.mid == pytest.approx(4 / math.sqrt(2))


def test_errors_of_processors_and_of_the_launch_are_shared() -> None:
    for device in (figures(work=interval(1, 2, 4)), figures(read=interval(0.5, 1, 3))):
        together = average((0.5, device), (0.5, device))
        alone = combined(total_s, device)
        assert (together.low, together.high) == pytest.approx((alone.low, alone.high))


def test_storage_that_is_slower_with_lzo_averages_alike() -> None:
    device = figures(transfer=interval(-3, -2, -1), work=Interval.exactly(10))
    both = average((0.5, device), (0.5, device))
    distance = 1 / math.sqrt(2)
    assert (both.low, both.mid, both.high) == pytest.approx(
        (8 - distance, 8, 8 + distance)
    )


shares = st.floats(min_value=0.01, max_value=1)
ends = st.tuples(*[st.floats(min_value=-5, max_value=5)] * 3)


@given(st.lists(st.tuples(shares, ends, ends), min_size=1, max_size=4))
def test_average_is_no_wider_than_if_all_devices_were_wrong_together(
    given_devices: list[
        tuple[float, tuple[float, float, float], tuple[float, float, float]]
    ],
) -> None:
    whole = sum(share for share, *_ in given_devices)
    devices = [
        (
            share / whole,
            figures(transfer=Interval.around(*transfer), work=Interval.around(*work)),
        )
        for share, transfer, work in given_devices
    ]
    got = average(*devices)
    alone = [(share, combined(total_s, each)) for share, each in devices]
    below = sum(share * (each.mid - each.low) for share, each in alone)
    above = sum(share * (each.high - each.mid) for share, each in alone)
    assert got.mid == pytest.approx(
        sum(share * each.mid for share, each in alone), abs=1e-6
    )
    # Work is in the same direction everywhere, and beside storage's own errors.
    assert got.mid - got.low <= below * math.sqrt(2) + 1e-6
    assert got.high - got.mid <= above * math.sqrt(2) + 1e-6


def test_saving_of_the_average_is_that_of_estimates_on_one_device() -> None:
    def estimate(decompress: float) -> LaunchEstimate:
        return LaunchEstimate(
            seeks=interval(1, 2, 3),
            transfer=interval(1, 2, 3),
            fill=EXACT,
            decompress=interval(decompress / 2, decompress, 2 * decompress),
            read_share=interval(0.5, 1, 2),
            seek_share=EXACT,
            waited_share=interval(0.5, 0.8, 1),
        )

    xz, lzo = estimate(8), estimate(1)
    saved, _ = average_saving([(1.0, xz, lzo)])
    assert saved == seconds_saved(xz, lzo)
    assert combined(total_s, average_figures([(1.0, xz.figures)])) == xz.added_s


SHARES = {"nvme": 0.7, "hdd": 0.3}


def advise(nvme: Interval, hdd: Interval, mean: Interval) -> Recommendation:
    average = Saving(app="app", device=AVERAGE, seconds=mean, shares=SHARES)
    evidence = make_evidence(
        Saving(app="app", device="nvme", seconds=nvme),
        Saving(app="app", device="hdd", seconds=hdd),
    )
    averaged = replace(evidence, averages=[average])
    return recommend(averaged, Policy(device_shares=SHARES))


def test_average_decides_in_place_of_the_least() -> None:
    nothing, much = Interval.exactly(0.0), Interval.exactly(2.0)
    advice = advise(much, nothing, Interval.exactly(1.4))
    assert advice.verdict == "change"
    assert advice.decides is not None
    assert (advice.decides.why, advice.decides.saving.shares) == ("average", SHARES)
    assert advice.break_even_launches == pytest.approx(1.6 / 1.4)
    assert sentences(advice)[0].endswith(" on average over the users' devices.")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("nvme-laptop", ("nvme-laptop",)),
        (["a", "./b.yaml"], ("a", "./b.yaml")),
        ({"a": 0.7, "b": "0.3"}, {"a": 0.7, "b": 0.3}),
        (["a=7", "b=3"], {"a": 7, "b": 3}),
        (("./x=1/device.yaml",), ("./x=1/device.yaml",)),
        ({}, {}),
        ([], ()),
    ],
)
def test_devices_are_names_or_shares_by_name(value: object, expected: object) -> None:
    assert parse_devices(value) == expected


NO_SHARES: list[tuple[object, str]] = [
    *(
        ({"a": 1, "b": share}, r"isn't a (positive )?number")
        for share in (0, -1, math.nan, math.inf, True, None, "x", "-1")
    ),
    *(
        (["a=1", f"b={share}"], r"isn't a (positive )?number")
        for share in ("0", "-1", "nan", "inf", "", "1e3")
    ),
    (["a=1", "b"], "each device has one share"),
    (["a=1", "a=2"], "each device has one share"),
    *((value, r"isn't (the name|a list)") for value in (3, None, [3], [""], {1: 2})),
]


@pytest.mark.parametrize(("value", "message"), NO_SHARES)
def test_what_is_no_device_and_no_share_is_refused(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_devices(value)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5),
        st.floats(min_value=1e-300, max_value=1e308),
        min_size=2,
        max_size=5,
    )
)
def test_shares_are_normalised(devices: dict[str, float]) -> None:
    policy = Settings(devices=devices).to_policy(list(devices))
    assert sum(policy.device_shares.values()) == pytest.approx(1)
    assert set(policy.device_shares) == set(devices)


def test_one_device_needs_no_average() -> None:
    assert Settings(devices={"a": 0.2}).to_policy(["a"]).device_shares == {}
    assert Settings(devices=("a", "b")).to_policy(["a", "b"]).device_shares == {}
    assert Settings(devices={}).to_policy(["a", "b"]).device_shares == {}


def load(folder: Path, text: str = "", **environment: str) -> LoadedSettings:
    path = folder / "compression-advisor.yaml"
    path.write_text(text)
    variables = {f"{PREFIX}{name}": value for name, value in environment.items()}
    return load_settings(
        path,
        environment_settings(variables, folder=folder),
        check_rules=lambda _texts, where: None,  # noqa: ARG005 # called by its name
    )


def test_file_and_environment_give_shares(tmp_path: Path) -> None:
    loaded = load(tmp_path, "devices: {hdd-laptop: 1, nvme-laptop: 3}")
    names = [device.name for device in loaded.devices]
    policy = loaded.settings.to_policy(names)
    assert policy.device_shares == {"hdd-laptop": 0.25, "nvme-laptop": 0.75}
    above = load(
        tmp_path, "devices: {hdd-laptop: 1}", DEVICES="{sbc-emmc: 1, hdd-laptop: 1}"
    )
    assert above.settings.devices == {"sbc-emmc": 1, "hdd-laptop": 1}
    assert load(
        tmp_path, "devices: {hdd-laptop: 1}", DEVICES="sbc-emmc"
    ).settings.devices


def test_unknown_device_with_a_share_is_named_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"yaml: No device profile 'nvme'") as caught:
        load(tmp_path, "devices: {nvme: 1, hdd-laptop: 1}")
    assert "nvme-laptop" in (caught.value.resolution or "")


def test_files_with_shares_are_beside_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "compression-advisor.yaml"
    path.write_text("devices: {./kiosk.yaml: 1, hdd-laptop: 3}")
    kiosk = str(tmp_path / "kiosk.yaml")
    assert read_settings_file(path).devices == {kiosk: 1, "hdd-laptop": 3}


def options(*devices: str) -> Settings:
    return given_settings(
        argparse.Namespace(
            app=[],
            device=list(devices),
            launch_profile=[],
            min_saving=None,
            max_launches=None,
            link=None,
            deciding_apps=None,
        )
    )


def test_options_give_shares() -> None:
    assert options("nvme-laptop=0.7", "hdd-laptop=0.3").devices == {
        "nvme-laptop": 0.7,
        "hdd-laptop": 0.3,
    }
    assert options("nvme-laptop").devices == ("nvme-laptop",)
    assert "devices" not in options().model_fields_set
    with pytest.raises(UsageError, match="isn't a positive number"):
        options("nvme-laptop=0", "hdd-laptop=1")
