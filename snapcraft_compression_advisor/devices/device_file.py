"""Device profiles as YAML files, and how ``--device`` finds a profile."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from ..codecs import CODECS
from ..core.documents import DocumentKind
from ..core.errors import UsageError
from ..core.units import KIB, Interval
from .builtin_devices import (
    DEFAULT_NAMES,
    default_devices,
    find_device,
    usual_block_s,
)
from .builtin_kernels import AT, on_kernel
from .device import (
    NO_COST,
    NOT_IN_PROFILE,
    SCHEMA,
    BlockCost,
    DeviceFile,
    DeviceProfile,
    scaled,
)

_DIGITS = 4
"""More than any measurement is good for, and few enough to read."""

_LONGEST_LINE = 4096

_LENDER = DEFAULT_NAMES[0]
"""The profile that codecs which a file leaves out are taken from."""

DEVICE_FILE = DocumentKind(
    model=DeviceFile,
    name="device profile",
    max_bytes=64 * KIB,  # ten times what `calibrate` writes
    broken=f"{{where!r}} is not a device profile of version {SCHEMA}",
    resolution="Correct it ('compression-advisor schema device' prints its schema), or "
    "create one with 'compression-advisor calibrate'.",
)


def choose_devices(arguments: Sequence[str]) -> tuple[DeviceProfile, ...]:
    """Return the profiles that ``--device`` names, the default ones if none is.

    :param arguments: names of built-in profiles, or paths of YAML files; each may have
        a kernel's name after it: ``nvme-laptop@ubuntu-22.04``.
    :raises UsageError: if there is no such profile or kernel, or two profiles share
        a name.
    :raises AdvisorError: if a file can't be read or isn't a profile.
    """
    if not arguments:
        return default_devices()
    devices = tuple(_choose(argument) for argument in dict.fromkeys(arguments))
    name, count = Counter(device.name for device in devices).most_common(1)[0]
    if count > 1:
        message = f"{count} device profiles are named {name!r}"
        raise UsageError(message, resolution="Change the 'name' in one of the files.")
    return devices


def _choose(argument: str) -> DeviceProfile:
    if Path(argument).is_file():
        return read_device(Path(argument))
    path, _, kernel = argument.rpartition(AT)
    if path and Path(path).is_file():
        return on_kernel(read_device(Path(path)), kernel)
    if "/" in argument or argument.endswith((".yaml", ".yml")):
        return read_device(Path(argument))
    return find_device(argument)


def read_device(path: Path) -> DeviceProfile:
    """Read a device profile.

    :raises NoInputError: if it isn't there or can't be read.
    :raises BadDataError: if it is no device profile, or one of another version.
    """
    return parse_device(DEVICE_FILE.read(path), where=str(path))


def parse_device(content: bytes, *, where: str) -> DeviceProfile:
    """Return the profile that a file's content is.

    :param where: the file, for errors.
    :raises BadDataError: if it is no device profile, or one of another version.
    """
    return _profile(DEVICE_FILE.parse_yaml(content, where=where))


def device_text(device: DeviceProfile) -> str:
    """Return a profile as the text of its file."""
    figures = device_figures(device).model_dump(by_alias=True, exclude_none=True)
    document = CommentedMap(figures)
    document.yaml_set_start_comment(
        "A device profile, in seconds and seconds per byte: low is a fast device of\n"
        "this kind, high a slow one. Use it with: advise --device FILE"
    )
    for key in ("storage", "fill", "decompress"):
        if key in document:
            _set_on_one_line(document, key)
    yaml = YAML()
    yaml.width = _LONGEST_LINE
    text = io.StringIO()
    yaml.dump(document, text)
    return text.getvalue()


def device_figures(device: DeviceProfile) -> DeviceFile:
    """Return a profile in the shape of its file; also that of ``devices``' JSON."""
    return DeviceFile.model_validate(
        {
            "schema": SCHEMA,
            "name": device.name,
            "description": device.description,
            "processors": device.processors,
            "storage": {
                "seek_s": asdict(_rounded(device.seek_s)),
                "read_s_per_byte": asdict(_rounded(device.read_s_per_byte)),
            },
            "fill": asdict(device.fill.map(_rounded)),
            "decompress": {
                codec: asdict(cost.map(_rounded))
                for codec, cost in device.decompress.items()
                if codec != "none"
            },
            "kernel": device.kernel,
            "sources": list(device.sources),
        }
    )


def _profile(file: DeviceFile) -> DeviceProfile:
    known = file.decompress.items()
    decompress: dict[str, BlockCost] = {codec: each.cost() for codec, each in known}
    decompress["none"] = NO_COST
    missing = [codec for codec in CODECS if codec not in decompress]
    sources = tuple(file.sources)
    if missing:
        decompress |= _borrowed(decompress, missing)
        sources += (
            (
                f"decompression of {', '.join(missing)}: estimated; scaled from those "
                f"of {_LENDER}"
            ),
        )
    return DeviceProfile(
        name=file.name,
        description=file.description,
        seek_s=file.storage.seek_s.interval(),
        read_s_per_byte=file.storage.read_s_per_byte.interval(),
        fill=file.fill.cost(),
        decompress={codec: decompress[codec] for codec in CODECS},
        processors=file.processors,
        sources=sources,
        kernel=file.kernel or NOT_IN_PROFILE,
    )


def _borrowed(
    known: Mapping[str, BlockCost], missing: Sequence[str]
) -> dict[str, BlockCost]:
    """Return the costs of codecs that a profile lacks, from a built-in one.

    The first codec that it has says how much faster or slower the device is.
    """
    builtin = find_device(_LENDER).decompress
    codec = next((codec for codec in known if codec != "none"), None)
    speed = 1.0
    if codec is not None:
        speed = usual_block_s(known[codec]) / usual_block_s(builtin[codec])
    factor = Interval(low=speed / 2, mid=speed, high=speed * 2)
    return {each: scaled(builtin[each], factor) for each in missing}


def _rounded(interval: Interval) -> Interval:
    return interval.map(lambda value: float(f"{value:.{_DIGITS}g}"))


def _set_on_one_line(document: CommentedMap, key: str) -> None:
    """Have ranges written as ``{low: 1, mid: 2, high: 3}``."""
    for name, item in document[key].items():
        if "low" in item:
            inner = CommentedMap(item)
            inner.fa.set_flow_style()
            document[key][name] = inner
        else:
            _set_on_one_line(document[key], name)
