from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from services import IDENTITY, reply, serve

from averment.oracle.endpoint.credentials import GRANTS, Credentials
from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.model.endpoint import Auth, Endpoint, Expected
from averment.oracle.oracles import Context, OracleError

URL = "https://oracle.example/v"
SECRET = "hunter2-correct-horse"  # noqa: S105 - of nobody
GRANTED = f"TOKEN@{URL} KEY@{URL}"
BEARER = Auth(bearer_token_env="TOKEN")  # noqa: S106 - the name of a variable
BOTH = msgspec.structs.replace(BEARER, headers={"X-Api-Key": "KEY"})


def config(auth: Auth, base_url: str = URL) -> Endpoint:
    """A pin that asks for secrets."""
    expected = Expected(oracle_id="a", oracle_version="1", content_digest="sha256:0")
    return Endpoint(protocol_version="bfcl-oracle-http-v1", base_url=base_url, expected=expected, auth=auth)


def refusal(auth: Auth, environ: Mapping[str, str], base_url: str = URL) -> str:
    """Why secrets are not taken."""
    with pytest.raises(ExchangeError) as caught:
        Credentials(config(auth, base_url), environ)
    assert caught.value.trouble == "unreachable"
    return caught.value.message


def test_secrets_become_headers() -> None:
    """The token is a bearer's, other headers are as they are."""
    credentials = Credentials(config(BOTH), {"TOKEN": "t 1", "KEY": "k", "OTHER": "o", GRANTS: GRANTED})
    assert credentials.headers() == {"Authorization": "Bearer t 1", "X-Api-Key": "k"}


def test_a_pack_that_asks_for_nothing_is_sent_nothing() -> None:
    """Grants alone send no secret."""
    assert Credentials(config(Auth()), {"TOKEN": SECRET, GRANTS: GRANTED}).headers() == {}


@pytest.mark.parametrize("slashes", [("", ""), ("/", ""), ("", "/"), ("/", "/")])
def test_a_slash_at_the_end_makes_no_other_service(slashes: tuple[str, str]) -> None:
    """In the grant as in the pack."""
    environ = {"TOKEN": "t", GRANTS: f"TOKEN@{URL}{slashes[0]}"}
    asked = config(BEARER, URL + slashes[1])
    assert Credentials(asked, environ).headers() == {"Authorization": "Bearer t"}


@pytest.mark.parametrize(
    "grants",
    [
        "",
        "TOKEN",
        URL,
        f"KEY@{URL}",
        f"TOKEN@{URL}/w",
        f"TOKEN@{URL}x",
        "TOKEN@https://oracle.example",
        "TOKEN@https://oracle.example.evil/v",
        f"token@{URL}",
        f"TOKEN @ {URL}",
        "*@*",
    ],
)
def test_a_secret_goes_only_where_it_was_granted(grants: str) -> None:
    """The grant names the variable and the very URL; anything else is none."""
    message = refusal(BEARER, {"TOKEN": SECRET, GRANTS: grants})
    assert "the environment variable `TOKEN`, and nobody granted that to this service" in message
    assert f"set AVERMENT_ENDPOINT_SECRETS to `TOKEN@{URL}`" in message
    assert SECRET not in message


def test_a_pack_does_not_learn_which_variables_exist() -> None:
    """Without a grant, one that is set and one that is not are refused in the same words."""
    assert refusal(BEARER, {"TOKEN": SECRET}) == refusal(BEARER, {})


def test_all_that_is_not_granted_is_named_at_once() -> None:
    """One setting mends it."""
    assert f"to `KEY@{URL} TOKEN@{URL}`" in refusal(BOTH, {})


@pytest.mark.parametrize("environ", [{}, {"TOKEN": "", "KEY": ""}])
def test_a_missing_variable_is_named(environ: dict[str, str]) -> None:
    """All of them at once; one that is empty is missing."""
    message = refusal(BOTH, {**environ, GRANTS: GRANTED})
    assert (
        message == "the pack asks for the environment variables `KEY` and `TOKEN`, and nothing is set there"
    )


