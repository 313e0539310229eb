from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from services import IDENTITY, PATIENT, Service, raw, serve

from averment.oracle.endpoint.client import EndpointOracle
from averment.oracle.oracles import OracleError

BODY = msgspec.json.encode(IDENTITY)
STATUS_LINES = st.sampled_from(
    (b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 204", b"HTTP/1.1 100 Continue", b"HTTP/1.1 \xb2", b"")
)
HEADERS = st.sampled_from(
    (
        b"Content-Length: %d" % len(BODY),
        b"Content-Length: 3",
        b"Content-Length: -1",
        b"Content-Length: 99999999999999999999",
        b"Content-Length: " + b"9" * 5000,
        b"Content-Length: \xb2",
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: chunked, chunked",
        b"Content-Encoding: gzip",
        b"Connection: keep-alive",
        b"Connection: close",
        b"Content-Type: \xff; charset=x",
        b": nothing",
        b" folded",
    )
)
BODIES = st.sampled_from((BODY, b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY), b"-1\r\n" + BODY, b"", b"[]"))
ANSWERS = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda status, headers, noise, body: b"\r\n".join([status, *headers, b"", b""]) + noise + body,
        STATUS_LINES,
        st.lists(st.one_of(HEADERS, st.binary(max_size=12)), max_size=4),
        st.one_of(st.just(b""), st.binary(max_size=4)),
        BODIES,
    ),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that answers what it is told to."""
    with serve(tmp_path_factory.mktemp("served") / "none.py", replies={}) as running:
        yield running


@pytest.fixture(scope="module")
def oracle(service: Service, tmp_path_factory: pytest.TempPathFactory) -> EndpointOracle:
    """A client of it."""
    return service.oracle(tmp_path_factory.mktemp("pack"), max_response_bytes=2000, options=PATIENT)


@settings(max_examples=150, deadline=None)
@given(answer=ANSWERS)
def test_whatever_is_answered_is_the_identity_or_a_failure(
    service: Service, oracle: EndpointOracle, answer: bytes
) -> None:
    """No bytes make the client raise anything else, and none make it take another answer for the right one."""
    service.server.replies = {"GET /v1/metadata": raw(answer)}
    with suppress(OracleError):
        assert oracle.metadata() == IDENTITY
