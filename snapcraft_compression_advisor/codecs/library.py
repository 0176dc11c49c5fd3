"""Shared libraries, and codecs bound to them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from ..core.errors import ToolError
from .codec import Codec

Signature = tuple[Any, Sequence[Any]]
"""What a C function returns and takes, in ctypes' types."""


class Library:
    """One shared library: loaded at first use, once, and kept.

    It is loaded as ``CDLL``, whose calls release the interpreter's lock.

    :param soname: what the dynamic loader looks for, as ``liblzma.so.5``.
    :param package: the Debian package that ships it, for the advice on its absence.
    :param version: the function that returns its version as text.
    """

    def __init__(
        self,
        soname: str,
        *,
        package: str,
        version: str,
        functions: Mapping[str, Signature],
    ) -> None:
        self._soname = soname
        self._package = package
        self._version = version
        self._functions = {**functions, version: (ctypes.c_char_p, ())}

    @property
    def available(self) -> bool:
        """Whether the library loads and has the functions."""
        return not isinstance(self._loaded, Exception)

    @property
    def version(self) -> str:
        """Return the loaded library's own version, as ``5.4.1``.

        :raises ToolError: if the library is missing.
        """
        version: bytes = getattr(self.functions, self._version)()
        return version.decode("ascii", "replace")

    @cached_property
    def functions(self) -> ctypes.CDLL:
        """The library with its functions' types declared.

        :raises ToolError: if the library is missing or too old.
        """
        if isinstance(self._loaded, Exception):
            message = f"The library {self._soname} can't be loaded"
            resolution = f"Install the package {self._package}."
            details = str(self._loaded)
            raise ToolError(message, details=details, resolution=resolution)
        return self._loaded

    @cached_property
    def _loaded(self) -> ctypes.CDLL | Exception:
        """The library, or why there is none, or one without a function.

        Two threads that load it at once get the same one from the dynamic loader.
        """
        try:
            library = ctypes.CDLL(self._soname)
            for name, (result, arguments) in self._functions.items():
                function = getattr(library, name)
                function.restype = result
                function.argtypes = arguments
        except (OSError, AttributeError) as error:
            return error
        return library


class BoundCodec(Codec):
    """A codec whose blocks come from a shared library."""

    title: ClassVar[str]
    """The library's name, for the report."""
    library: ClassVar[Library]

    @property
    def available(self) -> bool:
        """See :class:`Codec`."""
        return self.library.available

    @property
    def implementation(self) -> str:
        """See :class:`Codec`."""
        if not self.library.available:
            return f"{self.title}, missing"
        return f"{self.title} {self.library.version}"
