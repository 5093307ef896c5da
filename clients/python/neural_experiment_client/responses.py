"""Reads answers of the service: bytes, JSON and errors."""

from __future__ import annotations

import json
import socket
import urllib.error
from http.client import HTTPException
from typing import Any

from .documents import Json
from .errors import LabConnectionError, LabError


def read_line(response: Any) -> bytes:
    """Reads a line, or raises LabConnectionError."""
    try:
        return response.readline()
    except (OSError, HTTPException) as failure:
        raise broken(failure) from failure


def read(response: Any, size: int | None = None) -> bytes:
    """Reads so many bytes or all, or raises LabConnectionError."""
    try:
        # Not -1 for everything: http.client would return the framing of a chunked answer with it.
        return response.read(size)
    except (OSError, HTTPException) as failure:
        raise broken(failure) from failure


def broken(failure: Exception | None = None) -> LabConnectionError:
    """The error for an answer that did not come whole."""
    reason = "" if failure is None else f": {str(failure) or type(failure).__name__}"
    return LabConnectionError(f"The connection broke before the answer ended{reason}.")


def parsed(data: bytes) -> Json:
    """The JSON. Raises LabConnectionError if it is none."""
    try:
        return json.loads(data)
    except ValueError as failure:
        raise LabConnectionError("The answer is not JSON, or it was cut off.") from failure


def http_error(answer: urllib.error.HTTPError) -> LabError:
    """The error that an HTTP status stands for."""
    retry_after = answer.headers.get("Retry-After")
    retry_after_s = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    try:
        body = json.loads(answer.read())
    except (OSError, HTTPException, ValueError):
        body = None
    if not isinstance(body, dict) or "error" not in body:
        body = {"error": f"HTTP {answer.code} {answer.reason} from {answer.url}; is that the address of a service?"}
    return error_of(body, status=answer.code, retry_after_s=retry_after_s)


def error_of(body: Json, *, status: int | None, retry_after_s: float | None) -> LabError:
    """The error that the service describes."""
    return LabError(
        body["error"],
        status=status,
        code=body.get("code"),
        path=body.get("path"),
        suggestions=body.get("suggestions", ()),
        retry_after_s=retry_after_s,
    )


def may_have_arrived(failure: LabConnectionError) -> bool:
    """Whether the request may have reached the service although no answer came."""
    return not isinstance(cause_of(failure.__cause__), (ConnectionRefusedError, socket.gaierror))


def cause_of(failure: BaseException | None) -> object:
    """The failure of the connection that urllib wraps."""
    return failure.reason if isinstance(failure, urllib.error.URLError) else failure
