"""Toolkits that programs in Python import."""

from elf_files import make_elf
from python_trees import HEAVY, LIBRARIES, PACKAGES, PYTHON, SHEBANG, names, search
from snapcraft_compression_advisor.launch.launch_set import BlindSpot


def test_bindings_of_qt_bring_their_libraries_and_plugins() -> None:
    files = {
        "usr/bin/hello": SHEBANG + b"from hello.main import main\nmain()\n",
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/main.py": b"def main():\n  from PyQt6 import QtWidgets\n",
        f"{PACKAGES}/PyQt6/__init__.py": b"",
        f"{PACKAGES}/PyQt6/sip.cpython-312-x86_64-linux-gnu.so": make_elf(),
        f"{PACKAGES}/PyQt6/QtCore.abi3.so": make_elf(),
        f"{PACKAGES}/PyQt6/QtGui.abi3.so": make_elf(needed=["libQt6Gui.so.6"]),
        f"{PACKAGES}/PyQt6/QtWidgets.abi3.so": make_elf(),
        f"{LIBRARIES}/libQt6Gui.so.6": make_elf(),
        f"{LIBRARIES}/qt6/plugins/platforms/libqxcb.so": make_elf(),
        f"{LIBRARIES}/qt6/plugins/imageformats/libqsvg.so": make_elf(),
    }
    assert names(files) == {*PYTHON, *files}
    assert search(files).kind == "Qt"


def test_overrides_of_the_namespaces_that_are_loaded_are_imported() -> None:
    typelibs = f"{LIBRARIES}/girepository-1.0"
    header = b"GOBJ\nMETADATA\r\n\x1a"
    files = {
        "usr/bin/hello": SHEBANG + b"from gi.repository import Gtk\n",
        f"{PACKAGES}/gi/__init__.py": b"",
        f"{PACKAGES}/gi/overrides/__init__.py": b"",
        f"{PACKAGES}/gi/overrides/Gtk.py": b"import heavy",
        f"{PACKAGES}/gi/overrides/Gdk.py": b"x",
        f"{PACKAGES}/gi/overrides/Other.py": b"x",
        f"{typelibs}/Gtk-4.0.typelib": header + b"\0Gdk-4.0\0",
        f"{typelibs}/Gdk-4.0.typelib": header,
    }
    expected = {*PYTHON, *files, HEAVY} - {f"{PACKAGES}/gi/overrides/Other.py"}
    assert names(files) == expected


def test_shim_of_several_bindings_is_a_blind_spot() -> None:
    shim = b"""TABLE = {"QtCore": [], "QtWidgets": []}
def _pyside2():
    import PySide2 as module
def _pyqt6():
    import PyQt6 as module
for name in TABLE:
    __import__(module.__name__ + "." + name)
"""
    files = {
        "usr/bin/hello": SHEBANG + b"from hello.Qt import QtWidgets\n",
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/Qt.py": shim,
        f"{PACKAGES}/PySide2/__init__.py": b"",
        f"{PACKAGES}/PySide2/QtCore.abi3.so": make_elf(),
    }
    candidates = search(files)
    spot = BlindSpot(reason="computed-import", where=f"{PACKAGES}/hello/Qt.py")
    assert candidates.blind_spots == (spot,)


def test_app_with_windows_whose_toolkit_may_be_imported_is_a_blind_spot() -> None:
    toolkit = f"{LIBRARIES}/libQt6Gui.so.6"
    files = {
        "usr/bin/hello": SHEBANG + b"from hello.main import main\nmain()\n",
        f"{PACKAGES}/hello/__init__.py": b"",
        f"{PACKAGES}/hello/main.py": b"def main():\n  if x: go()\ndef go():\n"
        b"  import PyQt6.QtGui\n",
        f"{PACKAGES}/PyQt6/QtGui.abi3.so": make_elf(needed=["libQt6Gui.so.6"]),
        toolkit: make_elf(soname="libQt6Gui.so.6"),
        "meta/gui/hello.desktop": b"[Desktop Entry]\nExec=hello\n",
    }
    candidates = search(files)
    assert candidates.blindness == "program"
    assert toolkit in {candidate.entry.path for candidate in candidates.unreached}
