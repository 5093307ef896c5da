"""Opens addresses: which redirects are followed, and which hosts are asked without a proxy."""

from __future__ import annotations

import functools
import ipaddress
import socket
import urllib.parse
import urllib.request
from email.message import Message
from typing import IO, Any


@functools.cache
def opener_for(host: str, *, waits_for_beginning: bool = False) -> urllib.request.OpenerDirector:
    """The opener for a host. A loopback host is asked directly: a proxy would look for it on its own machine.

    Args:
        host: the name or address.
        waits_for_beginning: whether the time limit does not hold between the request and the beginning of its answer.
    """
    handlers: list[urllib.request.BaseHandler] = [_Redirects()]
    if waits_for_beginning:
        handlers += [_WaitingHTTP(), _WaitingHTTPS()]
    if _is_loopback(host):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


#: Options of TCP: silence before the first probe, as Linux and as macOS call it, and time between two probes.
_KEEP_ALIVE_S = {"TCP_KEEPIDLE": 60, "TCP_KEEPALIVE": 60, "TCP_KEEPINTVL": 15}


class _Waiting(urllib.request.AbstractHTTPHandler):
    """Waits for the beginning of an answer without a limit."""

    def do_open(self, http_class: Any, req: urllib.request.Request, **http_conn_args: Any) -> Any:
        class Connection(http_class):  # type: ignore[misc]
            def getresponse(self) -> Any:
                # It closes its socket, which the answer still reads.
                opened = self.sock
                # Finds out that the other machine is gone, and tells routers in between that the connection is in use.
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for name, seconds in _KEEP_ALIVE_S.items():
                    if hasattr(socket, name):
                        opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
                opened.settimeout(None)
                response = super().getresponse()
                opened.settimeout(self.timeout)
                return response

        return super().do_open(Connection, req, **http_conn_args)


class _WaitingHTTP(_Waiting, urllib.request.HTTPHandler):
    pass


class _WaitingHTTPS(_Waiting, urllib.request.HTTPSHandler):
    pass


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
