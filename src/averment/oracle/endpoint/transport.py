"""One connection to a service: HTTP/1.1 over TLS, each exchange within a deadline and a size.

What it never does: follow a redirect, send a request a second time, ask a proxy, keep a cookie, read the body of an
error.

A connection is kept for the next exchange, because a handshake costs more than most calls, and given up after anything
but a complete, successful answer. It is used again only when it has rested for less than a second, so that a service
which closes idle connections doesn't do so just while a request is on its way; and when it is idle: where the service
has closed it, or said what nobody asked for, nothing has been sent yet, and a new one is opened. A connection that breaks
after that breaks the exchange: whether a call took effect is not known then, so it isn't sent again.
"""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.endpoint.tls import BoundedSocket, untrusted
from averment.oracle.worker.deadline import Deadline

__all__ = ["Answer", "Request", "Transport"]

_PIECE = 64 * 2**10
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]*)?\r\n")
_MAX_REST_S = 1.0
_MAX_LINE, _MAX_TRAILERS = 8192, 100
_NEXT_TO_NOTHING = 1e-6


class Request(NamedTuple):
    """What is sent; the path is escaped, and the headers are those beside the connection's own."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Answer(NamedTuple):
    """A status, and the body where the status says success."""

    status: int
    body: bytes


class Transport:
    """Exchanges with one host, one after the other."""

    def __init__(self, host: str, port: int, trusted: ssl.SSLContext) -> None:
        self._host = host
        self._port = port
        self._trusted = trusted
        self._connection: http.client.HTTPSConnection | None = None
        self._rest = Deadline(0.0)

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def exchange(self, request: Request, *, deadline: Deadline, limit: int) -> Answer:
        """Send a request, once, and read its answer.

        Args:
            request: what is sent.
            deadline: when all of it must be over, from the name's resolution to the answer's last byte.
            limit: the longest body of an answer, in bytes.

        Raises:
            ExchangeError: `timeout`, `unreachable`, `protocol` or `result_too_large`.
        """
        try:
            return self._exchange(request, deadline, limit)
        except ExchangeError:
            self.close()
            raise
        except (OSError, http.client.HTTPException) as error:
            self.close()
            explained = _explained(error)
        # Outside the handler, so that no error of a library hangs on ours.
        raise explained

    def _exchange(self, request: Request, deadline: Deadline, limit: int) -> Answer:
        connection = self._connected(deadline)
        connection.request(request.method, request.path, request.body, dict(request.headers))
        response = connection.getresponse()
        try:
            if not 200 <= response.status < 300:
                self.close()
                return Answer(response.status, b"")
            answer = Answer(response.status, _body(response, limit))
        finally:
            response.close()
        self._rest = Deadline(_MAX_REST_S)
        return answer

    def _connected(self, deadline: Deadline) -> http.client.HTTPSConnection:
        kept = self._connection
        if kept is not None and isinstance(kept.sock, BoundedSocket) and self._rest.remaining():
            kept.sock.deadline = deadline
            if kept.sock.is_idle():
                return kept
        self.close()
        made = http.client.HTTPSConnection(self._host, self._port, context=self._trusted)
        made.auto_open = 0  # it never opens a connection of its own, without a deadline
        made.sock = self._secured(deadline)
        self._connection = made
        return made

    def _secured(self, deadline: Deadline) -> BoundedSocket:
        secured = self._trusted.wrap_socket(
            self._reached(deadline), server_hostname=self._host, do_handshake_on_connect=False
        )
        assert isinstance(secured, BoundedSocket)  # noqa: S101 - `trust` says so
        try:
            secured.deadline = deadline
            secured.bound()
            secured.do_handshake()
        except BaseException:
            secured.close()
            raise
        return secured

    def _reached(self, deadline: Deadline) -> socket.socket:
        """A connection to the first of the host's addresses that takes one."""
        for address in self._addresses(deadline):
            try:
                return _dialled(address, deadline)
            except TimeoutError:
                raise
            except OSError:
                continue
        raise ExchangeError("unreachable", "no connection to the service can be made")

    def _addresses(self, deadline: Deadline) -> list[Any]:
        """The host's addresses; in a thread, because the system's resolver knows no deadline."""
        found: list[Any] = []

        def resolve() -> None:
            try:
                found.extend(socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM))
            except (OSError, UnicodeError):
                return

        resolver = threading.Thread(target=resolve, daemon=True)
        resolver.start()
        resolver.join(deadline.remaining())
        if resolver.is_alive():
            raise TimeoutError
        if not found:
            raise ExchangeError("unreachable", "the name of the service's host can't be resolved")
        return found


def _dialled(address: Any, deadline: Deadline) -> socket.socket:
    """A connection to one item of what `getaddrinfo` gave."""
    family, kind, protocol, _, place = address
    dialled = socket.socket(family, kind, protocol)
    try:
        # No time is left over as zero, which would mean a socket that doesn't wait.
        dialled.settimeout(deadline.remaining() or _NEXT_TO_NOTHING)
        dialled.connect(place)
        dialled.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        dialled.close()
        raise
    return dialled


def _body(response: http.client.HTTPResponse, limit: int) -> bytes:
    """The whole body, unless it is longer than the limit: as announced, or as it comes."""
    encodings = (response.headers.get_all("Content-Encoding"), response.headers.get_all("Transfer-Encoding"))
    for known, encoding in zip(("identity", "chunked"), encodings, strict=True):
        if encoding is not None and [part.strip().lower() for part in encoding] != [known]:
            raise ExchangeError(
                "protocol", "the answer is compressed, or encoded in a way that nobody asked for"
            )
    too_large = ExchangeError(
        "result_too_large", f"the answer is longer than `max_response_bytes`, {limit} bytes"
    )
    if response.length is not None and response.length > limit:
        raise too_large
    body = bytearray()
    for piece in _chunks(response.fp) if response.chunked else iter(lambda: response.read(_PIECE), b""):
        body += piece
        if len(body) > limit:
            raise too_large
    if response.length:
        raise _broken_off()
    return bytes(body)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """The pieces of a chunked body (RFC 9112, section 7.1); the standard library's reader takes a size of -1."""
    while True:
        size = _CHUNK.fullmatch(file.readline(_MAX_LINE))
        if size is None:
            raise _broken_off()
        left = int(size[1], 16)
        if not left:
            break
        while left:
            piece = file.read(min(left, _PIECE))
            if not piece:
                raise _broken_off()
            left -= len(piece)
            yield piece
        if file.readline(2) != b"\r\n":
            raise _broken_off()
    for _ in range(_MAX_TRAILERS):
        if file.readline(_MAX_LINE) == b"\r\n":
            return
    raise _broken_off()


def _broken_off() -> ExchangeError:
    return ExchangeError("protocol", "the answer breaks off before its end")


def _explained(error: Exception) -> ExchangeError:
    """What an error of a library comes to."""
    if isinstance(error, TimeoutError):
        return ExchangeError("timeout", "the service gave no whole answer in time")
    if isinstance(error, ssl.SSLCertVerificationError):
        return ExchangeError("unreachable", untrusted(error))
    if isinstance(error, ConnectionError):  # `RemoteDisconnected` among them
        return ExchangeError("unreachable", "the service closed the connection without an answer")
    if isinstance(error, http.client.HTTPException):
        return ExchangeError("protocol", "the answer is not HTTP")
    if isinstance(error, ssl.SSLError):
        return ExchangeError("unreachable", "no TLS connection to the service can be made or kept")
    return ExchangeError("unreachable", "the connection to the service broke")
