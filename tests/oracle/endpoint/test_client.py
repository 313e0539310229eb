from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from services import IDENTITY, PATIENT, raw, reply, serve

from averment.oracle.endpoint.client import EndpointOracle
from averment.oracle.oracles import Context, Oracle, OracleError
from averment.oracle.worker import deadline

SESSION = "POST /v1/sessions"
CALL = "POST /v1/sessions/{id}/calls"
STATE = "GET /v1/sessions/{id}/state"
DELETE = "DELETE /v1/sessions/{id}"


def test_an_episode_is_a_session(backend: Path, pack: Path) -> None:
    """Reset creates it with context and fixtures, calls and state are its own, leaving deletes it."""
    context = Context(clock="2026-03-02T09:00:00+07:00", seed=2**64 - 1, timeout_s=2.5, task_id="t-1")
    with serve(backend) as service:
        oracle: Oracle = service.oracle(pack, fixtures={"total": 40, "rows": [{"id": "é"}]})
        with oracle.episode(context) as episode:
            episode.reset()
            assert episode.call("add", {"by": 2}, turn_index=3) == {"total": 42, "turn": 3}
            assert episode.state() == {"total": 42, "rows": [{"id": "é"}], "seed": 2**64 - 1}
            assert len(service.sessions) == 1
        assert service.sessions == {}
        assert service.asked == [SESSION, CALL, STATE, DELETE]
        assert service.requests[0].body == {
            "context": {
                "clock": "2026-03-02T09:00:00+07:00",
                "seed": 2**64 - 1,
                "timeout_s": 2.5,
                "task_id": "t-1",
            },
            "fixtures": {"total": 40, "rows": [{"id": "é"}]},
        }
        assert service.requests[1].body == {"name": "add", "arguments": {"by": 2}, "turn_index": 3}


def test_a_session_id_is_escaped(backend: Path, pack: Path) -> None:
    """Slashes, spaces and letters beyond ASCII in an id stay inside their segment of the path."""
    with serve(backend) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        episode.state()
        path = service.requests[-1].path
        assert path.startswith("/v1/sessions/session%20")
        assert path.endswith("%2F%C3%A9/state")


@pytest.mark.parametrize("session_id", ["", ".", "..", 7, None, "a\nb", "x" * 1025, "\ud800"])
def test_an_id_that_can_not_stand_in_a_path_is_refused(backend: Path, pack: Path, session_id: Any) -> None:
    """An id that is no text, empty, a step up, or too long is no session."""
    replies = {SESSION: reply(200, {"session_id": session_id, "oracle": IDENTITY})}
    with serve(backend, replies=replies) as service:
        with service.oracle(pack).episode(Context()) as episode, pytest.raises(OracleError) as caught:
            episode.reset()
        assert caught.value.trouble == "protocol"
        assert "`session_id` must be" in caught.value.message
        assert service.asked == [SESSION]


def test_a_second_reset_is_a_new_session(backend: Path, pack: Path) -> None:
    """The session before is deleted first, and nothing of its state is left."""
    with serve(backend) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        episode.call("add", {"by": 5})
        episode.reset()
        assert episode.call("add", {"by": 1}) == {"total": 1, "turn": 0}
        assert service.asked == [SESSION, CALL, DELETE, SESSION, CALL]
        assert len(service.sessions) == 1


def test_episodes_share_no_state_and_no_connection(backend: Path, pack: Path) -> None:
    """Two episodes of one oracle may be open at once."""
    with serve(backend) as service:
        oracle = service.oracle(pack)
        with oracle.episode(Context()) as one, oracle.episode(Context(), "shifted") as other:
            one.reset()
            other.reset()
            one.call("add", {"by": 1})
            assert other.state() == {"seed": 0}
            assert service.server.connections == 2
        assert service.sessions == {}


def test_the_tools_are_asked_for_after_the_identity(backend: Path, pack: Path) -> None:
    """A catalog counts only when the pinned service gives it; no session is needed for one."""
    with serve(backend) as service, service.oracle(pack).episode(Context()) as episode:
        assert episode.list_tools() == ["add", "fail"]
        assert service.asked == ["GET /v1/metadata", "GET /v1/tools"]


