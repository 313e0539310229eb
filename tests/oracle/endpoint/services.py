r"""Services for tests: a pack's `backend.py` behind the protocol `bfcl-oracle-http-v1`, over real HTTPS.

    with serve(backend) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()

`Service.config` is what the loader makes of an `endpoint_config.yaml` that pins the service; `Service.base_url`,
`Service.identity` and `Service.ca_path` are what such a file must say.

Every session has a module of its own, so sessions share nothing. A route can be answered otherwise, to see what a client
does about it: `replies={"GET /v1/metadata": raw(b"HTTP/1.1 302 Found\r\n\r\n")}`. What was asked is kept in
`service.requests`.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import unquote

import trustme

from averment.oracle.endpoint.client import EndpointOracle
from averment.oracle.model.endpoint import Auth, Endpoint, Expected, Tls
from averment.oracle.model.options import Options

__all__ = [
    "BUNDLE",
    "IDENTITY",
    "PATIENT",
    "Handler",
    "Request",
    "Service",
    "authority",
    "raw",
    "reply",
    "serve",
]

IDENTITY = {
    "protocol_version": "bfcl-oracle-http-v1",
    "oracle_id": "counter",
    "oracle_version": "1.2.0",
    "content_digest": f"sha256:{'a1' * 32}",
}
BUNDLE = "ca.pem"
"""What `Service.config` calls the file with the authority's certificate, inside the pack."""
PATIENT = Options(tool_timeout_s=60.0, reset_timeout_s=60.0, import_timeout_s=60.0, episode_timeout_s=600.0)
"""Deadlines that nothing misses because the machine is slow."""

_numbers = count()


class Request(NamedTuple):
    """One request as it arrived; the path undecoded, the body as JSON or None."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Handler(BaseHTTPRequestHandler):
    """What answers; `server` is the `_Server`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120
    server: _Server

    def answer(self) -> None:
        """Answer the request, as `replies` say or as the backend does."""
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.requests.append(Request(self.command, self.path, dict(self.headers), body))
        parts = self.path.removeprefix(self.server.prefix).split("/")
        session = unquote(parts[3]) if len(parts) > 3 else None
        route = f"{self.command} {'/'.join([*parts[:3], *(['{id}'] if session else []), *parts[4:]])}"
        if route in self.server.replies:
            self.server.replies[route](self)
        else:
            self.server.answer(self, route, session, body)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the base class looks for these

    def send(self, status: int, value: Any = None, **headers: str) -> None:
        """Send JSON, or no body for None."""
        written = b"" if value is None else json.dumps(value).encode()
        lines = [f"HTTP/1.1 {status} Some reason", *(f"{name}: {text}" for name, text in headers.items())]
        if status != 204:
            lines.append(f"Content-Length: {len(written)}")
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + written)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


Reply = Callable[[Handler], None]


def reply(status: int, value: Any = None, **headers: str) -> Reply:
    """A reply of JSON."""
    return lambda handler: handler.send(status, value, **headers)


def raw(*pieces: bytes, every: float = 0.0, forever: bool = False) -> Reply:
    """A reply of bytes, sent piece by piece with a pause before each; then the connection is closed.

    Args:
        pieces: what is sent.
        every: the pause, in seconds.
        forever: send the last piece again until the client goes, or the service is stopped.
    """

    def send(handler: Handler) -> None:
        handler.close_connection = True
        stopped = handler.server.stopped
        for piece in pieces:
            stopped.wait(every)
            handler.wfile.write(piece)
        while forever and not stopped.wait(every):
            handler.wfile.write(pieces[-1])

    return send


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(
        self, backend: Path, identity: Mapping[str, Any], replies: Mapping[str, Reply], prefix: str
    ) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.backend = backend
        self.identity = dict(identity)
        self.replies = replies
        self.prefix = prefix
        self.requests: list[Request] = []
        self.sessions: dict[str, tuple[ModuleType, dict[str, Any]]] = {}
        self.connections = 0
        self.stopped = threading.Event()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count connections, handshakes not yet made."""
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients of these tests break connections off."""

    def answer(self, handler: Handler, route: str, session: str | None, body: Any) -> None:
        """Answer as the protocol has it."""
        if session is not None and session not in self.sessions:
            handler.send(404, {"error": "no such session"})
        elif session is not None:
            handler.send(*self._answer_in(route, session, body))
        elif route == "POST /v1/sessions":
            session = f"session {next(_numbers)}/é"
            module = _load(self.backend)
            module.reset(ctx=_context(body["context"], 0), fixtures=body["fixtures"])
            self.sessions[session] = module, body["context"]
            handler.send(201, {"session_id": session, "oracle": self.identity})
        elif route == "GET /v1/metadata":
            handler.send(200, self.identity)
        elif route == "GET /v1/tools":
            handler.send(200, {"tools": _load(self.backend).list_tools()})
        else:
            handler.send(404, {"error": "no such route"})

    def _answer_in(self, route: str, session: str, body: Any) -> tuple[int, Any]:
        module, context = self.sessions[session]
        if route == "POST /v1/sessions/{id}/calls":
            try:
                called = _context(context, body["turn_index"])
                return 200, module.call_tool(body["name"], body["arguments"], ctx=called)
            except Exception as error:  # noqa: BLE001 - whatever the backend raises is the service's 500
                return 500, {"error": repr(error)}
        if route == "GET /v1/sessions/{id}/state":
            return 200, module.get_state()
        if route == "DELETE /v1/sessions/{id}":
            del self.sessions[session]
            return 204, None
        return 404, {"error": "no such route"}


