from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from services import BUNDLE, IDENTITY, PATIENT, Handler, Reply, authority, raw, reply, serve

from averment.oracle.endpoint.client import EndpointOracle
from averment.oracle.model.endpoint import Endpoint, Expected, Tls
from averment.oracle.model.options import Options
from averment.oracle.oracles import Context, OracleError

SESSION = "POST /v1/sessions"
CALL = "POST /v1/sessions/{id}/calls"
METADATA = "GET /v1/metadata"
IMPATIENT = msgspec.structs.replace(PATIENT, import_timeout_s=0.25, reset_timeout_s=0.5)
OK = b"HTTP/1.1 200 OK\r\n"
SECRET = b"nobody should see this"


def refused(backend: Path, pack: Path, answer: Reply, limit: int = 4096) -> OracleError:
    """What a client says of an answer to `GET /v1/metadata`."""
    with serve(backend, replies={METADATA: answer}) as service:
        oracle = service.oracle(pack, max_response_bytes=limit)
        with pytest.raises(OracleError) as caught:
            oracle.metadata()
        assert service.asked == [METADATA]
    return caught.value


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_an_error(backend: Path, pack: Path, status: int) -> None:
    """It is not followed, to this host or to another one."""
    with serve(backend) as elsewhere:
        error = refused(backend, pack, reply(status, Location=f"{elsewhere.base_url}/v1/metadata"))
        assert elsewhere.server.connections == 0
    assert error.trouble == "unreachable"
    assert error.message == f"`{METADATA}`: the answer is a redirect, {status}, and none is followed"


@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500, 503, 599])
def test_an_error_is_its_status(backend: Path, pack: Path, status: int) -> None:
    """The body of an error is not repeated, nor is the reason."""
    error = refused(backend, pack, reply(status, {"error": SECRET.decode()}))
    assert (error.trouble, error.op) == ("raised", "import")
    assert error.message == f"`{METADATA}`: the answer is the error {status}"


def test_the_body_of_an_error_is_not_read(backend: Path, pack: Path) -> None:
    """One without an end neither takes time nor is too large."""
    endless = raw(b"HTTP/1.1 500 Some reason\r\n\r\n", b" " * 4096, forever=True)
    assert refused(backend, pack, endless).trouble == "raised"


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raw(OK + b"Content-Length: 4097\r\n\r\n"), id="announced"),
        pytest.param(raw(OK + b"Content-Length: 99999999999\r\n\r\n", b" " * 9999), id="announced and sent"),
        pytest.param(raw(OK + b"\r\n", b" " * 4096, b" " * 999, forever=True), id="without an end"),
        pytest.param(
            raw(CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n", forever=True), id="chunks without an end"
        ),
        pytest.param(raw(CHUNKED, b"FFFFFFFF\r\n", b" " * 4096, forever=True), id="one endless chunk"),
    ],
)
def test_an_answer_that_is_too_long_is_not_read(backend: Path, pack: Path, answer: Reply) -> None:
    """The limit holds for what is announced, and for what comes."""
    error = refused(backend, pack, answer)
    assert error.trouble == "result_too_large"
    assert error.message == f"`{METADATA}`: the answer is longer than `max_response_bytes`, 4096 bytes"


