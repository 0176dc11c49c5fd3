"""The settings of a project: the model of ``compression-advisor.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import pydantic

from ..advice.evidence import Policy
from ..devices.builtin_kernels import is_variant
from .parts import (
    ColdStarts,
    ComponentSettings,
    Files,
    Option,
    PackMode,
    Recordings,
    RefreshSettings,
    RulePrefix,
    Selectors,
    SettingsModel,
    SeverityName,
    Target,
    Texts,
    key,
)
from .quantities import (
    Bytes,
    BytesOrShare,
    Count,
    Devices,
    File,
    MbitPerS,
    Seconds,
    SecondsOrShare,
    Share,
    Text,
)

ALL_RULES_PREFIX = "SCA"
LEAST_GROWTH_S = 0.1
"""Up to this, people take a response for immediate (R. B. Miller, Response time in
man-computer conversational transactions, AFIPS 1968)."""

_DEFAULTS = Policy()


class Settings(SettingsModel):
    """The settings of a project, version 1: the one table of them.

    Each has one name: that of the key in ``compression-advisor.yaml``, of the part's
    property behind ``compression-advisor-`` and, in capitals, of the variable behind
    ``SNAPCRAFT_COMPRESSION_ADVISOR_``. All of these are made from this list, and so are
    the options of commands that set one, and the page on settings.
    """

    model_config = pydantic.ConfigDict(title="compression-advisor policy")

    schema_version: Literal[1] = key("version of this format", 1, alias="schema")
    mode: PackMode = key(
        "what happens while snapcraft packs: 'advise' prints the advice; 'apply' packs "
        "with the recommended compression; 'write' also sets the key in "
        "snapcraft.yaml; 'enforce' stops the pack if the declared compression violates "
        "the policy",
        "advise",
    )
    override_declared: bool = key(
        "whether 'apply' and 'write' may override a compression that snapcraft.yaml "
        "declares",
        default=False,
        strict=True,
    )
    report: File | None = key(
        "path of a report to write while packing, relative to this file: JSON if the "
        "name ends in .json, else text; for a component, its name is added before the "
        "suffix"
    )
    apps: Annotated[
        Texts,
        Option(
            "--app NAME…",
            "the app named after the snap, else those with a desktop file, else all",
        ),
    ] = key("the apps whose start counts, the deciding one first", ())
    devices: Annotated[
        Devices, Option("--device NAME|FILE…", "nvme-laptop, hdd-laptop")
    ] = key(
        "the machines to estimate for: built-in profiles ('devices' lists them) or "
        "files ('calibrate' makes one), with a system's kernel "
        "(nvme-laptop@ubuntu-22.04) or the share of the users who have it "
        "(nvme-laptop=0.7): then lzo must be worth its size on average, not on each",
        (),
    )
    kernels: Texts = key(
        "systems whose kernels the devices may have, such as ubuntu-22.04: estimates "
        "and verdicts for each kernel that costs differ with",
        (),
    )
    launch_profile: Annotated[Files, Option("--launch-profile FILE…", "none")] = key(
        "files with recorded launches to use in place of the guess", ()
    )
    record: Recordings = key(
        "launches to record while advising, isolated; this runs the payload's "
        "programs; --no-record prevents it",
        (),
    )
    bases: Files = key(
        "base snaps or their directories, relative to this file: the guess of a launch "
        "is followed into the snap's own one",
        (),
    )
    contents: Files = key(
        "content snaps or their directories, relative to this file, that the snap's "
        "plugs ask for",
        (),
    )
    min_saving: Annotated[
        SecondsOrShare,
        Option("--min-saving SECONDS|PERCENT", f"{_DEFAULTS.min_saving_s:g}s"),
    ] = key(
        "time that lzo must save per cold start (about what people notice): seconds, "
        "or percent of the time that reading and decompressing add with xz",
        _DEFAULTS.min_saving_s,
    )
    max_launches: Annotated[
        Count, Option("--max-launches COUNT", f"{_DEFAULTS.max_launches:g}")
    ] = key(
        "number of cold launches within which the larger download must pay for itself; "
        "about as many as between two refreshes",
        _DEFAULTS.max_launches,
    )
    link: Annotated[
        MbitPerS, Option("--link MBIT/S", f"{_DEFAULTS.link_mbit_per_s:g}Mbit/s")
    ] = key("speed of that download", _DEFAULTS.link_mbit_per_s)
    deciding_apps: Annotated[
        Literal["first", "every"], Option("--deciding-apps", _DEFAULTS.deciding_apps)
    ] = key(
        "whether the first target app decides or every one must gain",
        _DEFAULTS.deciding_apps,
    )
    refresh: RefreshSettings | None = key(
        "what users' refreshes are like: then a month of launches and downloads "
        "decides, in place of 'max-launches'"
    )
    components: dict[Text, ComponentSettings] = key(
        "by component, what reads it: files don't show that, so without it the advice "
        "on a component's compression is mostly undecided",
        {},
    )
    max_size_growth: BytesOrShare | None = key(
        "how much lzo may add to the image: bytes, or percent of its size with xz"
    )
    max_cold_start: ColdStarts = key(
        "by device profile: how long a cold start may take, for every target app or by "
        "app",
        {},
    )
    max_image_size: Bytes | None = key("size of the .snap file")
    max_launch_growth: Seconds = key(
        "how much longer a cold launch may take than in the baseline", LEAST_GROWTH_S
    )
    max_image_growth: BytesOrShare | None = key(
        "how much larger the .snap file may be than in the baseline: bytes, or percent"
    )
    max_refresh_size: BytesOrShare | None = key(
        "how much a refresh from the baseline may download: bytes, or percent of the "
        "image"
    )
    compression: Literal["xz", "lzo"] | None = key(
        "the compression to pack the snap with; SCA106 checks it"
    )
    targets: tuple[Target, ...] = key("systems that the snap must run on", ())
    select: Annotated[Selectors, Option("--select RULES…", "all")] = key(
        "rules to check: ids (SCA101) or families (SCA1), alone or with a pattern of "
        "payload paths (SCA303:usr/lib/*); in an option, separated by commas",
        (),
    )
    ignore: Annotated[Selectors, Option("--ignore RULES…", "none")] = key(
        "rules not to check, written as for 'select', over which it takes precedence; "
        "those of options and file add up",
        (),
    )
    severity: dict[RulePrefix, SeverityName] = key(
        "by rule or family; the longest match applies", {}
    )
    fail_on: Annotated[SeverityName, Option("--fail-on", "error")] = key(
        "the least severe finding that makes the exit status 1", "error"
    )

    def read_of(self, component: str | None) -> Literal["all", "none"] | None:
        """Return the reads of a component; None if they are unknown."""
        found = self.components.get(component or "")
        return found.read if found else None

    def to_policy(self, device_names: Sequence[str] = ()) -> Policy:
        """Return the policy of the recommendation; the devices are in their order."""
        return replace(
            self.to_component_policy(),
            device_shares=self._device_shares(device_names),
            cold_start_limits_s=self.max_cold_start,
            habits=self.refresh.to_habits() if self.refresh else None,
        )

    def to_component_policy(self) -> Policy:
        """Return the policy of what no launch is known to read."""
        saving, growth = self.min_saving, self.max_size_growth
        return Policy(
            min_saving_s=_DEFAULTS.min_saving_s
            if isinstance(saving, Share)
            else saving,
            min_saving_share=saving.root if isinstance(saving, Share) else None,
            max_launches=self.max_launches,
            link_mbit_per_s=self.link,
            deciding_apps=self.deciding_apps,
            max_growth_bytes=None if isinstance(growth, Share) else growth,
            max_growth_share=growth.root if isinstance(growth, Share) else None,
        )

    def _device_shares(self, device_names: Sequence[str]) -> Mapping[str, float]:
        if not isinstance(self.devices, dict) or len(self.devices) <= 1:
            return {}
        largest = max(self.devices.values())  # sums of larger shares aren't finite
        parts = [share / largest for share in self.devices.values()]
        known = self.devices
        named = (each for each in device_names if each in known or not is_variant(each))
        return dict(zip(named, (part / sum(parts) for part in parts), strict=True))

    @pydantic.model_validator(mode="after")
    def _no_contradictions(self) -> Settings:
        for problem in contradictions(self):
            raise ValueError(problem)
        return self


def contradictions(settings: Settings) -> list[str]:
    """Return the settings that can't hold at once, in sentences."""
    both = [each for each in settings.select if each in settings.ignore]
    found = [f"{each!r} is both selected and ignored" for each in both]
    for rule, budget, name in (
        ("SCA201", settings.max_cold_start, "max-cold-start"),
        ("SCA301", settings.max_image_size, "max-image-size"),
        ("SCA602", settings.max_image_growth, "max-image-growth"),
        ("SCA603", settings.max_refresh_size, "max-refresh-size"),
    ):
        ignored = [each for each in settings.ignore if rule.startswith(each)]
        if budget and ignored:
            found.append(f"{name!r} is set, but {ignored[0]!r} is ignored")
    for device, by_app in settings.max_cold_start.items():
        found += [
            f"app {app!r} has a budget on {device!r}, but isn't one of 'apps'"
            for app in (by_app if isinstance(by_app, dict) and settings.apps else ())
            if app not in settings.apps
        ]
    return found
