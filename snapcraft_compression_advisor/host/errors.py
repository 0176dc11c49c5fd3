"""What may stop a pack, and nothing else does."""

from __future__ import annotations

from snapcraft_compression_advisor.errors import AdvisorError, BadDataError


class SettingsError(BadDataError):
    """The settings are broken: exit status 65."""

    @classmethod
    def of(cls, error: AdvisorError) -> SettingsError:
        """Return an error that is the settings' fault."""
        return cls(str(error), details=error.details, resolution=error.resolution)


class PolicyBrokenError(AdvisorError):
    """What is about to be packed breaks the policy: exit status 1."""

    exit_status = 1