@pytest.mark.parametrize("length", [b"Content-Length: %d\r\n\r\n", b"X-Ignored: %d\r\n\r\n"])
def test_an_answer_as_long_as_the_limit_is_read(backend: Path, pack: Path, length: bytes) -> None:
    """With or without an announcement, the limit itself is not too long."""
    identity = msgspec.json.encode(IDENTITY)
    answer = raw(OK + length % len(identity) + identity)
    with serve(backend, replies={METADATA: answer}) as service:
        assert service.oracle(pack, max_response_bytes=len(identity)).metadata() == IDENTITY
        with pytest.raises(OracleError, match="longer than"):
            service.oracle(pack, max_response_bytes=len(identity) - 1).metadata()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raw(b"", every=60), id="silent"),
        pytest.param(raw(b"H", every=0.02, forever=True), id="a status line, byte by byte"),
        pytest.param(raw(OK, b"X: y\r\n", every=0.02, forever=True), id="headers without an end"),
        pytest.param(
            raw(b"HTTP/1.1 100 Continue\r\n\r\n", every=0.001, forever=True), id="always to be continued"
        ),
        pytest.param(raw(OK + b"Content-Length: 4000\r\n\r\n", b" ", every=0.02, forever=True), id="a body"),
        pytest.param(raw(CHUNKED, b"1\r\n \r\n", every=0.02, forever=True), id="chunks"),
        pytest.param(raw(CHUNKED, b"0\r\n", b"X: y\r\n", every=0.02, forever=True), id="trailers"),
    ],
)
def test_an_answer_that_drips_does_not_outlast_the_deadline(backend: Path, pack: Path, answer: Reply) -> None:
    """The deadline is of the whole exchange, not of the wait for each byte."""
    with serve(backend, replies={METADATA: answer}) as service, pytest.raises(OracleError) as caught:
        service.oracle(pack, options=IMPATIENT, max_response_bytes=4096).metadata()
    assert (caught.value.trouble, caught.value.op) == ("timeout", "import")
    assert caught.value.message == "the service gave no whole answer within 0.25 s"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raw(OK + b"Content-Length: 30\r\n\r\n{}"), id="short of its length"),
        pytest.param(raw(CHUNKED + b"2\r\n{}\r\n"), id="short of a last chunk"),
        pytest.param(raw(CHUNKED + b"f\r\n{}"), id="short of its chunk"),
        pytest.param(raw(CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n"), id="a chunk of less than nothing"),
        pytest.param(raw(CHUNKED + b"-1\r\n{}"), id="a chunk of all that comes"),
        pytest.param(raw(CHUNKED + b"nonsense\r\n{}"), id="a chunk of no number"),
        pytest.param(raw(CHUNKED + b"2\r\n{}XX0\r\n\r\n"), id="a chunk without its line end"),
        pytest.param(raw(CHUNKED + b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 101), id="trailers without measure"),
    ],
)
def test_an_answer_that_breaks_off_is_no_answer(backend: Path, pack: Path, answer: Reply) -> None:
    """What came of it is not taken for all of it."""
    error = refused(backend, pack, answer)
    assert error.trouble == "protocol"
    assert error.message == f"`{METADATA}`: the answer breaks off before its end"


@pytest.mark.parametrize(
    "answer",
    [
        raw(b"+OK POP3 ready\r\n\r\n"),
        raw(b"HTTP/1.1 twohundred OK\r\n\r\n"),
        raw(b"HTTP/7.0 200 OK\r\n\r\n"),
        raw(b"HTTP/1.1 200 " + b"O" * 70_000 + b"\r\n\r\n"),
        raw(OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n"),
        raw(OK + b"X: y\r\n" * 101 + b"\r\n"),
        raw(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    ],
)
def test_what_is_not_http_is_refused(backend: Path, pack: Path, answer: Reply) -> None:
    """Other protocols, other versions, and headers without measure are no answer."""
    assert refused(backend, pack, answer).trouble == "protocol"


@pytest.mark.parametrize("header", [b"Content-Encoding: gzip", b"Transfer-Encoding: gzip, chunked"])
def test_an_encoding_that_nobody_asked_for_is_refused(backend: Path, pack: Path, header: bytes) -> None:
    """A small compressed answer could be a very long one; the request says `identity`."""
    error = refused(backend, pack, raw(OK + header + b"\r\n\r\n"))
    assert error.trouble == "protocol"
    assert "compressed" in error.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the text ends before its JSON value does at line 1, column 1"),
        (b"<html>%s</html>" % SECRET, "the text is not JSON at line 1, column 1"),
        (b'{"oracle_id": "' + SECRET, "the text ends before its JSON value does at line 1, column 38"),
        (b"{} {}", "something stands after the end of the JSON value at line 1, column 4"),
        (
            b"[" * 201 + b"]" * 201,
            "more than 200 objects and arrays stand inside each other at line 1, column 201",
        ),
        (b'{"a": NaN}', "a number that JSON doesn't have"),
        (b"[-Infinity]", "a number that JSON doesn't have"),
        (b"[1e999]", "a number that JSON doesn't have"),
        (b'{"a": 1, "a": 1}', "the same key twice"),
        (b'[{"a": {"b": 1, "b": 2}}]', "the same key twice"),
        (b'"\xff"', "at line 1, column 2"),
        (b"9" * 4400, "an integer has more than 4300 digits"),
    ],
)
def test_what_is_not_strict_json_is_refused(backend: Path, pack: Path, body: bytes, message: str) -> None:
    """An answer must have one meaning, and it is not quoted when it has none."""
    error = refused(backend, pack, raw(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body), limit=9999)
    assert error.trouble == "result_not_json"
    assert message in error.message
    assert SECRET.decode() not in error.message


