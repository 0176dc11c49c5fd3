"""Libraries that bases are known to have, by name.

The names follow from packages: those of Ubuntu's smallest image of the release that a
base is made from (``ubuntu-base``: essential packages and what they need) and what
core-base's ``hooks/001-extra-packages.chroot`` names. A base has more than these, and
of its own versions, so a name alone decides nothing. The C and C++ run time is left
out: a newer one than the base's may be shipped on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_IN_ALL = frozenset(
    {
        "libacl.so.1",
        "libattr.so.1",
        "libaudit.so.1",
        "libblkid.so.1",
        "libbz2.so.1.0",
        "libcap-ng.so.0",
        "libcom_err.so.2",
        "libcrypt.so.1",
        "libdbus-1.so.3",
        "libe2p.so.2",
        "libext2fs.so.2",
        "libgcrypt.so.20",
        "libgmp.so.10",
        "libgnutls.so.30",
        "libgpg-error.so.0",
        "libidn2.so.0",
        "libkmod.so.2",
        "liblz4.so.1",
        "liblzma.so.5",
        "libmount.so.1",
        "libncursesw.so.6",
        "libp11-kit.so.0",
        "libpam.so.0",
        "libpcre2-8.so.0",
        "libseccomp.so.2",
        "libselinux.so.1",
        "libsmartcols.so.1",
        "libss.so.2",
        "libsystemd.so.0",
        "libtasn1.so.6",
        "libtinfo.so.6",
        "libudev.so.1",
        "libuuid.so.1",
        "libz.so.1",
        "libzstd.so.1",
    }
)

BASE_LIBRARIES: Mapping[str, frozenset[str]] = {
    "core20": _IN_ALL
    | {
        "libcrypto.so.1.1",
        "libffi.so.7",
        "libhogweed.so.5",
        "libnettle.so.7",
        "libssl.so.1.1",
        "libunistring.so.2",
    },
    "core22": _IN_ALL
    | {
        "libcrypto.so.3",
        "libffi.so.8",
        "libhogweed.so.6",
        "libnettle.so.8",
        "libssl.so.3",
        "libunistring.so.2",
    },
    "core24": _IN_ALL
    | {
        "libcrypto.so.3",
        "libffi.so.8",
        "libhogweed.so.6",
        "libnettle.so.8",
        "libssl.so.3",
        "libunistring.so.5",
    },
}
"""Sonames by base; nothing is known of other bases."""
