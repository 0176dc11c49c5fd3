"""Programs of .NET and Mono."""

from __future__ import annotations

from elf_files import make_elf
from guesses import found

GAC = "usr/lib/mono/gac"
LIB = "usr/lib/x86_64-linux-gnu"


def assembly(*names: str) -> bytes:
    """Return what has these names in its heap of texts."""
    heap = b"\0".join(name.encode() for name in names)
    return b"MZ" + b"\0" * 8 + heap + b"\0"


def test_mono_program_reads_the_assemblies_and_libraries_that_it_names() -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\nexec /usr/bin/mono /usr/lib/hello/hello.exe\n",
        "usr/bin/mono": make_elf(),
        "usr/lib/hello/hello.exe": assembly("Main", "gtk-sharp", "own"),
        "usr/lib/hello/own.dll": assembly("String"),
        f"{GAC}/own/1.0/own.dll": assembly(),
        f"{GAC}/gtk-sharp/3.0/gtk-sharp.dll": assembly("libgtk-win32-3.0-0.dll"),
        f"{GAC}/gtk-sharp/3.0/gtk-sharp.dll.config": b"<configuration>\n"
        b'<dllmap dll="libgtk-win32-3.0-0.dll" target="libgtk-3.so.0"/>',
        f"{LIB}/libgtk-3.so.0": make_elf(needed=["libgdk-3.so.0"]),
        f"{LIB}/libgdk-3.so.0": make_elf(),
        "usr/lib/mono/4.5/mscorlib.dll": assembly(),
        f"{GAC}/Other/1.0/Other.dll": assembly(),
        "etc/mono/config": b"x",
    }
    named = found(files, "usr/bin/hello")
    assert set(named) == set(files) - {
        f"{GAC}/own/1.0/own.dll",
        f"{GAC}/gtk-sharp/3.0/gtk-sharp.dll.config",
        f"{GAC}/Other/1.0/Other.dll",
    }
    assert named[f"{LIB}/libgtk-3.so.0"].way == "assembly-library"


def test_mono_reads_what_assemblies_were_compiled_to_and_its_own_library() -> None:
    files = {
        "usr/bin/hello": b"#!/bin/sh\nexec /usr/bin/mono /usr/lib/hello/hello.exe\n",
        "usr/bin/mono": make_elf(),
        "usr/lib/hello/hello.exe": assembly("Main"),
        "usr/lib/mono/4.5/mscorlib.dll": assembly(),
        "usr/lib/mono/aot-cache/amd64/mscorlib.dll.so": make_elf(),
        "usr/lib/mono/aot-cache/amd64/Other.dll.so": make_elf(),
        "usr/lib/libmono-native.so.0": make_elf(needed=["libgssapi_krb5.so.2"]),
        f"{LIB}/libgssapi_krb5.so.2": make_elf(),
    }
    named = found(files, "usr/bin/hello")
    other = "usr/lib/mono/aot-cache/amd64/Other.dll.so"
    assert set(named) == set(files) - {other}
    compiled = named["usr/lib/mono/aot-cache/amd64/mscorlib.dll.so"]
    assert compiled.way == "assembly-code"


def test_windows_forms_open_windows() -> None:
    compose = "usr/share/X11/locale/en_US.UTF-8/Compose"
    files = {
        "usr/bin/hello": b"#!/bin/sh\nexec /usr/bin/cli /usr/lib/hello/hello.exe\n",
        "usr/bin/cli": make_elf(),
        "usr/lib/hello/hello.exe": assembly("Main", "System.Windows.Forms"),
        f"{GAC}/System.Windows.Forms/4.0/System.Windows.Forms.dll": assembly(),
        compose: b"x",
    }
    assert found(files, "usr/bin/hello")[compose].way == "x11-input-method"


def test_program_of_dotnet_starts_the_assembly_of_its_name() -> None:
    files = {
        "opt/hello/Hello": make_elf(),
        "opt/hello/Hello.dll": assembly("Avalonia", "System.Runtime"),
        "opt/hello/Hello.deps.json": b"{}",
        "opt/hello/Hello.runtimeconfig.json": b"{}",
        "opt/hello/Avalonia.dll": assembly("libSkiaSharp"),
        "opt/hello/libSkiaSharp.so": make_elf(),
        "opt/hello/System.Runtime.dll": assembly(),
        "opt/hello/System.Private.CoreLib.dll": assembly(),
        "opt/hello/libcoreclr.so": make_elf(),
        "opt/hello/libhostfxr.so": make_elf(),
        "opt/hello/libSystem.Native.so": make_elf(),
        "opt/hello/System.Unused.dll": assembly(),
    }
    named = found(files, "opt/hello/Hello")
    assert set(named) == set(files) - {"opt/hello/System.Unused.dll"}


def test_dotnet_runs_an_assembly_with_the_shared_framework() -> None:
    shared = "usr/lib/dotnet/shared/Microsoft.NETCore.App/8.0.1"
    files = {
        "usr/bin/dotnet": make_elf(),
        "opt/hello/Hello.dll": assembly("System.Text.Json"),
        f"{shared}/System.Text.Json.dll": assembly(),
        f"{shared}/System.Private.CoreLib.dll": assembly(),
        f"{shared}/libcoreclr.so": make_elf(),
        "usr/lib/dotnet/host/fxr/8.0.1/libhostfxr.so": make_elf(),
    }
    command = "usr/bin/dotnet $SNAP/opt/hello/Hello.dll"
    assert set(found(files, command)) == set(files)


def test_assemblies_that_nothing_runs_are_not_read() -> None:
    files = {"usr/bin/hello": make_elf(), "usr/lib/hello/a.dll": assembly()}
    named = found(files, "usr/bin/hello")
    assert all(each.way != "assembly" for each in named.values())