def test_json_as_deep_as_the_limit_is_read(backend: Path, pack: Path) -> None:
    """Two hundred levels are what evidence may have, too."""
    replies = {CALL: raw(OK + b"\r\n" + b"[" * 200 + b"]" * 200)}
    with serve(backend, replies=replies) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        assert isinstance(episode.call("add", {}), list)


def test_a_chunked_answer_is_read(backend: Path, pack: Path) -> None:
    """Extensions of chunks and trailers are passed over, and the connection can be kept."""

    def answer(handler: Handler) -> None:
        handler.wfile.write(CHUNKED + b'5;a=b\r\n{"a":\r\n03 \r\n 1}\r\n0\r\nX: y\r\n\r\n')

    replies = {CALL: answer}
    with serve(backend, replies=replies) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        assert episode.call("add", {}) == {"a": 1}
        assert episode.call("add", {}) == {"a": 1}
        assert service.server.connections == 1


@pytest.mark.parametrize("route", [SESSION, CALL])
def test_what_may_change_state_is_sent_once(backend: Path, pack: Path, route: str) -> None:
    """A connection that ends without an answer ends the step: whether the request took effect is not known."""
    with serve(backend, replies={route: raw(b"")}) as service:
        with service.oracle(pack).episode(Context()) as episode, pytest.raises(OracleError) as caught:
            _reset_and_call(episode)
        assert service.asked.count(route) == 1
    assert caught.value.trouble == "unreachable"
    assert caught.value.message == f"`{route}`: the service closed the connection without an answer"


def _reset_and_call(episode: object) -> None:
    assert hasattr(episode, "reset")
    assert hasattr(episode, "call")
    episode.reset()
    episode.call("add", {"by": 1})


def test_a_connection_is_kept_within_an_episode(backend: Path, pack: Path) -> None:
    """One handshake does for all steps."""
    with serve(backend) as service:
        with service.oracle(pack).episode(Context()) as episode:
            episode.reset()
            for _ in range(5):
                episode.call("add", {"by": 1})
            assert episode.state()["total"] == 5
        assert service.server.connections == 1


def test_a_connection_that_has_rested_is_not_used(
    backend: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that closes idle connections never does so while a request is on its way."""
    monkeypatch.setattr("averment.oracle.endpoint.transport._MAX_REST_S", 0.05)
    with serve(backend) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        threading.Event().wait(0.06)
        episode.call("add", {"by": 1})
        assert service.server.connections == 2


@pytest.mark.parametrize("goodbye", [b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n"], ids=["", "in words"])
def test_a_connection_that_went_stale_is_not_used(backend: Path, pack: Path, goodbye: bytes) -> None:
    """It is found out before anything is sent, so the call is made on a new one, and once."""
    gone = threading.Semaphore(0)

    def answer(handler: Handler) -> None:
        handler.send(200, {"total": 1})
        handler.wfile.write(goodbye)
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True
        gone.release()

    replies = {CALL: answer}
    with serve(backend, replies=replies) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        for calls in (1, 2, 3):
            assert episode.call("add", {"by": 1}) == {"total": 1}
            assert gone.acquire(timeout=60)
            assert service.asked.count(CALL) == calls
        assert service.server.connections == 3


def test_a_request_that_is_too_long_is_not_sent(backend: Path, pack: Path) -> None:
    """The limit of requests holds before anything leaves."""
    with serve(backend) as service:
        oracle = service.oracle(pack, max_request_bytes=300)
        with oracle.episode(Context()) as episode:
            episode.reset()
            with pytest.raises(OracleError) as caught:
                episode.call("add", {"by": 1, "note": "x" * 300})
        assert CALL not in service.asked
        rich = service.oracle(pack, max_request_bytes=300, fixtures={"rows": "x" * 300})
        with rich.episode(Context()) as episode, pytest.raises(OracleError, match="was not sent"):
            episode.reset()
        assert service.asked.count(SESSION) == 1
    assert (caught.value.trouble, caught.value.op) == ("protocol", "call_tool")
    assert caught.value.message == (
        f"`{CALL}`: the request is longer than `max_request_bytes`, 300 bytes, and was not sent"
    )


def test_proxies_of_the_environment_are_not_asked(
    backend: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret goes to the service, not to who stands in between."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "https://localhost:1")
    with serve(backend) as service:
        assert service.oracle(pack).metadata() == IDENTITY


def test_cookies_are_not_kept(backend: Path, pack: Path) -> None:
    """What a service wants remembered it must put into the id of the session."""
    answer = reply(200, {}, **{"Set-Cookie": "a=b"})
    with (
        serve(backend, replies={CALL: answer}) as service,
        service.oracle(pack).episode(Context()) as episode,
    ):
        episode.reset()
        episode.call("add", {})
        episode.call("add", {})
        assert all("Cookie" not in request.headers for request in service.requests)


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    """A port that takes connections, and says nothing on them: no handshake is ever made."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def _oracle(
    pack: Path, base_url: str, fixtures: Mapping[str, str] | None = None, *, options: Options = PATIENT
) -> EndpointOracle:
    authority().cert_pem.write_to_path(str(pack / BUNDLE))
    expected = Expected(oracle_id="a", oracle_version="1", content_digest="sha256:0")
    config = Endpoint(
        protocol_version="bfcl-oracle-http-v1",
        base_url=base_url,
        expected=expected,
        tls=Tls(ca_bundle_path=BUNDLE),
    )
    return EndpointOracle(config, pack_root=pack, fixtures=fixtures or {}, options=options, environ={})


