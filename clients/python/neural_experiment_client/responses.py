"""Reads answers of the service: bytes, JSON and errors."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.parse
from http.client import HTTPException
from typing import Any

from .documents import Json
from .errors import LabConnectionError, LabError

#: Bad gateway, unavailable, gateway timeout.
_OF_GATEWAYS = (502, 503, 504)
_CODE = re.compile("[A-Z][A-Z0-9_]*")


def read_line(response: Any) -> bytes:
    """Reads a line, or raises LabConnectionError."""
    try:
        return response.readline()
    except (OSError, HTTPException) as failure:
        raise _ended(response, failure) from failure


def read(response: Any, size: int | None = None) -> bytes:
    """Reads so many bytes or all, or raises LabConnectionError."""
    try:
        # Not -1 for everything: http.client would return the framing of a chunked answer with it.
        return response.read(size)
    except (OSError, HTTPException) as failure:
        raise _ended(response, failure) from failure


def broken(failure: Exception | None = None) -> LabConnectionError:
    """The error for an answer that did not come whole."""
    reason = "" if failure is None else f": {str(failure) or type(failure).__name__}"
    return LabConnectionError(f"The connection broke before the answer ended{reason}.")


def _ended(response: Any, failure: Exception) -> LabConnectionError:
    if is_time_limit(failure):
        return LabConnectionError(
            f"The answer began, but then no byte came within {response.timeout_s:g} s (timeout_s of Lab)."
        )
    return broken(failure)


def is_time_limit(failure: object) -> bool:
    """Whether the limit of this client has passed, and not one of the system, which has a number."""
    return isinstance(failure, socket.timeout) and failure.errno is None


def parsed(data: bytes) -> Json:
    """The JSON. Raises LabConnectionError if it is none."""
    try:
        return json.loads(data)
    except ValueError as failure:
        raise LabConnectionError("The answer is not JSON, or it was cut off.") from failure


def whole(response: Any) -> Json:
    """The JSON of a whole answer. Raises LabConnectionError, which says what came instead."""
    data = read(response)
    try:
        return json.loads(data)
    except ValueError as failure:
        raise LabConnectionError(not_json(response.url, response.headers, data)) from failure


def not_json(url: str, headers: Any, data: bytes) -> str:
    """The message about an answer that is no JSON, such as the page of a proxy."""
    kind = headers.get("Content-Type", "no content type")
    return (
        f"{url} did not answer with JSON, but with {kind} that begins {data.decode(errors='replace')[:60]!r}. "
        "Is that the address of a service, and does the answer come from it?"
    )


def http_error(answer: urllib.error.HTTPError) -> LabError:
    """The error that an HTTP status stands for."""
    retry_after = answer.headers.get("Retry-After")
    retry_after_s = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    try:
        body = json.loads(answer.read())
    except (OSError, HTTPException, ValueError):
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        body = {"error": _without_service(answer)}
    return error_of(body, status=answer.code, retry_after_s=retry_after_s)


def _without_service(answer: urllib.error.HTTPError) -> str:
    """The message about an answer that is none of a service."""
    status = f"HTTP {answer.code} {answer.reason}"
    location = answer.headers.get("Location")
    if location is None or not 300 <= answer.code < 400:
        return f"{status} from {answer.url}; is that the address of a service?"
    target = urllib.parse.urlsplit(urllib.parse.urljoin(answer.url, location))
    shown = target._replace(netloc=target.netloc.rpartition("@")[2]).geturl()
    return f"{status}: {answer.url} leads to {shown}. Give Lab the address that it leads to."


def error_of(body: Json, *, status: int | None, retry_after_s: float | None) -> LabError:
    """The error that the service describes. The code of a gateway, such as 504, is none of the service's."""
    # The service has no such status, whatever the code of a gateway.
    code = None if status in (502, 504) else body.get("code")
    return LabError(
        body["error"],
        status=status,
        code=code if isinstance(code, str) and _CODE.fullmatch(code) else None,
        path=body.get("path"),
        suggestions=body.get("suggestions", ()),
        retry_after_s=retry_after_s,
    )


def is_of_gateway(failure: LabError) -> bool:
    """Whether a gateway did not reach the service, which gives each of its errors a code."""
    return failure.code is None and failure.status in _OF_GATEWAYS


def may_have_arrived(failure: LabError) -> bool:
    """Whether the request may have reached the service although no answer came."""
    return not isinstance(cause_of(failure.__cause__), (ConnectionRefusedError, socket.gaierror))


def cause_of(failure: BaseException | None) -> object:
    """The failure of the connection that urllib wraps."""
    return failure.reason if isinstance(failure, urllib.error.URLError) else failure
