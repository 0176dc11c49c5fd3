"""Every rule, in the order of their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.rules.budgets import (
    ColdStartBudget,
    ImageSizeBudget,
)
from snapcraft_compression_advisor.rules.compatibility import (
    CodecNotAccepted,
    CodecNotInKernel,
)
from snapcraft_compression_advisor.rules.components import ComponentKey
from snapcraft_compression_advisor.rules.compression import (
    KeyImplicit,
    LzoGainsNothing,
    LzoWouldGain,
)
from snapcraft_compression_advisor.rules.declared import (
    CompressionChanged,
    CompressionLost,
)
from snapcraft_compression_advisor.rules.incompressible import IncompressiblePayload
from snapcraft_compression_advisor.rules.launch_caches import (
    Fonts,
    GioModules,
    IconTheme,
    ImageLoaders,
    InputMethods,
    PythonBytecode,
    SettingsSchemas,
)
from snapcraft_compression_advisor.rules.launch_files import LaunchDominated
from snapcraft_compression_advisor.rules.preflight_entries import (
    ExtendedAttributes,
    FileModes,
    Owners,
)
from snapcraft_compression_advisor.rules.preflight_image import (
    BlockSize,
    CompressorOptions,
    Fragments,
    SuperblockFlags,
)
from snapcraft_compression_advisor.rules.preflight_limits import (
    NoSnapDelta,
    StoreSize,
)
from snapcraft_compression_advisor.rules.preflight_writer import (
    OtherWriter,
    Padding,
    ResquashDiffers,
)
from snapcraft_compression_advisor.rules.regressions import (
    ImageGrown,
    LaunchSlower,
)
from snapcraft_compression_advisor.rules.shipped import (
    DebugSymbols,
    DevelopmentFiles,
    Documentation,
    PackageCaches,
    StaticLibraries,
)
from snapcraft_compression_advisor.rules.shipped_twice import (
    DuplicatedContent,
    SuppliedLibraries,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.rules.rule import Rule

ALL_RULES: tuple[Rule, ...] = (
    LzoWouldGain(),
    LzoGainsNothing(),
    KeyImplicit(),
    ComponentKey(),
    IncompressiblePayload(),
    CompressionLost(),
    CompressionChanged(),
    ColdStartBudget(),
    LaunchDominated(),
    SettingsSchemas(),
    ImageLoaders(),
    InputMethods(),
    IconTheme(),
    Fonts(),
    GioModules(),
    PythonBytecode(),
    ImageSizeBudget(),
    DebugSymbols(),
    StaticLibraries(),
    DevelopmentFiles(),
    Documentation(),
    PackageCaches(),
    DuplicatedContent(),
    SuppliedLibraries(),
    CodecNotInKernel(),
    CodecNotAccepted(),
    BlockSize(),
    Fragments(),
    CompressorOptions(),
    SuperblockFlags(),
    ExtendedAttributes(),
    Owners(),
    FileModes(),
    Padding(),
    OtherWriter(),
    ResquashDiffers(),
    NoSnapDelta(),
    StoreSize(),
    LaunchSlower(),
    ImageGrown(),
)