@pytest.mark.parametrize(
    "secret",
    [f"{SECRET}\r\nX-Other: y", f"{SECRET}\n", f" {SECRET}", f"{SECRET}\x00", f"{SECRET}é", SECRET * 999],
)
def test_a_secret_that_no_header_can_carry_is_refused(secret: str) -> None:
    """A line end in a secret would start another header; the message names the variable only."""
    message = refusal(BEARER, {"TOKEN": secret, GRANTS: GRANTED})
    assert message.startswith("the environment variable `TOKEN` must hold one line of visible ASCII")
    assert SECRET not in message


def test_references_to_a_secret_store_are_refused() -> None:
    """What they mean is known only where that store is."""
    message = refusal(Auth(bearer_token_ref="vault/token"), {})  # noqa: S106 - a name, too
    assert "only environment variables are supported" in message
    assert "vault" not in message


@pytest.mark.parametrize("name", ["vault/token", "", "A-B", "1A", "A\n", {"ref": "a"}, None, 7, "A" * 256])
def test_a_header_takes_its_value_from_a_variable_and_nothing_else(name: Any) -> None:
    """Not from a reference, nor from a text in the pack."""
    message = refusal(Auth(headers={"X-Api-Key": name}), {GRANTS: GRANTED})
    assert "not the name of an environment variable" in message


@pytest.mark.parametrize(
    "header",
    [
        "Authorization",
        "HOST",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "",
        "A B",
        "A:",
        "A\r\nB",
        "é",
    ],
)
def test_headers_of_the_client_are_its_own(header: str) -> None:
    """One that frames the request, or that is no header's name, is refused."""
    message = refusal(Auth(headers={header: "KEY"}), {"KEY": SECRET, GRANTS: GRANTED})
    assert "a name that is no header's, or that the client itself sets" in message


def test_secrets_reach_the_service_with_every_request(backend: Path, pack: Path) -> None:
    """And only the ones that the pack names."""
    with serve(backend) as service:
        grants = f"TOKEN@{service.base_url} OTHER@{service.base_url}"
        environ = {"TOKEN": SECRET, "KEY": "k", "OTHER": "o", GRANTS: f"{grants} KEY@{service.base_url}"}
        with service.oracle(pack, environ=environ, auth=BOTH).episode(Context()) as episode:
            episode.reset()
            episode.list_tools()
            episode.state()
    assert len(service.requests) == 5
    for request in service.requests:
        assert request.headers["Authorization"] == f"Bearer {SECRET}"
        assert request.headers["X-Api-Key"] == "k"
        assert "o" not in request.headers.values()


@pytest.mark.parametrize(
    "answer",
    [
        reply(200, IDENTITY | {"oracle_id": SECRET}),
        reply(200, IDENTITY | {"oracle_version": f"v-{SECRET}"}),
        reply(200, IDENTITY | {SECRET: 1}),
        reply(200, SECRET),
        reply(500, {"error": SECRET}),
        reply(302, Location=f"https://{SECRET}.example"),
    ],
)
def test_a_service_that_repeats_a_secret_is_not_quoted(backend: Path, pack: Path, answer: Any) -> None:
    """Neither in the message, nor in the traceback, nor in what the oracle looks like."""
    with serve(backend, replies={"GET /v1/metadata": answer}) as service:
        environ = {"TOKEN": SECRET, GRANTS: f"TOKEN@{service.base_url}"}
        oracle = service.oracle(pack, environ=environ, auth=BEARER)
        with oracle.episode(Context()) as episode, pytest.raises(OracleError) as caught:
            episode.list_tools()
        texts = [
            "".join(traceback.format_exception(caught.value)),
            repr(oracle),
            repr(episode),
            repr(vars(episode)),
        ]
        assert service.requests[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert all(SECRET not in text for text in texts)
    assert caught.value.__context__ is None


def test_a_missing_secret_ends_an_episode_before_it_begins(backend: Path, pack: Path) -> None:
    """The step is `import`, and nothing is sent."""
    with serve(backend) as service:
        oracle = service.oracle(pack, auth=BEARER)
        with pytest.raises(OracleError, match="`TOKEN`") as caught, oracle.episode(Context()):
            pytest.fail("there is no episode")  # pragma: no cover
        assert service.server.connections == 0
    assert (caught.value.trouble, caught.value.op) == ("unreachable", "import")