def test_the_attestation_is_given_as_it_is(backend: Path, pack: Path) -> None:
    """The document is not judged, but only the pinned service is asked for it."""
    document = {"kind": "bfcl-endpoint-conformance-v1", "level": "L2"}
    with serve(backend, replies={"GET /v1/conformance": reply(200, document)}) as service:
        assert service.oracle(pack).conformance() == document
        assert service.asked == ["GET /v1/metadata", "GET /v1/conformance"]


def test_the_metadata_are_the_identity(backend: Path, pack: Path) -> None:
    """What the service says is given when it is what the pack pins."""
    with serve(backend) as service:
        assert service.oracle(pack).metadata() == IDENTITY


def test_a_base_url_may_have_a_path(backend: Path, pack: Path) -> None:
    """Routes stand behind it, whether or not it ends in a slash."""
    with serve(backend, prefix="/oracles/counter") as service:
        service.oracle(pack, base_url=f"{service.base_url}/").metadata()
        assert service.requests[0].path == "/oracles/counter/v1/metadata"


def test_what_a_tool_gives_need_be_no_object(backend: Path, pack: Path) -> None:
    """Whether a result is an object is for a check to say."""
    replies = {CALL: reply(200, [1, "two"])}
    with serve(backend, replies=replies) as service, service.oracle(pack).episode(Context()) as episode:
        episode.reset()
        assert episode.call("add", {}) == [1, "two"]


@pytest.mark.parametrize("answer", [[], None, "state", 4])
def test_a_state_that_is_no_object_is_not_the_protocol(backend: Path, pack: Path, answer: Any) -> None:
    """`GET state` gives an object or nothing that can be used."""
    written = msgspec.json.encode(answer)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(written)
    with serve(backend, replies={STATE: raw(head + written)}) as service:
        with service.oracle(pack).episode(Context()) as episode:
            episode.reset()
            with pytest.raises(OracleError, match="the state is no object") as caught:
                episode.state()
        assert (caught.value.trouble, caught.value.op) == ("protocol", "get_state")


@pytest.mark.parametrize("answer", [[], {}, {"names": ["add"]}])
def test_tools_without_tools_are_not_the_protocol(backend: Path, pack: Path, answer: Any) -> None:
    """The catalog is an object with `tools`."""
    replies = {"GET /v1/tools": reply(200, answer)}
    with serve(backend, replies=replies) as service, service.oracle(pack).episode(Context()) as episode:
        with pytest.raises(OracleError, match="no object with `tools`") as caught:
            episode.list_tools()
        assert (caught.value.trouble, caught.value.op) == ("protocol", "list_tools")


def test_a_call_before_reset_is_refused(backend: Path, pack: Path) -> None:
    """Without a session nothing is sent."""
    with serve(backend) as service:
        with (
            service.oracle(pack).episode(Context()) as episode,
            pytest.raises(OracleError, match="reset first"),
        ):
            episode.call("add", {"by": 1})
        assert service.requests == []


def test_a_tool_that_raises_is_a_status_and_nothing_more(backend: Path, pack: Path) -> None:
    """What the service says about its error is not repeated."""
    with serve(backend) as service:
        with service.oracle(pack).episode(Context()) as episode:
            episode.reset()
            with pytest.raises(OracleError) as caught:
                episode.call("fail", {})
        assert (caught.value.trouble, caught.value.op) == ("raised", "call_tool")
        assert caught.value.message == f"`{CALL}`: the answer is the error 500"


def test_after_a_failure_the_episode_is_over(backend: Path, pack: Path) -> None:
    """What is asked next fails as before, unasked; the session is still deleted."""
    with serve(backend) as service:
        with service.oracle(pack).episode(Context()) as episode:
            episode.reset()
            with pytest.raises(OracleError, match="500"):
                episode.call("fail", {})
            with pytest.raises(OracleError, match="500") as caught:
                episode.state()
            assert caught.value.op == "call_tool"
        assert service.asked == [SESSION, CALL, DELETE]
        assert service.sessions == {}


