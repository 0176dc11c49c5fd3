"""Settings of a pack: where they come from and which goes before which."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from craft_cli.pytest_plugin import RecordingEmitter

import snapcraft_compression_advisor_plugin as plugin
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.guard import SettingsError
from snapcraft_compression_advisor.host.project import (
    AdvisorPluginProperties,
    read_settings,
)
from snapcraft_compression_advisor.project.project_file import PROJECT_FILES
from snapcraft_compression_advisor.settings.load import (
    ENVIRONMENT_PREFIX,
    SETTINGS,
    LoadedSettings,
    ignored_policy_files,
    overlay,
    parse_settings,
    settings_of,
)
from trees import fill

PROFILE = '{"schema": 1, "source": "residency", "app": "hello", "files": []}'


def read(
    folder: Path,
    *,
    file: str | None = None,
    part: Mapping[str, object] | None = None,
    **variables: str,
) -> LoadedSettings:
    if file is not None:
        (folder / "compression-advisor.yaml").write_text(file)
    parts = {} if part is None else {"ours": {"plugin": "compression-advisor", **part}}
    environment = {
        f"{ENVIRONMENT_PREFIX}{key}": text for key, text in variables.items()
    }
    return read_settings(folder, parts, environment)


def test_without_any_the_advisor_advises(tmp_path: Path) -> None:
    loaded = read(tmp_path)
    assert loaded.settings.mode == "advise"
    assert [device.name for device in loaded.devices] == ["nvme-laptop", "hdd-laptop"]
    assert loaded.profiles == ()


@pytest.mark.parametrize(
    "name", ["compression-advisor.yaml", "compression-advisor.yml"]
)
@pytest.mark.parametrize("place", [".", "snap", "build-aux/snap"])
def test_the_file_is_in_the_project_or_beside_its_snapcraft_yaml(
    tmp_path: Path, place: str, name: str
) -> None:
    fill(tmp_path / place, {name: "mode: enforce\nreport: advice.txt\n"})
    loaded = read_settings(tmp_path, {}, {})
    assert loaded.settings.mode == "enforce"
    assert loaded.settings.report == str(tmp_path / place / "advice.txt")


def test_two_files_are_an_error(tmp_path: Path) -> None:
    fill(tmp_path, {"snap/compression-advisor.yml": "mode: enforce\n"})
    with pytest.raises(SettingsError, match="several policy files") as raised:
        read(tmp_path, file="mode: advise\n")
    assert "snap/compression-advisor.yml" in str(raised.value)


@pytest.mark.parametrize(
    "name",
    [
        "compression_advisor.yaml",
        ".compression-advisor.yaml",
        "snap/local/compression-advisor.yaml",
        "config/Compression-Advisor.yml",
        "build-aux/compression-advisor.json",
    ],
)
def test_what_looks_like_the_file_elsewhere_is_found(tmp_path: Path, name: str) -> None:
    names = ("snap/snapcraft.yaml", "snap/compression-advisor.yaml", name)
    fill(tmp_path, dict.fromkeys(names, ""))
    assert ignored_policy_files(tmp_path) == [tmp_path / name]


def test_what_a_pack_does_not_read_is_one_warning(
    tmp_path: Path, emitter: RecordingEmitter
) -> None:
    elsewhere = {"config/compression-advisor.yml": "mode: enforce\n"}
    fill(tmp_path, {"snap/snapcraft.yaml": "", **elsewhere})
    advisor = Advisor(project_dir=tmp_path)
    assert [advisor.loaded.settings.mode for _ in range(2)] == ["advise"] * 2
    said = [each.args[1] for each in emitter.interactions if each.args[0] == "progress"]
    (warning,) = said
    assert "compression advisor: config/compression-advisor.yml isn't read" in warning


@pytest.mark.parametrize("link", ["out", "snap/local"])
def test_a_policy_is_looked_for_behind_no_link(link: str, tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    for folder in (outside, project / "snap"):
        folder.mkdir(parents=True)
    (project / "snap/snapcraft.yaml").touch()
    (outside / "compression-advisor.yml").touch()
    (project / link).symlink_to(outside)
    assert ignored_policy_files(project) == []


def test_a_broken_property_is_named_with_its_part(tmp_path: Path) -> None:
    text = "parts:\n  ours:\n    plugin: compression-advisor\n"
    text += "    compression-advisor-mode: aply\n"
    fill(tmp_path, {"snap/snapcraft.yaml": text})
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, part={"compression-advisor-mode": "aply"})
    said = "compression-advisor-mode of part ours: "
    assert str(raised.value).startswith(said)
    assert str(raised.value).endswith(", not 'aply'")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_has_one_name(name: str) -> None:
    assert f"compression-advisor-{name}" in AdvisorPluginProperties.model_properties()
    with pytest.raises(BadDataError, match="NAME: ") as raised:
        settings_of([("NAME", name, object())])
    assert "unknown key" not in str(raised.value)


def test_a_broken_link_is_no_missing_file(tmp_path: Path) -> None:
    (tmp_path / "compression-advisor.yaml").symlink_to("nowhere.yaml")
    with pytest.raises(SettingsError, match="compression-advisor"):
        read(tmp_path)


def test_the_file_goes_before_the_part_and_the_environment_before_both(
    tmp_path: Path,
) -> None:
    part = {"compression-advisor-mode": "apply"}
    assert read(tmp_path, part=part).settings.mode == "apply"
    file = "mode: write"
    assert read(tmp_path, part=part, file=file).settings.mode == "write"
    loaded = read(tmp_path, part=part, file=file, MODE="advise")
    assert loaded.settings.mode == "advise"


def test_sources_are_laid_over_each_other_key_by_key(tmp_path: Path) -> None:
    loaded = read(
        tmp_path,
        part={
            "compression-advisor-min-saving": "2s",
            "compression-advisor-max-size-growth": "5%",
        },
        file="min-saving: 1s\nmax-launches: 7\nreport: a.json\n",
        MODE="apply",
    )
    policy = loaded.settings.to_policy()
    assert policy.min_saving_s == 1
    assert policy.max_growth_share == 0.05
    assert policy.max_launches == 7
    assert loaded.settings.mode == "apply"
    assert loaded.settings.report == str(tmp_path / "a.json")


def test_every_variable_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "launch.json").write_text(PROFILE)
    loaded = read(
        tmp_path,
        MODE="write",
        OVERRIDE_DECLARED="true",
        DEVICES="[hdd-laptop, nvme-laptop]",
        APPS="[hello, other]",
        LAUNCH_PROFILE="launch.json",
        MAX_SIZE_GROWTH="30MB",
        MIN_SAVING="500ms",
        MAX_COLD_START="{hdd-laptop: 2s, nvme-laptop: 1s}",
        REPORT="advice.txt",
    )
    assert loaded.settings.override_declared
    assert loaded.settings.apps == ("hello", "other")
    assert loaded.settings.max_cold_start == {"hdd-laptop": 2, "nvme-laptop": 1}
    assert loaded.settings.to_policy().min_saving_s == 0.5
    assert [device.name for device in loaded.devices] == ["hdd-laptop", "nvme-laptop"]


def test_an_empty_variable_and_that_for_instances_are_no_settings(
    tmp_path: Path,
) -> None:
    loaded = read(tmp_path, MODE="", INSTANCE_PATH="/somewhere")
    assert loaded.settings.mode == "advise"


def test_a_device_that_only_a_budget_names_is_estimated_for(tmp_path: Path) -> None:
    loaded = read(tmp_path, MAX_COLD_START="{sata-ssd-laptop: 2s}")
    assert "sata-ssd-laptop" in [device.name for device in loaded.devices]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("mode: aply", "mode"),
        ("devices: [hdd-latop]", "hdd-latop"),
        ("ignore: [SCA999]", "SCA999"),
        ("launch-profile: gone.json", "Cannot read the launch profile"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(
    tmp_path: Path, file: str, said: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, file=file)
    assert said in str(raised.value)
    assert raised.value.resolution
    assert raised.value.retcode == 65


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"mode": "aply"}, "compression-advisor-mode of part ours: "),
        ({"mod": "apply"}, "did you mean 'mode'?"),
        ({"max-cold-start": "2s"}, "compression-advisor-max-cold-start of part ours"),
        ({"max-size-growth": "much"}, "'much' isn't a number with a unit"),
    ],
)
def test_a_broken_property_is_named_with_what_is_wrong(
    tmp_path: Path, properties: Mapping[str, object], said: str
) -> None:
    part = {f"compression-advisor-{key}": value for key, value in properties.items()}
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, part=part)
    assert said in str(raised.value)


def test_an_unknown_variable_brings_the_nearest_to_mind(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, MOD="apply")
    assert f"{ENVIRONMENT_PREFIX}MOD" in str(raised.value)
    assert "did you mean 'mode'?" in str(raised.value)


def test_contradictions_of_two_sources_are_found(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        read(tmp_path, file="max-cold-start: {hdd-laptop: {other: 2s}}", APPS="hello")
    assert "'other' has a budget" in str(raised.value)


def test_two_parts_with_settings_are_refused(tmp_path: Path) -> None:
    part: dict[str, object] = {"plugin": "compression-advisor"}
    with pytest.raises(SettingsError) as raised:
        read_settings(tmp_path, {"one": part, "two": part}, {})
    assert "one and two" in str(raised.value)


def test_a_value_set_to_the_default_covers_what_is_below() -> None:
    below = parse_settings(b"mode: apply", where="below")
    above = parse_settings(b"mode: advise", where="above")
    assert overlay(below, above).mode == "advise"


def test_what_two_sources_ignore_adds_up() -> None:
    below = parse_settings(b"ignore: [SCA101]", where="below")
    above = parse_settings(b"ignore: [SCA102]", where="above")
    assert overlay(below, above).ignore == ("SCA101", "SCA102")


def test_the_last_resort_looks_where_the_settings_are() -> None:
    # It imports nothing that may be damaged, so it has names of its own.
    assert f"{ENVIRONMENT_PREFIX}MODE" == plugin.MODE_VARIABLE
    folders = {str(Path(name).parent) for name in PROJECT_FILES}
    assert {folder or "." for folder in plugin.POLICY_FOLDERS} == folders