class Service(NamedTuple):
    """A service that runs.

    Attributes:
        base_url: its URL.
        ca_path: the certificate of the authority that vouches for it, in PEM; gone when the service is.
        identity: what it says that it is.
        requests: what it was asked, in order.
        sessions: the sessions that were created and not deleted, by id.
        server: the server itself.
    """

    base_url: str
    ca_path: Path
    identity: Mapping[str, Any]
    requests: list[Request]
    sessions: Mapping[str, Any]
    server: _Server

    @property
    def asked(self) -> list[str]:
        """Methods and paths of the requests, sessions' ids left out: `POST /v1/sessions/{id}/calls`."""
        paths = [(request.method, request.path.split("/")) for request in self.requests]
        return [
            f"{method} {'/'.join([*path[:3], *['{id}'][: len(path) - 3], *path[4:]])}"
            for method, path in paths
        ]

    def config(self, pack: Path, **changes: Any) -> Endpoint:
        """A pin of this service in a pack, and in the pack the certificate that it names."""
        (pack / BUNDLE).write_bytes(self.ca_path.read_bytes())
        expected = {name: value for name, value in self.identity.items() if name != "protocol_version"}
        fields = {
            "protocol_version": self.identity["protocol_version"],
            "base_url": self.base_url,
            "expected": Expected(**expected),
            "auth": Auth(),
            "tls": Tls(ca_bundle_path=BUNDLE),
        }
        return Endpoint(**(fields | changes))

    def oracle(
        self,
        pack: Path,
        *,
        options: Options = PATIENT,
        environ: Mapping[str, str] | None = None,
        fixtures: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> EndpointOracle:
        """A client of this service, pinned by `config`."""
        return EndpointOracle(
            self.config(pack, **changes),
            pack_root=pack,
            fixtures=fixtures or {},
            options=options,
            environ=environ or {},
        )


@cache
def authority() -> trustme.CA:
    """The authority that vouches for the services of this run."""
    return trustme.CA()


@contextmanager
def serve(
    backend: Path,
    identity: Mapping[str, Any] = IDENTITY,
    *,
    replies: Mapping[str, Reply] | None = None,
    host: str = "localhost",
    expired: bool = False,
    prefix: str = "",
) -> Iterator[Service]:
    """Run a service around a `backend.py`.

    Args:
        backend: the module's file.
        identity: what the service says that it is.
        replies: what is answered instead, by route: `POST /v1/sessions/{id}/calls`.
        host: whose certificate it shows; it is reached as `localhost` in any case.
        expired: whether its certificate has run out.
        prefix: a path before every route.
    """
    yesterday = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
    certificate = authority().issue_cert(host, not_after=yesterday if expired else None)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    server = _Server(backend, identity, replies or {}, prefix)
    # The handshake is made by the thread of the connection, not by the one that accepts.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            ca_path = Path(folder) / BUNDLE
            authority().cert_pem.write_to_path(str(ca_path))
            url = f"https://localhost:{server.server_address[1]}{prefix}"
            yield Service(url, ca_path, server.identity, server.requests, server.sessions, server)
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _load(backend: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"served_{next(_numbers)}", backend)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _context(told: Mapping[str, Any], turn_index: int) -> SimpleNamespace:
    return SimpleNamespace(
        clock=dt.datetime.fromisoformat(told["clock"]),
        seed=told["seed"],
        timeout_s=told["timeout_s"],
        task_id=told["task_id"],
        turn_index=turn_index,
    )
