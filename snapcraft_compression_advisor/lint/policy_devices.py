"""The devices that a policy speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.devices.device_file import choose_devices

if TYPE_CHECKING:
    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.settings.lint_policy import LintPolicy


def policy_devices(policy: LintPolicy) -> tuple[DeviceProfile, ...]:
    """Return the devices that the policy names, and those that only budgets name.

    :raises UsageError: where there is no such device, or a budget's isn't one of
        those named.
    :raises AdvisorError: where a device's file can't be read or isn't a profile.
    """
    devices = choose_devices(policy.devices)
    names = {device.name for device in devices}
    lacking = [name for name in policy.budgets.cold_start if name not in names]
    if lacking and policy.devices:
        message = (
            f"Device {lacking[0]!r} has a budget, but isn't one of the devices named"
        )
        raise UsageError(
            message,
            resolution=f"Name it as well, or change the budget. Named: "
            f"{', '.join(sorted(names))}.",
        )
    return (*devices, *map(find_device, lacking))
