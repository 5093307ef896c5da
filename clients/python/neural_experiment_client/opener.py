"""Opens addresses: which redirects are followed, and which hosts are asked without a proxy."""

from __future__ import annotations

import functools
import ipaddress
import urllib.parse
import urllib.request
from email.message import Message
from typing import IO, Any


@functools.cache
def opener_for(host: str) -> urllib.request.OpenerDirector:
    """The opener for a host. A loopback host is asked directly: a proxy would look for it on its own machine."""
    handlers: list[urllib.request.BaseHandler] = [_Redirects()]
    if _is_loopback(host):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Repeats a request with its method and body. It leaves the host for none, and https for no http."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        keeps_body = code in (307, 308) or req.get_method() == "GET"
        if not keeps_body or not _is_same_host(req.full_url, newurl):
            return None
        method = req.get_method()
        return urllib.request.Request(newurl, data=req.data, headers=req.headers, method=method, unverifiable=True)

    # Python knows 308 from 3.11 on.
    http_error_308: Any = urllib.request.HTTPRedirectHandler.http_error_302


def _is_same_host(url: str, new_url: str) -> bool:
    old, new = urllib.parse.urlsplit(url), urllib.parse.urlsplit(new_url)
    if "@" in new.netloc or old.hostname != new.hostname:
        return False
    return old.netloc == new.netloc if old.scheme == new.scheme else (old.scheme, new.scheme) == ("http", "https")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