def test_a_handshake_has_a_deadline(pack: Path, mute: socket.socket) -> None:
    """A port that never says hello is no service."""
    with pytest.raises(OracleError) as caught:
        _oracle(pack, f"https://127.0.0.1:{mute.getsockname()[1]}", options=IMPATIENT).metadata()
    assert caught.value.trouble == "timeout"


def test_a_service_that_reads_slowly_does_not_outlast_the_deadline(pack: Path, mute: socket.socket) -> None:
    """The deadline is of what is sent, too, not of every piece of it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority().issue_cert("localhost").configure_cert(context)
    stopped = threading.Event()

    def read() -> None:
        with suppress(OSError), context.wrap_socket(mute.accept()[0], server_side=True) as connection:
            while not stopped.wait(0.02) and connection.recv(2**10):
                pass

    reader = threading.Thread(target=read)
    reader.start()
    url, fixtures = f"https://localhost:{mute.getsockname()[1]}", {"rows": "x" * 9 * 2**20}
    begun = time.monotonic()
    try:
        with (
            _oracle(pack, url, fixtures, options=IMPATIENT).episode(Context()) as episode,
            pytest.raises(OracleError) as caught,
        ):
            episode.reset()
    finally:
        took = time.monotonic() - begun
        stopped.set()
        with suppress(OSError):
            mute.shutdown(socket.SHUT_RDWR)  # nobody may have come in time
        reader.join()
    assert caught.value.trouble == "timeout"
    assert took < 60  # to read all of it takes minutes


def test_a_port_where_nobody_listens_is_unreachable(pack: Path, mute: socket.socket) -> None:
    """The message has neither the port nor the system's words."""
    port = mute.getsockname()[1]
    mute.close()
    with pytest.raises(OracleError) as caught:
        _oracle(pack, f"https://127.0.0.1:{port}").metadata()
    assert caught.value.trouble == "unreachable"
    assert caught.value.message == f"`{METADATA}`: no connection to the service can be made"


def test_a_name_that_does_not_exist_is_unreachable(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So says the message, in words that don't change with the system."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(OracleError) as caught:
        _oracle(pack, "https://oracle.invalid").metadata()
    assert caught.value.trouble == "unreachable"
    assert caught.value.message == f"`{METADATA}`: the name of the service's host can't be resolved"


def test_the_resolver_has_a_deadline(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own patience is not ours."""
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [done.wait(60)])
    try:
        with pytest.raises(OracleError) as caught:
            _oracle(pack, "https://oracle.invalid", options=IMPATIENT).metadata()
    finally:
        done.set()
    assert caught.value.trouble == "timeout"


@pytest.mark.parametrize(
    "base_url",
    [
        "http://localhost",
        "ftp://localhost",
        "localhost",
        "https://",
        "https://user:word@localhost",
        "https://localhost?query",
        "https://localhost#fragment",
        "https://localhost:99999",
        "https://localhost:0",
        "https://local host",
        "https://localhost/a\r\nX: y",
        "https://lócalhost",
        "https://[::1",
        "https://localhost\\@elsewhere",
    ],
)
def test_a_base_url_that_could_do_harm_is_refused(pack: Path, base_url: str) -> None:
    """Whatever the loader let pass, nothing is sent anywhere but over HTTPS to a plain host."""
    with pytest.raises(OracleError, match="`base_url` must be an HTTPS URL") as caught:
        _oracle(pack, base_url).metadata()
    assert caught.value.trouble == "unreachable"
