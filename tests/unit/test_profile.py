"""Launch profiles."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_inventory
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.fit import (
    fit_layer,
    fit_profile,
    waited_share,
)
from snapcraft_compression_advisor.launch.launch_set import WAITED_SHARE, LaunchFile
from snapcraft_compression_advisor.launch.profile import (
    CpuTime,
    LaunchProfile,
    ProfileFile,
    RecordedLaunch,
    guessed_profile,
    profile_text,
    read_profile,
)

BLOCK = 128 * 1024


def make_profile(source: str = "residency", **files: list[list[int]]) -> LaunchProfile:
    """Return a profile of files of four blocks."""
    return LaunchProfile.model_validate(
        {
            "schema": 1,
            "source": source,
            "app": "hello",
            "files": [
                {"path": path, "size": 4 * BLOCK, "blocks": blocks}
                for path, blocks in files.items()
            ],
        }
    )


def test_each_file_has_a_line_of_its_own() -> None:
    lines = profile_text(make_profile(a=[[0, 1]], b=[[1, 1]])).splitlines()
    assert lines[0] == '{"schema":1,"source":"residency","app":"hello","files":['
    assert lines[1] == '  {"path":"a","size":524288,"blocks":[[0,1]]},'
    assert lines[-1] == "]}"


@given(
    st.dictionaries(
        st.text(st.characters(categories=["L"]), min_size=1),
        st.lists(st.integers(0, 50), unique=True).map(
            lambda starts: [[2 * n, 2 * n] for n in sorted(starts)]
        ),
    )
)
def test_any_profile_survives_its_text(files: dict[str, list[list[int]]]) -> None:
    profile = LaunchProfile.model_validate(
        {
            "source": "residency",
            "app": "x",
            "files": [
                {"path": path, "size": 1, "blocks": blocks}
                for path, blocks in files.items()
            ],
        }
    )
    assert LaunchProfile.model_validate_json(profile_text(profile)) == profile


def test_profile_that_fits_is_used_whole() -> None:
    fitted = fit_profile(
        make_profile(a=[[0, 1], [3, 3]]), make_inventory({"a": 4 * BLOCK, "b": 5})
    )
    assert fitted.launch_set.source == "recorded"
    assert fitted.launch_set.data_blocks == 3
    assert fitted.launch_set.read_share == Interval.exactly(1)
    assert (fitted.fitting_share, fitted.gone, fitted.changed) == (1.0, (), ())


def test_profile_of_an_older_payload_is_used_where_it_fits() -> None:
    fitted = fit_profile(
        make_profile(a=[[0, 3]], b=[[0, 3]], c=[[0, 0]]),
        make_inventory({"a": 2 * BLOCK, "c": 4 * BLOCK}),
    )
    assert [file.path for file in fitted.launch_set.files] == ["a", "c"]
    assert fitted.launch_set.files[0].blocks == ((0, 1),)
    assert fitted.fitting_share == pytest.approx(3 / 9)
    assert (fitted.gone, fitted.changed) == (("b",), ("a",))


def test_profile_of_another_payload_fits_nothing() -> None:
    fitted = fit_profile(make_profile(a=[[0, 3]]), make_inventory({"z": 1}))
    assert fitted.launch_set.files == ()
    assert fitted.fitting_share == 0


def test_guess_survives_being_written_and_read_again() -> None:
    guess = LaunchFile(
        path="a", size_bytes=9 * BLOCK, blocks=((0, 0), (1, 8)), shares=(1.0, 0.25)
    )
    launch_set = replace(
        fit_profile(make_profile("static"), make_inventory({})).launch_set,
        files=(guess,),
    )
    text = profile_text(guessed_profile(launch_set))
    fitted = fit_profile(
        LaunchProfile.model_validate_json(text), make_inventory({"a": 9 * BLOCK})
    )
    assert fitted.launch_set.files == (guess,)


def test_guess_of_a_file_whose_name_is_not_utf_8_is_not_written() -> None:
    files = tuple(
        LaunchFile(path=path, size_bytes=9, blocks=((0, 0),))
        for path in ("a", "\udcff")
    )
    launch_set = replace(
        fit_profile(make_profile("static"), make_inventory({})).launch_set, files=files
    )
    text = profile_text(guessed_profile(launch_set))
    assert [file.path for file in LaunchProfile.model_validate_json(text).files] == [
        "a"
    ]


def test_shares_of_blocks_that_are_gone_are_dropped_with_them() -> None:
    file = ProfileFile(
        path="a", size=9 * BLOCK, blocks=((0, 0), (4, 8)), shares=(1.0, 0.25)
    )
    profile = LaunchProfile(source="static", app="x", app_files=(file,))
    fitted = fit_profile(profile, make_inventory({"a": 2 * BLOCK}))
    assert list(fitted.launch_set.files[0].ranges()) == [(0, 0, 1.0)]


def test_recorded_profile_names_no_shares() -> None:
    assert "shares" not in profile_text(make_profile(a=[[0, 1]]))


def test_guessed_profile_keeps_its_doubt() -> None:
    fitted = fit_profile(make_profile("static", a=[[0, 0]]), make_inventory({"a": 9}))
    assert fitted.launch_set.source == "static"
    assert not fitted.launch_set.read_share.known


APP = {"role": "app", "name": "x", "files": []}
FILE = {"path": "a", "size": 1, "blocks": []}


def profile_of(**keys: object) -> str:
    return json.dumps({"source": "residency", "app": "x", **keys})


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "not json", profile_of(), profile_of(source="magic", files=[])),
        *(profile_of(schema=schema, files=[]) for schema in (2, 3)),
        *(profile_of(schema=schema, payloads=[]) for schema in (1, 2)),
        profile_of(schema=2, payloads=[{**APP, "role": "base", "name": "core24"}]),
        profile_of(schema=2, payloads=[APP, {**APP, "name": "y"}]),
        profile_of(schema=2, files=[], payloads=[APP]),
        profile_of(schema=1, files=[], more=1),
        *(
            profile_of(source=source, files=[{**FILE, **keys}])
            for source, keys in (
                ("residency", {"path": "/x"}),
                ("static", {"path": "a/../b"}),
                ("residency", {"blocks": [[3, 1]]}),
                ("residency", {"blocks": [[0, 2], [2, 3]]}),
                ("static", {"blocks": [[0, 0]], "shares": [0.5, 0.5]}),
                ("static", {"blocks": [[0, 0]], "shares": [1.5]}),
                ("residency", {"size": -1}),
            )
        ),
    ],
)
def test_what_is_no_profile_is_bad_data(tmp_path: Path, text: str) -> None:
    path = tmp_path / "launch.json"
    path.write_text(text)
    with pytest.raises(BadDataError, match=r"launch\.json"):
        read_profile(path)


def installed_profile() -> LaunchProfile:
    """Return a profile of an app over a base."""
    files = [{"path": "lib/libc.so.6", "size": 4 * BLOCK, "blocks": [[0, 2]]}]
    return LaunchProfile.model_validate(
        {
            "schema": 2,
            "source": "residency",
            "app": "hello",
            "payloads": [
                {
                    "role": "app",
                    "name": "hello",
                    "revision": "x1",
                    "image_bytes": 4096,
                    "codec": "xz",
                    "files": [{"path": "a", "size": 4 * BLOCK, "blocks": [[0, 0]]}],
                },
                {"role": "base", "name": "core24", "files": files},
                {"role": "snapd", "name": "snapd", "files": []},
            ],
        }
    )


def test_profile_of_several_payloads_is_written_and_read_back(tmp_path: Path) -> None:
    profile = installed_profile()
    text = profile_text(profile)
    assert '\n  {"path":"lib/libc.so.6"' in text
    (tmp_path / "launch.json").write_text(text)
    assert read_profile(tmp_path / "launch.json") == profile


def test_files_of_a_profile_of_several_payloads_are_the_apps_own() -> None:
    profile = installed_profile()
    assert [file.path for file in profile.files] == ["a"]
    fitted = fit_profile(profile, make_inventory({"a": 4 * BLOCK}))
    assert fitted.launch_set.data_blocks == 1


def test_each_payload_of_a_profile_fits_its_own_snap() -> None:
    profile, base = installed_profile(), make_inventory({"lib/libc.so.6": 2 * BLOCK})
    fitted = fit_layer(profile, "base", "core24", base)
    assert fitted is not None
    assert fitted.launch_set.files[0].blocks == ((0, 1),)
    assert fitted.changed == ("lib/libc.so.6",)
    assert fit_layer(profile, "base", "core22", base) is None
    assert fit_layer(make_profile(), "app", "hello", base) is None


def recorded(*, cold_s: float, user_s: float, system_s: float) -> RecordedLaunch:
    return RecordedLaunch(
        event="window",
        cold_s=cold_s,
        cold_cpu_s=CpuTime(user=user_s, system=system_s),
        processors=2,
        kernel="6.8",
    )


def timed(launch: RecordedLaunch) -> LaunchProfile:
    return make_profile().model_copy(update={"recorded": launch})


@pytest.mark.parametrize(
    ("user_s", "system_s", "waited"), [(0.5, 0.3, 1.0), (1.0, 0.6, 1 / 1.6)]
)
def test_launch_that_works_side_by_side_waits_for_less_of_the_work(
    user_s: float, system_s: float, waited: float
) -> None:
    launch = recorded(cold_s=1.0, user_s=user_s, system_s=system_s)
    assert waited_share(timed(launch)) == Interval.exactly(waited)


def test_profile_without_times_waits_like_a_guess() -> None:
    assert waited_share(make_profile()) == WAITED_SHARE
    fitted = fit_profile(make_profile(), make_inventory({}))
    assert fitted.launch_set.waited_share == WAITED_SHARE


def test_installed_snap_waits_as_its_warm_launch_does() -> None:
    launch = recorded(cold_s=1.0, user_s=1.0, system_s=1.0).model_copy(
        update={"warm_s": 1.0, "warm_cpu_s": CpuTime(user=1.0, system=0.25)}
    )
    profile = installed_profile().model_copy(update={"recorded": launch})
    assert waited_share(profile) == Interval.exactly(1 / 1.25)


def test_recording_of_an_earlier_version_with_parts_and_threads_is_read() -> None:
    profile = json.loads(profile_text(installed_profile()))
    part = {"part": "app", "program": "/snap/hello/x1/bin/hello", "start_s": 0.1}
    profile["recorded"] = {
        "event": "exit", "processors": 2, "kernel": "6.8",
        "parts": [part], "warm_parts": [part], "threads": [{"name": "hello"}],
    }  # fmt: skip
    assert LaunchProfile.model_validate(profile).recorded is not None
