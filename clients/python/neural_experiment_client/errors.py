"""Failures between this client and the service."""

from __future__ import annotations

from collections.abc import Sequence


class LabError(Exception):
    """The service refused a request, or an experiment failed.

    Attributes:
        status: HTTP status; None if an experiment failed after its answer had begun.
        code: the error in one word, for programs; docs/errors.md lists them.
        path: JSON Pointer to the fault in the document; "" for the document as a whole; None if it is elsewhere.
        suggestions: values that may have been meant, nearest first.
        retry_after_s: seconds after which to try again, if the service says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        path: str | None = None,
        suggestions: Sequence[str] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.path = path
        self.suggestions = list(suggestions)
        self.retry_after_s = retry_after_s


class LabConnectionError(LabError):
    """Nothing answered at the address, the connection broke, or no byte came within the time limit."""
