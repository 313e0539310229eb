from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from services import IDENTITY, reply, serve

from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.endpoint.identity import verify
from averment.oracle.model.endpoint import Endpoint, Expected
from averment.oracle.oracles import Context, OracleError

PINNED = Expected(oracle_id="counter", oracle_version="1.2.0", content_digest=IDENTITY["content_digest"])
OTHER = f"sha256:{'b2' * 32}"
OPTIONAL = ["principal_digest", "permission_digest", "authorization_context_digest"]


def verified(found: Any, expected: Expected = PINNED) -> None:
    """Hold an identity against a pin."""
    config = Endpoint(
        protocol_version="bfcl-oracle-http-v1", base_url="https://oracle.example", expected=expected
    )
    verify(found, config, lambda text: "hunter2" in text)


def difference(found: Any, expected: Expected = PINNED) -> str:
    """What is wrong with an identity."""
    with pytest.raises(ExchangeError) as caught:
        verified(found, expected)
    assert caught.value.trouble == "identity_mismatch"
    return caught.value.message.removeprefix("the service is not the one that the pack pins: ")


@pytest.mark.parametrize("more", [{}, *({name: None} for name in OPTIONAL)])
def test_the_pinned_service_is_known(more: dict[str, Any]) -> None:
    """Every field as pinned; an optional digest that isn't pinned may be null."""
    verified(IDENTITY | more)


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_pinned_digest_must_be_there(name: str) -> None:
    """Optional digests are so in the pin, not in the answer."""
    expected = msgspec.structs.replace(PINNED, **{name: OTHER})
    verified(IDENTITY | {name: OTHER}, expected)
    assert difference(IDENTITY, expected) == f"`{name}` is missing, not `{OTHER}`"
    assert difference(IDENTITY | {name: None}, expected) == f"`{name}` is null, not `{OTHER}`"


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_digest_that_is_not_pinned_must_not_be_there(name: str) -> None:
    """A service that acts for somebody whom the pack doesn't know is another one."""
    assert difference(IDENTITY | {name: OTHER}) == f"`{name}` is `{OTHER}`, not null"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocol_version": "v2"}, "`protocol_version` is `v2`, not `bfcl-oracle-http-v1`"),
        ({"oracle_id": "Counter"}, "`oracle_id` is `Counter`, not `counter`"),
        ({"oracle_version": 1.2}, "`oracle_version` is something else, not `1.2.0`"),
        ({"oracle_version": None}, "`oracle_version` is null, not `1.2.0`"),
        ({"content_digest": OTHER}, f"`content_digest` is `{OTHER}`, not `{IDENTITY['content_digest']}`"),
        ({"oracle_id": "a b"}, "`oracle_id` is something else, not `counter`"),
        ({"oracle_id": "a" * 129}, "`oracle_id` is something else, not `counter`"),
        ({"oracle_id": "hunter2"}, "`oracle_id` is something else, not `counter`"),
        ({"build": 7}, "the protocol has no field `build`"),
        ({"\x1b[31m": 7}, "the protocol has no field something else"),
    ],
)
def test_every_difference_is_told(change: dict[str, Any], message: str) -> None:
    """What was found is quoted when it looks like an identifier and holds no secret."""
    assert difference(IDENTITY | change) == message


def test_all_differences_are_told_at_once() -> None:
    """In the order of the protocol, then the fields that it doesn't have, as far as they can be read."""
    found = {"oracle_id": "x", "content_digest": OTHER} | {f"f{number}": 0 for number in range(8)}
    assert difference(found) == (
        "`protocol_version` is missing, not `bfcl-oracle-http-v1`; `oracle_id` is `x`, not `counter`; "
        f"`oracle_version` is missing, not `1.2.0`; `content_digest` is `{OTHER}`, "
        f"not `{IDENTITY['content_digest']}`; the protocol has no field `f0`, `f1`, `f2`, `f3`, `f4` and 3 more"
    )


@pytest.mark.parametrize("found", [None, [], "counter", 1])
def test_an_identity_is_an_object(found: Any) -> None:
    """Anything else is not the protocol."""
    with pytest.raises(ExchangeError, match="no object as its identity") as caught:
        verified(found)
    assert caught.value.trouble == "protocol"


@pytest.mark.parametrize(
    ("identity", "trouble"),
    [
        *((IDENTITY | {name: "another"}, "identity_mismatch") for name in IDENTITY),
        *(
            ({key: value for key, value in IDENTITY.items() if key != name}, "identity_mismatch")
            for name in IDENTITY
        ),
        (IDENTITY | {"build": 7}, "identity_mismatch"),
        (None, "protocol"),
        ("counter", "protocol"),
    ],
)
def test_a_session_of_another_service_is_deleted(
    backend: Path, pack: Path, identity: Any, trouble: str
) -> None:
    """Nothing is asked in it."""
    replies = {
        "POST /v1/sessions": reply(200, {"session_id": "a/b", "oracle": identity}),
        "DELETE /v1/sessions/{id}": reply(204),
    }
    with serve(backend, replies=replies) as service:
        with service.oracle(pack).episode(Context()) as episode, pytest.raises(OracleError) as caught:
            episode.reset()
        assert [(request.method, request.path) for request in service.requests] == [
            ("POST", "/v1/sessions"),
            ("DELETE", "/v1/sessions/a%2Fb"),
        ]
    assert (caught.value.trouble, caught.value.op) == (trouble, "reset")


def test_a_mismatch_is_told_though_the_session_can_not_be_deleted(backend: Path, pack: Path) -> None:
    """The first thing that went wrong is the one to mend."""
    replies = {
        "POST /v1/sessions": reply(200, {"session_id": "a", "oracle": IDENTITY | {"oracle_id": "b"}}),
        "DELETE /v1/sessions/{id}": reply(500),
    }
    with serve(backend, replies=replies) as service:
        with service.oracle(pack).episode(Context()) as episode, pytest.raises(OracleError) as caught:
            episode.reset()
        assert len(service.requests) == 2
    assert caught.value.trouble == "identity_mismatch"


@pytest.mark.parametrize("ask", ["metadata", "conformance"])
def test_another_service_is_asked_nothing_else(backend: Path, pack: Path, ask: str) -> None:
    """Tools and attestation count only when the identity is the pinned one."""
    with serve(
        backend, replies={"GET /v1/metadata": reply(200, IDENTITY | {"oracle_version": "2"})}
    ) as service:
        with pytest.raises(OracleError, match="`oracle_version` is `2`") as caught:
            getattr(service.oracle(pack), ask)()
        assert service.asked == ["GET /v1/metadata"]
    assert caught.value.trouble == "identity_mismatch"
