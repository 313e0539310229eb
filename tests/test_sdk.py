"""The helpers for SDKs, tried with stand-ins that look like the objects of these SDKs."""

from __future__ import annotations

import enum
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import pytest
from msgspec import UNSET

import averment
from averment import sdk
from averment.evidence import Evidence
from samples import sample


class Model:
    """An object like a pydantic model: it shows its fields by name, and has whatever it was given."""

    __pydantic_fields__: ClassVar[dict[str, Any]] = {}
    __pydantic_extra__ = None

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __init_subclass__(cls, fields: str = "") -> None:
        cls.__pydantic_fields__ = {name: SimpleNamespace(alias=None) for name in fields.split()}


def told(evidence: Evidence) -> tuple[list[Any], list[Any]]:
    """What was said, by the roles as read, and what was called."""
    turns = [(turn.role, turn.text) for turn in evidence.model.turns or ()]
    calls = [
        (call.id, call.name, call.args, call.status, None if call.result is UNSET else call.result)
        for call in evidence.model.calls or ()
    ]
    return turns, calls


SAID = [("user", "Refund A-17"), ("agent", "I have refunded it.")]
REFUNDED = ("c1", "refund", {"order": "A-17"}, "ok", {"ok": True})
ARGUMENTS = '{"order": "A-17"}'


# OpenAI


class Message(Model, fields="role content tool_calls refusal"):
    pass


class ToolCall(Model, fields="id type function"):
    pass


class Function(Model, fields="name arguments"):
    pass


class Choice(Model, fields="index finish_reason message"):
    pass


class Completion(Model, fields="id object created model choices usage"):
    pass


def completion(message: Message) -> Completion:
    choice = Choice(index=0, finish_reason="stop", message=message)
    return Completion(id="chatcmpl-1", object="chat.completion", created=1, model="gpt-x", choices=[choice])


ASKS = Message(
    role="assistant",
    content=None,
    tool_calls=[ToolCall(id="c1", type="function", function=Function(name="refund", arguments=ARGUMENTS))],
    refusal=None,
)
SAYS = Message(role="assistant", content="I have refunded it.", tool_calls=None, refusal=None)
CHAT: list[Any] = [
    {"role": "user", "content": "Refund A-17"},
    ASKS,
    {"role": "tool", "tool_call_id": "c1", "content": '{"ok": true}'},
]


@pytest.mark.parametrize(
    "messages", [CHAT, [*CHAT, SAYS], [*CHAT, {"role": "assistant", "content": SAYS.content}]]
)
def test_openai_chat(messages: list[Any]) -> None:
    """Messages and the last response, which counts once when the caller has added it already."""
    evidence = sdk.openai(messages, response=completion(SAYS))
    assert told(evidence) == (SAID, [REFUNDED])
    assert evidence.model.metadata is not None
    assert evidence.model.metadata["model"] == "gpt-x"


def test_openai_chat_before_the_tools_answer() -> None:
    """A response that asks for calls, added to the messages before their answers, is there once."""
    evidence = sdk.openai(CHAT, response=completion(ASKS))
    assert told(evidence)[1] == [REFUNDED]


def test_openai_says_the_same_again() -> None:
    """Two equal sentences are two, when the user spoke between them."""
    messages = [{"role": "user", "content": "a"}, SAYS, {"role": "user", "content": "b"}]
    turns, _ = told(sdk.openai(messages, response=completion(SAYS)))
    assert [text for _, text in turns].count("I have refunded it.") == 2


def test_openai_tools_tell_that_none_was_called() -> None:
    """Without a call, the tools that were offered say whether one could have been seen."""
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]
    assert sdk.openai(messages).model.coverage.requests.state == "absent"
    assert sdk.openai(messages, tools=[]).model.coverage.requests.state == "empty"


class Item(Model, fields="type id call_id name arguments role status content"):
    pass


class Part(Model, fields="type text annotations"):
    pass


class Response(Model, fields="id object model output tools previous_response_id"):
    pass


ASKED = Item(
    type="function_call", id="fc1", call_id="c1", name="refund", arguments=ARGUMENTS, status="completed"
)
SPOKEN = Item(
    type="message",
    id="m1",
    role="assistant",
    status="completed",
    content=[Part(type="output_text", text="I have refunded it.", annotations=[])],
)
ITEMS: list[Any] = [
    {"role": "user", "content": "Refund A-17"},
    ASKED,
    {"type": "function_call_output", "call_id": "c1", "output": '{"ok": true}'},
]


def response(*output: Item, previous: str | None = None) -> Response:
    return Response(
        id="resp_1",
        object="response",
        model="gpt-x",
        output=list(output),
        tools=[],
        previous_response_id=previous,
    )


@pytest.mark.parametrize("items", [ITEMS, [*ITEMS, SPOKEN]])
def test_openai_responses(items: list[Any]) -> None:
    """Items of the Responses API and the last response, which counts once."""
    assert told(sdk.openai(items, response=response(SPOKEN))) == (SAID, [REFUNDED])


def test_openai_responses_of_a_text() -> None:
    """The input may be a text; what the server keeps of the history is not here."""
    assert told(sdk.openai("Refund A-17", response=response(SPOKEN))) == (SAID, [])
    kept = sdk.openai("And A-18?", response=response(SPOKEN, previous="resp_0"))
    assert kept.model.coverage.executions.state == "partial"


def test_openai_needs_something() -> None:
    """Neither messages nor a response is no evidence, and a text is no response."""
    with pytest.raises(averment.EvidenceError, match="neither messages nor a response"):
        sdk.openai()
    with pytest.raises(averment.EvidenceError, match="this is no response"):
        sdk.openai([], response="Done.")


# Anthropic


class Block(Model, fields="type text id name input citations thinking"):
    pass


class AnthropicMessage(Model, fields="id type role model content stop_reason usage"):
    pass


def claude(*content: Block) -> AnthropicMessage:
    return AnthropicMessage(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-x",
        content=list(content),
        stop_reason="end_turn",
    )


USES = Block(type="tool_use", id="c1", name="refund", input={"order": "A-17"})
TEXT = Block(type="text", text="I have refunded it.", citations=None)


@pytest.mark.parametrize("added", [(), ({"role": "assistant", "content": [TEXT]},)])
def test_anthropic(added: tuple[Any, ...]) -> None:
    """Blocks are objects in dictionaries; a result with `is_error` is a failure."""
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "no such order", "is_error": True}
    messages = [
        {"role": "user", "content": "Refund A-17"},
        {"role": "assistant", "content": [USES]},
        {"role": "user", "content": [result]},
        *added,
    ]
    evidence = sdk.anthropic(messages, response=claude(TEXT), system="Be brief.", tools=[])
    turns, calls = told(evidence)
    assert turns == [("system", "Be brief."), *SAID]
    assert calls == [("c1", "refund", {"order": "A-17"}, "error", "no such order")]


def test_anthropic_response_alone() -> None:
    """What was said before it is not there."""
    assert sdk.anthropic(response=claude(TEXT)).model.coverage.transcript.state == "partial"


# LangChain


class BaseMessage(Model, fields="type content id additional_kwargs"):
    pass


class Human(BaseMessage, fields="type content id additional_kwargs"):
    pass


class AI(BaseMessage, fields="type content id tool_calls invalid_tool_calls"):
    pass


class Tool(BaseMessage, fields="type content id tool_call_id status artifact name"):
    pass


LANGCHAIN = [
    Human(type="human", content="Refund A-17", id=None, additional_kwargs={}),
    AI(
        type="ai", content="", id="r1", tool_calls=[{"name": "refund", "args": {"order": "A-17"}, "id": "c1"}]
    ),
    Tool(
        type="tool",
        content='{"ok": true}',
        tool_call_id="c1",
        status="success",
        artifact=object(),
        name="refund",
    ),
    AI(type="ai", content="I have refunded it.", id="r2", tool_calls=[], invalid_tool_calls=[]),
]


class Snapshot(NamedTuple):
    values: Any
    config: Any


@dataclass
class State:
    messages: list[BaseMessage]


@pytest.mark.parametrize(
    "value",
    [
        LANGCHAIN,
        tuple(LANGCHAIN),
        {"messages": LANGCHAIN},
        State(LANGCHAIN),
        Snapshot({"messages": LANGCHAIN}, {"configurable": {"thread_id": "t-1"}}),
        SimpleNamespace(value={"messages": LANGCHAIN}),
    ],
)
def test_langchain(value: Any) -> None:
    """Messages, states and snapshots; what a tool keeps for the program is not looked into."""
    evidence = sdk.langchain(value)
    assert told(evidence) == (SAID, [(*REFUNDED[:3], "ok", {"ok": True})])
    assert "an artifact of a tool is not read" in {note.detail for note in evidence.model.notes}
    assert evidence.model.conversation_id == ("t-1" if isinstance(value, Snapshot) else None)


def test_langchain_state_is_kept() -> None:
    """What else a state holds is metadata; the caller's id counts more than the thread's."""
    snapshot = Snapshot({"messages": LANGCHAIN, "step": 2}, {"configurable": {"thread_id": "t-1"}})
    model = sdk.langchain(snapshot, conversation_id="mine").model
    assert (model.metadata, model.conversation_id) == ({"step": 2}, "mine")


# Pydantic AI


@dataclass
class UserPromptPart:
    content: Any
    part_kind: str = "user-prompt"


@dataclass
class TextPart:
    content: str
    part_kind: str = "text"


@dataclass
class ToolCallPart:
    tool_name: str
    args: Any
    tool_call_id: str
    part_kind: str = "tool-call"


@dataclass
class ToolReturnPart:
    tool_name: str
    content: Any
    tool_call_id: str
    metadata: Any = None
    outcome: str = "success"
    part_kind: str = "tool-return"


@dataclass
class Request:
    parts: list[Any]
    kind: str = "request"
    metadata: Any = field(default_factory=object)


@dataclass
class Answer:
    parts: list[Any]
    kind: str = "response"


@dataclass
class Refund:
    ok: bool


class RunResult:
    def all_messages(self) -> list[Any]:
        return [
            Request([UserPromptPart("Refund A-17")]),
            Answer([ToolCallPart("refund", ARGUMENTS, "c1")]),
            Request([ToolReturnPart("refund", Refund(ok=True), "c1", metadata=object())]),
            Answer([TextPart("I have refunded it.")]),
        ]


@pytest.mark.parametrize("value", [RunResult(), RunResult().all_messages()])
def test_pydantic_ai(value: Any) -> None:
    """The result of a run or its messages; what a tool returns is opened, what the program keeps is not."""
    assert told(sdk.pydantic_ai(value)) == (SAID, [(*REFUNDED[:3], "ok", {"ok": True})])


@pytest.mark.parametrize("of", [bytes, bytes.decode, json.loads])
def test_pydantic_ai_json(of: Callable[[bytes], Any]) -> None:
    """What `all_messages_json()` gives is read as a file is."""
    data = sample("pydantic_ai/messages.json").read_bytes()
    assert sdk.pydantic_ai(of(data)).sha256 == Evidence.from_bytes(data).sha256


# OpenAI Agents


class Agent:
    """An agent, with tools and all: none of its own is evidence."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tools = [object()]


class RunItem:
    def __init__(self, kind: str, raw_item: Any, agent: Agent, **others: Agent) -> None:
        self.type = kind
        self.raw_item = raw_item
        self.agent = agent
        self.__dict__.update(others)


class AgentsResult:
    def __init__(self, **others: Any) -> None:
        front, billing = Agent("front"), Agent("billing")
        self.input = "Refund A-17"
        self.new_items = [
            RunItem("tool_call_item", ASKED, front),
            RunItem("tool_call_output_item", ITEMS[2], front),
            RunItem(
                "handoff_call_item",
                Item(type="function_call", call_id="c2", name="go", arguments="{}"),
                front,
            ),
            RunItem(
                "handoff_output_item",
                {"type": "function_call_output", "call_id": "c2", "output": "billing"},
                *(front,),
                source_agent=front,
                target_agent=billing,
            ),
            RunItem("message_output_item", SPOKEN, billing),
        ]
        self.__dict__.update(others)

    def to_input_list(self) -> list[Any]:
        return [{"role": "user", "content": self.input}, *(item.raw_item for item in self.new_items)]


def test_openai_agents() -> None:
    """A result says who handed over to whom, a list of items only that it was asked for."""
    evidence = sdk.openai_agents(AgentsResult())
    turns, calls = told(evidence)
    assert (turns, calls[0]) == (SAID, REFUNDED)
    assert [(span.type, span.fields) for span in evidence.model.spans or ()] == [
        ("handoff", {"from": "front", "to": "billing"})
    ]
    listed = sdk.openai_agents(AgentsResult().to_input_list())
    assert told(listed) == (turns, calls)
    assert listed.model.spans is None


def test_openai_agents_history_on_the_server() -> None:
    """A run that continues a conversation of the server's does not hold what was before it."""
    evidence = sdk.openai_agents(AgentsResult(_previous_response_id="resp_0"))
    assert evidence.model.coverage.executions.state == "partial"


def test_openai_agents_run_state() -> None:
    """A state of a run writes itself."""

    class RunState:
        def to_json(self) -> dict[str, Any]:
            item = {"type": "message_output_item", "raw_item": {"type": "message", "role": "assistant"}}
            item["raw_item"]["content"] = [{"type": "output_text", "text": "Hi."}]  # type: ignore[index]
            return {"original_input": "Hello?", "generated_items": [item], "$schemaVersion": "1.0"}

    assert told(sdk.openai_agents(RunState()))[0] == [("user", "Hello?"), ("agent", "Hi.")]


# LiveKit


class ChatMessage(Model, fields="id type role content interrupted created_at extra metrics"):
    pass


class FunctionCall(Model, fields="id type call_id name arguments created_at extra"):
    pass


class FunctionCallOutput(Model, fields="id type call_id name output is_error created_at"):
    pass


class AgentHandoff(Model, fields="id type old_agent_id new_agent_id created_at"):
    pass


class AudioContent(Model, fields="type frame transcript"):
    pass


class Reason(enum.Enum):
    HUNG_UP = "participant_disconnected"


def chat(role: str, *content: Any, at: float) -> ChatMessage:
    return ChatMessage(
        id=f"i{at}",
        type="message",
        role=role,
        content=list(content),
        interrupted=False,
        created_at=at,
        extra={},
    )


CALL = FunctionCall(
    id="i3", type="function_call", call_id="c1", name="refund", arguments=ARGUMENTS, created_at=3.0
)
OUTPUT = FunctionCallOutput(
    type="function_call_output",
    call_id="c1",
    name="refund",
    output='{"ok": true}',
    is_error=False,
    created_at=3.5,
)
HEARD = AudioContent(type="audio_content", frame=[object()], transcript="Refund A-17")
HISTORY = [chat("user", HEARD, at=2.0), CALL, OUTPUT, chat("assistant", "I have refunded it.", at=4.0)]


class ChatContext:
    items = HISTORY

    def to_dict(self) -> dict[str, Any]:
        raise AssertionError("it leaves out times and sounds")


def event(item: Any) -> SimpleNamespace:
    return SimpleNamespace(type=item.type, item=item, new_agent=object())


@pytest.mark.parametrize(
    "value",
    [
        ChatContext(),
        HISTORY,
        SimpleNamespace(history=ChatContext()),
        SimpleNamespace(_user_input="Refund A-17", events=[event(item) for item in HISTORY[1:]]),
        SimpleNamespace(chat_history=ChatContext(), job_id="j1", events=[]),
    ],
)
def test_livekit(value: Any) -> None:
    """A context, its items, a session, the result of a run and a report: what was heard is in the transcript."""
    assert told(sdk.livekit(value)) == (SAID, [(*REFUNDED[:3], "ok", {"ok": True})])


def test_livekit_times_and_handoffs() -> None:
    """A history has the times that its own dictionary leaves out."""
    handoff = AgentHandoff(type="agent_handoff", old_agent_id="front", new_agent_id="billing", created_at=5.0)
    model = sdk.livekit([*HISTORY, handoff]).model
    assert [turn.start_ns for turn in model.turns or ()] == [2_000_000_000, 4_000_000_000]
    assert [(call.start_ns, call.end_ns) for call in model.calls or ()] == [(3_000_000_000, 3_500_000_000)]
    assert [span.type for span in model.spans or ()] == ["handoff"]


def test_livekit_report_and_executed_tools() -> None:
    """A report says how the session ended; an event of executed tools is one step of it."""
    close = SimpleNamespace(type="close", reason=Reason.HUNG_UP, created_at=6.0)
    report = SimpleNamespace(
        chat_history=ChatContext(), job_id="j1", events=[SimpleNamespace(type="error"), close]
    )
    model = sdk.livekit(report).model
    assert model.conversation_id == "j1"
    assert [(span.type, span.fields) for span in model.spans or ()] == [
        ("call_ended", {"reason": "participant_disconnected"})
    ]
    step = sdk.livekit(SimpleNamespace(function_calls=[CALL], function_call_outputs=[OUTPUT])).model
    assert (step.turns, step.coverage.executions.state) == (None, "partial")


# Pipecat


@dataclass
class LLMSpecificMessage:
    llm: str
    message: Any


@dataclass
class UserTurnStoppedMessage:
    content: str
    timestamp: str
    user_id: str | None = None


@dataclass
class AssistantTurnStoppedMessage:
    content: str
    timestamp: str


class LLMContext:
    def __init__(self, *more: Any) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": ARGUMENTS}}
        self._messages = [
            {"role": "user", "content": "Refund A-17"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"ok": true}'},
            {"role": "assistant", "content": "I have refunded it."},
            *more,
        ]

    def get_messages(self) -> list[Any]:
        return self._messages


@pytest.mark.parametrize("value", [LLMContext(), LLMContext().get_messages()])
def test_pipecat(value: Any) -> None:
    """A context or its messages; whether a function failed its answer says."""
    evidence = sdk.pipecat(value)
    turns, calls = told(evidence)
    assert (turns, [call[:3] for call in calls]) == (SAID, [REFUNDED[:3]])
    assert evidence.model.coverage.errors.state == "present"


def test_pipecat_message_of_one_provider() -> None:
    """What only one provider understands is not read, and the coverage says so."""
    evidence = sdk.pipecat(LLMContext(LLMSpecificMessage("google", object())))
    assert evidence.model.coverage.requests.state == "partial"


def test_pipecat_turns() -> None:
    """What the events of turns give has no role but the name of its kind."""
    evidence = sdk.pipecat(
        [
            UserTurnStoppedMessage("Refund A-17", "2026-01-05T10:00:00.5+00:00"),
            AssistantTurnStoppedMessage("I have refunded it.", "2026-01-05T10:00:01+00:00"),
        ]
    )
    assert told(evidence) == (SAID, [])
    assert evidence.model.coverage.requests.state == "absent"


# All of them

HELPERS: list[Callable[..., Evidence]] = [
    *(sdk.openai, sdk.anthropic, sdk.langchain, sdk.pydantic_ai, sdk.openai_agents, sdk.livekit, sdk.pipecat)
]


@pytest.mark.parametrize(
    ("helper", "value"),
    [
        (sdk.openai, CHAT),
        (sdk.anthropic, [{"role": "user", "content": "hi"}]),
        (sdk.langchain, LANGCHAIN),
        (sdk.pydantic_ai, RunResult()),
        (sdk.openai_agents, AgentsResult()),
        (sdk.livekit, ChatContext()),
        (sdk.pipecat, LLMContext()),
    ],
)
def test_what_the_caller_knows_is_added(helper: Callable[..., Evidence], value: Any) -> None:
    """Every helper takes the id, the state, metadata and labels."""
    evidence = helper(
        value,
        conversation_id="call-17",
        state={"refunds": [{"order": "A-17"}]},
        metadata={"a": 1},
        labels={"b": 2},
    )
    model = evidence.model
    assert (model.conversation_id, model.labels) == ("call-17", {"b": 2})
    assert model.metadata is not None
    assert model.metadata["a"] == 1
    assert [each.resource for each in model.states or ()] == ["refunds"]


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.parametrize(
    "value", [None, 7, "x", b"x", object(), {}, [], [7], [object()], [[]], {"messages": 7}]
)
def test_something_else_is_refused_or_named(helper: Callable[..., Evidence], value: Any) -> None:
    """Nothing but a refusal is raised, and what is no message becomes no call."""
    try:
        evidence = helper(value)
    except averment.EvidenceError:
        return
    assert not evidence.model.calls


@pytest.mark.parametrize("helper", HELPERS)
def test_an_object_of_which_nobody_can_say_what_it_holds(helper: Callable[..., Evidence]) -> None:
    """It is refused, by its place."""
    with pytest.raises(averment.EvidenceError) as error:
        helper([{"role": "user", "content": object()}])
    (problem,) = error.value.problems
    assert (problem.code, problem.found) == ("not_json", "object")
    assert problem.path is not None
    assert problem.path.endswith("[0].content")


def test_the_objects_are_not_changed() -> None:
    """What the helpers replace, they replace in copies."""
    artifact = LANGCHAIN[2].artifact
    sdk.langchain(LANGCHAIN)
    sdk.livekit(HISTORY)
    assert LANGCHAIN[2].artifact is artifact
    assert HISTORY[0].content == [HEARD]


def test_no_sdk_is_imported() -> None:
    """The helpers know the SDKs' objects by their shape."""
    code = (
        "import sys, averment\n"
        "averment.sdk.openai([{'role': 'user', 'content': 'hi'}])\n"
        "averment.sdk.langchain([{'type': 'human', 'content': 'hi'}])\n"
        "print(sorted(name for name in sys.modules if '.' not in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    sdks = {
        "openai",
        "anthropic",
        "langchain_core",
        "pydantic",
        "pydantic_ai",
        "agents",
        "livekit",
        "pipecat",
    }
    assert sdks.isdisjoint(json.loads(done.stdout.replace("'", '"')))
