"""Why a sign-in through a provider failed."""

from __future__ import annotations

from typing import Literal

from ragstone.core.errors import RagstoneError

Reason = Literal["expired", "declined", "refused", "provider", "not_allowed"]
"""What the page tells: begun too long ago or elsewhere; the person or provider said no; a forged or unfit answer; the
provider cannot be used; the person is in none of the groups that may sign in."""


class SignInFailed(RagstoneError):
    """A sign-in failed. The message is for the log, and has nothing secret."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason
