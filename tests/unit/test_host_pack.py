"""Advice before a pack: of snapcraft's functions, and of Package services."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from craft_cli.pytest_plugin import RecordingEmitter
from pytest_mock import MockerFixture

from host_doubles import SnapcraftError, install_snapcraft
from host_projects import LZO_PAYS, make_project, write_policy
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.decision import Artifact
from snapcraft_compression_advisor.host.pack import advising, wrap_pack_functions

pytestmark = pytest.mark.usefixtures("emitter")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project", components=True)


@pytest.fixture
def snapcraft(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    return install_snapcraft(monkeypatch)


@pytest.fixture
def advisor(folder: Path, snapcraft: SimpleNamespace) -> Advisor:
    advisor = Advisor(project_dir=folder)
    wrap_pack_functions(snapcraft.pack, lambda: advisor)
    return advisor


def set_mode(folder: Path, mode: str) -> None:
    policy = "min-saving: 0.1ms\nmax-launches: 1000\n"
    write_policy(folder, f"{policy}mode: {mode}\n")


@pytest.mark.usefixtures("advisor")
def test_what_is_packed_is_told_to_snapcraft(
    folder: Path, snapcraft: SimpleNamespace
) -> None:
    set_mode(folder, "apply")
    prime = folder / "files"
    snapcraft.pack.pack_snap(prime, output=None, compression="xz", name="hello")
    assert snapcraft.packs.calls == [("snap", prime, "lzo")]


@pytest.mark.usefixtures("advisor")
def test_advice_alone_passes_on_what_was_given(
    folder: Path, snapcraft: SimpleNamespace
) -> None:
    prime = folder / "files"
    # 'snapcraft pack DIRECTORY' gives none.
    assert snapcraft.pack.pack_snap(str(prime), output=None) == "hello.snap"
    assert snapcraft.packs.calls == [("snap", prime, None)]


@pytest.mark.usefixtures("advisor")
def test_a_component_is_known_by_its_metadata(
    folder: Path, snapcraft: SimpleNamespace, emitter: RecordingEmitter
) -> None:
    set_mode(folder, "apply\ncomponents: {more: {read: none}}")
    more = folder / "components" / "more"
    snapcraft.pack.pack_component(directory=more, compression="lzo", output_dir=folder)
    assert snapcraft.packs.calls == [("component", more, "xz")]
    emitter.assert_progress(
        "Compression of component more: packed with xz as advised", permanent=True
    )


def test_where_the_service_has_advised_the_functions_only_pack(
    folder: Path, snapcraft: SimpleNamespace, advisor: Advisor
) -> None:
    set_mode(folder, "apply")
    prime = folder / "files"
    assert advisor.before_pack(Artifact(prime_dir=prime, compression="xz")) == "lzo"
    snapcraft.pack.pack_snap(prime, output=None, compression="xz")
    assert snapcraft.packs.calls == [("snap", prime, "xz")]


@pytest.mark.usefixtures("advisor")
@pytest.mark.parametrize(("mode", "status"), [("enforce", 1), ("aply", 65)])
def test_what_stops_the_pack_is_an_error_that_snapcraft_prints_well(
    folder: Path, snapcraft: SimpleNamespace, mode: str, status: int
) -> None:
    set_mode(folder, mode)
    with pytest.raises(SnapcraftError) as raised:
        snapcraft.pack.pack_snap(folder / "files", output=None, compression="xz")
    assert raised.value.resolution
    assert raised.value.retcode == status
    assert snapcraft.packs.calls == []


@pytest.mark.usefixtures("advisor")
def test_a_directory_that_is_no_payload_goes_to_snapcraft_as_it_is(
    folder: Path, snapcraft: SimpleNamespace
) -> None:
    (folder / "empty").mkdir()
    snapcraft.pack.pack_snap(folder / "empty", output=None)
    snapcraft.pack.pack_component(folder / "empty", folder)
    assert [call[2] for call in snapcraft.packs.calls] == [None, None]


@pytest.mark.usefixtures("advisor")
def test_a_call_that_is_not_known_here_goes_to_snapcraft_as_it_is(
    folder: Path, snapcraft: SimpleNamespace
) -> None:
    pack: Any = snapcraft.pack.pack_snap
    with pytest.raises(TypeError, match="speed"):
        pack(folder, output=None, speed="high")


def test_an_advisor_that_cannot_be_had_costs_no_pack(
    folder: Path, snapcraft: SimpleNamespace
) -> None:
    wrap_pack_functions(snapcraft.pack, lambda: None)
    snapcraft.pack.pack_snap(folder / "files", output=None, compression="xz")
    assert [call[2] for call in snapcraft.packs.calls] == ["xz"]


@pytest.mark.usefixtures("advisor")
def test_a_directory_of_another_snap_writes_no_key_here(
    folder: Path, snapcraft: SimpleNamespace, emitter: RecordingEmitter
) -> None:
    set_mode(folder, "write")
    meta = folder / "files" / "meta" / "snap.yaml"
    meta.write_text(meta.read_text().replace("name: hello", "name: other"))
    before = (folder / "snap" / "snapcraft.yaml").read_bytes()
    snapcraft.pack.pack_snap(folder / "files", output=None)
    assert (folder / "snap" / "snapcraft.yaml").read_bytes() == before
    said = [call.args[1] for call in emitter.interactions]
    assert any("isn't the snapcraft.yaml of snap 'other'" in line for line in said)


@pytest.mark.usefixtures("advisor")
def test_a_payload_that_changes_costs_a_warning_only(
    folder: Path, snapcraft: SimpleNamespace, mocker: MockerFixture
) -> None:
    mocker.patch(
        "snapcraft_compression_advisor.host.advisor.analyse",
        side_effect=OSError("numbers has changed"),
    )
    snapcraft.pack.pack_snap(folder / "files", output=None, compression="xz")
    assert snapcraft.packs.calls == [("snap", folder / "files", "xz")]


@pytest.mark.usefixtures("advisor")
def test_without_the_library_of_a_codec_nothing_is_packed_to_try(
    folder: Path,
    snapcraft: SimpleNamespace,
    mocker: MockerFixture,
    emitter: RecordingEmitter,
) -> None:
    codecs = {"xz": mocker.Mock(available=True), "lzo": mocker.Mock(available=False)}
    mocker.patch("snapcraft_compression_advisor.host.advisor.CODECS", codecs)
    snapcraft.pack.pack_snap(folder / "files", output=None, compression="xz")
    said = [call.args[1] for call in emitter.interactions]
    assert any("the library of lzo isn't installed" in line for line in said)


class Packing:
    """Packs all at once, as services of craft-application 4 do."""

    packed_with: str | None = None

    def __init__(self, services: object, project: object = None) -> None:
        self._services = services
        self._project = project

    def pack(self, prime_dir: Path, dest: Path) -> list[Path]:
        """Note what would be packed with."""
        del prime_dir
        self.packed_with = getattr(self._project, "compression", "xz")
        return [dest / "hello.snap"]


class NoServices:
    """Knows no service."""

    def get(self, name: str) -> object:
        message = f"Not a registered service: {name}"
        raise AttributeError(message)


def service(
    applying: Path,
    services: object,
    project: object,
    find: Callable[[], Advisor | None],
) -> Any:  # noqa: ANN401 # a class made at run time
    base: Any = Packing
    advised: Any = advising(base, find)
    made = advised(services, project)
    assert made.pack(applying / "files", applying) == [applying / "hello.snap"]
    return made


@pytest.fixture
def applying(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project", policy=f"{LZO_PAYS}mode: apply\n")


def test_services_that_hold_their_project_themselves_get_advice(applying: Path) -> None:
    lifecycle = SimpleNamespace(prime_dir=applying / "files")
    services = SimpleNamespace(get={"lifecycle": lifecycle}.__getitem__)
    project = SimpleNamespace(compression="xz", components=None)
    advisor = Advisor(project_dir=applying)
    made = service(applying, services, project, lambda: advisor)
    assert made.packed_with == "lzo"


def test_services_that_nothing_is_known_of_pack_without(
    applying: Path, emitter: RecordingEmitter
) -> None:
    advisor = Advisor(project_dir=applying)
    made = service(applying, NoServices(), None, lambda: advisor)
    assert made.packed_with == "xz"
    said = [str(each.args[1]) for each in emitter.interactions if len(each.args) > 1]
    assert any(
        "no advice, because the project isn't as expected" in one for one in said
    )


def test_a_service_without_an_advisor_packs(applying: Path) -> None:
    lifecycle = SimpleNamespace(prime_dir=applying / "files")
    services = SimpleNamespace(get={"lifecycle": lifecycle}.__getitem__)
    project = SimpleNamespace(compression="xz", components=None)
    assert service(applying, services, project, lambda: None).packed_with == "xz"
