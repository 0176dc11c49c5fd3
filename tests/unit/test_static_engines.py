"""What engines open beside a program of any name."""

from __future__ import annotations

from elf_files import make_elf
from guesses import found


def test_godot_opens_the_pack_beside_the_program() -> None:
    files = {"hello.x86_64": make_elf(), "hello.pck": b"GDPC", "a/other.pck": b"GDPC"}
    assert set(found(files, "hello.x86_64")) == set(files) - {"a/other.pck"}


def test_unity_opens_its_data_and_its_code() -> None:
    data = "opt/hello/Hello_Data"
    files = {
        "opt/hello/Hello.x86_64": make_elf(needed=["UnityPlayer.so"]),
        "opt/hello/UnityPlayer.so": make_elf(),
        f"{data}/globalgamemanagers": b"x",
        f"{data}/level0": b"x",
        f"{data}/sharedassets0.assets": b"x",
        f"{data}/Managed/Assembly-CSharp.dll": b"x",
        f"{data}/Managed/System.Xml.dll": b"x",
        f"{data}/level7": b"x",
    }
    named = set(found(files, "opt/hello/Hello.x86_64"))
    left = {f"{data}/Managed/System.Xml.dll", f"{data}/level7"}
    assert named >= set(files) - left - {"opt/hello/UnityPlayer.so"}
    assert not named & left


def test_electron_of_any_name_opens_code_and_its_extensions() -> None:
    files = {
        "opt/hello/hello": make_elf(),
        "opt/hello/resources.pak": b"x",
        "opt/hello/icudtl.dat": b"x",
        "opt/hello/v8_context_snapshot.bin": b"x",
        "opt/hello/resources/app.asar": b"x",
        "opt/hello/resources/app.asar.unpacked/node_modules/a/a.node": make_elf(),
    }
    assert set(found(files, "opt/hello/hello")) == set(files)
