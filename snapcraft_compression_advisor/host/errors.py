"""What may stop a pack, and nothing else does."""

from __future__ import annotations

from snapcraft_compression_advisor.core.errors import AdvisorError, BadDataError
from snapcraft_compression_advisor.host.refusal import RESOLUTION


class SettingsError(BadDataError):
    """The settings are broken: exit status 65."""

    @classmethod
    def of(cls, error: AdvisorError) -> SettingsError:
        """Return an error that is the settings' fault."""
        return cls(str(error), details=error.details, resolution=error.resolution)


class PolicyBrokenError(AdvisorError):
    """What is about to be packed breaks the policy: exit status 1."""

    exit_status = 1


class CannotJudgeError(PolicyBrokenError):
    """The mode is ``enforce``, and nobody can say whether the policy is kept."""

    @classmethod
    def of(cls, reason: str) -> CannotJudgeError:
        """Return an error for what failed."""
        message = f"The mode is 'enforce', but there is no compression advice: {reason}"
        return cls(message, resolution=RESOLUTION)