def test_a_session_is_deleted_whatever_ends_the_episode(backend: Path, pack: Path) -> None:
    """An exception of the caller goes its way, and the session with it."""
    with serve(backend) as service:
        with suppress(KeyError), service.oracle(pack).episode(Context()) as episode:
            episode.reset()
            raise KeyError
        assert service.asked == [SESSION, DELETE]
        assert service.sessions == {}


@pytest.mark.parametrize("answer", [reply(204), reply(200, {"deleted": True}), reply(200, True)])
def test_a_deletion_is_an_empty_204_or_json(backend: Path, pack: Path, answer: Any) -> None:
    """Both are a yes."""
    with serve(backend, replies={DELETE: answer}) as service:
        with service.oracle(pack).episode(Context()) as episode:
            episode.reset()
        assert service.asked == [SESSION, DELETE]


def test_a_deletion_that_fails_fails_the_episode(backend: Path, pack: Path) -> None:
    """A session that stays is not passed over, unless something else went wrong before."""
    with serve(backend, replies={DELETE: reply(500)}) as service:
        oracle = service.oracle(pack)
        with pytest.raises(OracleError, match="500") as caught, oracle.episode(Context()) as episode:
            episode.reset()
        assert (caught.value.trouble, caught.value.op) == ("raised", "close")
        with oracle.episode(Context()) as episode:
            episode.reset()
            with pytest.raises(OracleError):
                episode.call("fail", {})


def test_an_episode_has_a_deadline_of_its_own(
    backend: Path, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step gets no more than what is left of the episode's time, and its message says so."""
    options = msgspec.structs.replace(PATIENT, tool_timeout_s=600.0)
    passed = 0.0
    now = time.monotonic
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: now() + passed))
    with serve(backend, replies={CALL: raw(b"", every=60)}) as service:
        with service.oracle(pack, options=options).episode(Context()) as episode:
            episode.reset()
            passed = 599.7
            with pytest.raises(OracleError) as caught:
                episode.call("add", {"by": 1})
        assert caught.value.trouble == "timeout"
        assert caught.value.message == "the service gave no whole answer before the episode's 600 s were over"


def test_a_request_is_the_same_bytes_each_time(backend: Path, pack: Path) -> None:
    """The order of keys in arguments doesn't matter to what is sent."""
    sent = []
    with serve(backend, replies={CALL: reply(200, {})}) as service:
        for arguments in ({"by": 1, "as": 2}, {"as": 2, "by": 1}):
            with service.oracle(pack).episode(Context()) as episode:
                episode.reset()
                episode.call("add", arguments)
        sent = [
            list(request.body["arguments"]) for request in service.requests if request.path.endswith("calls")
        ]
    assert sent == [["as", "by"], ["as", "by"]]


def test_arguments_that_json_can_not_hold_are_not_sent(backend: Path, pack: Path) -> None:
    """NaN has no place in a request."""
    with serve(backend) as service:
        with service.oracle(pack).episode(Context()) as episode:
            episode.reset()
            with pytest.raises(OracleError, match="no form for NaN") as caught:
                episode.call("add", {"by": float("nan")})
        assert caught.value.trouble == "protocol"
        assert CALL not in service.asked


def test_an_oracle_is_made_without_a_word_to_anybody(backend: Path, pack: Path) -> None:
    """Making one opens no connection, and reads no secret."""
    with serve(backend) as service:
        oracle = EndpointOracle(service.config(pack), pack_root=pack, fixtures={})
        assert oracle.kind == "endpoint"
        assert service.server.connections == 0


def test_packs_with_a_backend_load_none_of_it() -> None:
    """The models and the seam of oracles import neither HTTP nor TLS."""
    code = (
        "import sys, averment.oracle.oracles, averment.oracle.model.pack\n"
        "print({'ssl', 'http.client', 'socket'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
