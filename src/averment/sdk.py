"""Evidence from what the SDKs of agents hand out: lists of messages, histories, results of runs.

    from averment import sdk

    evidence = sdk.openai(messages, response=response, tools=tools, conversation_id="call-17")
    evidence = sdk.pydantic_ai(result)

No SDK is imported. Dictionaries are taken as they are, objects are opened by their fields, and both are read as a file
of the same content would be. Whatever is no JSON value is refused, with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, Unpack

from averment.errors import EvidenceError, Problem
from averment.evidence import Evidence
from averment.evidence.objects import opened
from averment.evidence.plain import plain

__all__ = [
    "Facts",
    "anthropic",
    "langchain",
    "livekit",
    "openai",
    "openai_agents",
    "pipecat",
    "pydantic_ai",
]


class Facts(TypedDict, total=False):
    """What a caller knows of a conversation that no list of messages says.

    Attributes:
        conversation_id: its id.
        state: records of the systems of record, `{resource: rows}` or `{resource: {before: rows, after: rows}}`.
        metadata: facts about it, an object.
        labels: labels of it, an object.
    """

    conversation_id: str | None
    state: Any
    metadata: Mapping[str, Any] | None
    labels: Mapping[str, Any] | None


def openai(
    messages: Any = None, *, response: Any = None, tools: Any = None, **facts: Unpack[Facts]
) -> Evidence:
    """A conversation with OpenAI's API, or one that is like it: chat completions or responses.

    Args:
        messages: the `messages` of chat completions, or the `input` of responses.
        response: the last response, unless its messages are in `messages`; one that is there is not read twice.
        tools: the tools that were offered, `[]` for none. Where no call was made, they tell that one could have been.
        facts: what else is known, see `Facts`.

    Raises:
        EvidenceError: something can't be read.
    """
    given, answer = _values(messages=messages, response=response)
    if _is_of_responses(given, answer):
        if _holds(given, answer.get("output")):
            answer.pop("output")
        return _body("openai_responses", "input", given, answer, others={"tools": tools}, facts=facts)
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and _ends_with(given, first.get("message")):
        answer.pop("choices")
    return _body("openai_chat", "messages", given, answer, others={"tools": tools}, facts=facts)


def anthropic(
    messages: Any = None,
    *,
    response: Any = None,
    system: Any = None,
    tools: Any = None,
    **facts: Unpack[Facts],
) -> Evidence:
    """A conversation with Anthropic's API.

    Args:
        messages: the `messages` of the request.
        response: the last response, a message; one that is in `messages` is not read twice.
        system: the system prompt.
        tools: the tools that were offered, `[]` for none. Where no call was made, they tell that one could have been.
        facts: what else is known, see `Facts`.

    Raises:
        EvidenceError: something can't be read.
    """
    given, answer = _values(messages=messages, response=response)
    if _ends_with(given, answer):
        answer.pop("content")
    return _body(
        "anthropic", "messages", given, answer, others={"system": system, "tools": tools}, facts=facts
    )


def langchain(messages: Any, **facts: Unpack[Facts]) -> Evidence:
    """A conversation of LangChain or LangGraph.

    Args:
        messages: a list of messages, the state of a graph, which is what `invoke` gives, or a snapshot of it. What
            else a state holds becomes metadata.
        facts: what else is known, see `Facts`. The id of a snapshot is that of its thread.

    Raises:
        EvidenceError: something can't be read.
    """
    state = messages
    if not (_is_list(state) or isinstance(state, Mapping)):
        config = getattr(state, "config", None)
        state = getattr(state, "values", getattr(state, "value", state))
        thread = config.get("configurable", {}).get("thread_id") if isinstance(config, Mapping) else None
        if isinstance(thread, str) and facts.get("conversation_id") is None:
            facts["conversation_id"] = thread
    if not _is_list(state):
        state = _top(state)
    if isinstance(state, Mapping):
        value: Any = {**state, "messages": _each(state.get("messages"), _of_langchain)}
    else:
        value = _each(state, _of_langchain)
    return Evidence.from_value(value, from_format="langchain", **facts)


def pydantic_ai(result: Any, **facts: Unpack[Facts]) -> Evidence:
    """A conversation of Pydantic AI.

    Args:
        result: the result of a run, of which all messages are read; a list of messages; or the JSON that
            `all_messages_json()` gives.
        facts: what else is known, see `Facts`.

    Raises:
        EvidenceError: something can't be read.
    """
    if isinstance(result, (bytes, str)):
        from averment.evidence.decode import decode

        result = decode(result.encode() if isinstance(result, str) else result, None).value
    messages = result.all_messages() if _has(result, "all_messages") else result
    return Evidence.from_value(_each(messages, _of_pydantic), from_format="pydantic_ai", **facts)


def openai_agents(result: Any, **facts: Unpack[Facts]) -> Evidence:
    """A conversation of the OpenAI Agents SDK.

    Args:
        result: the result of a run, which also says who handed over to whom; or a list of items, such as
            `result.to_input_list()` and `await session.get_items()` give; or a run state.
        facts: what else is known, see `Facts`.

    Raises:
        EvidenceError: something can't be read.
    """
    if hasattr(result, "new_items") and hasattr(result, "input"):
        items = _each(result.new_items, _of_agents)
        run = {"original_input": result.input, "generated_items": items}
        for key in ("conversation_id", "previous_response_id"):  # a history that is on the server
            run[key] = getattr(result, f"_{key}", None)
        return Evidence.from_value(run, from_format="openai_agents", **facts)
    if _has(result, "to_json"):
        result = result.to_json()
    if _is_list(result):
        return Evidence.from_value({"input": result}, from_format="openai_responses", **facts)
    return Evidence.from_value(result, from_format="openai_agents", **facts)


def livekit(history: Any, **facts: Unpack[Facts]) -> Evidence:
    """A conversation of LiveKit Agents.

    Args:
        history: a session, its history or another chat context, its report, the result of a run in a test, the event
            of tools that were executed, or a list of items.
        facts: what else is known, see `Facts`.

    Raises:
        EvidenceError: something can't be read.
    """
    value = history
    if hasattr(history, "chat_history"):
        known = ("job_id", "room_id", "room", "duration", "started_at", "timestamp")
        value = {key: getattr(history, key) for key in known if hasattr(history, key)}
        value["chat_history"] = {"items": _each(history.chat_history.items, _of_livekit)}
        value["events"] = [
            {"type": "close", "reason": event.reason, "created_at": event.created_at}
            for event in getattr(history, "events", ())
            if getattr(event, "type", None) == "close"
        ]
    elif hasattr(history, "function_calls"):
        lists = ("function_calls", "function_call_outputs")
        value = {key: _each(getattr(history, key), _of_livekit) for key in lists}
    elif _is_list(history):
        value = {"items": _each(history, _of_livekit)}
    elif not isinstance(history, Mapping):
        holder = getattr(history, "history", history)
        key = "items" if hasattr(holder, "items") else "events"
        value = {key: _each(getattr(holder, key, None), _of_livekit)}
        said = getattr(holder, "_user_input", None)  # what a run began with is none of its events
        if isinstance(said, str) and isinstance(value[key], list):
            value[key].insert(0, {"type": "message", "role": "user", "content": [said]})
    return Evidence.from_value(value, from_format="livekit", **facts)


def pipecat(context: Any, **facts: Unpack[Facts]) -> Evidence:
    """A conversation of Pipecat.

    Args:
        context: the context of the LLM, a list of its messages, or a list of turns as the events of turns and the
            transcript processor give them.
        facts: what else is known, see `Facts`.

    Raises:
        EvidenceError: something can't be read.
    """
    if _has(context, "get_messages"):
        context = context.get_messages()
    value = context if isinstance(context, Mapping) else {"messages": _each(context, _of_pipecat)}
    return Evidence.from_value(value, from_format="pipecat", **facts)


def _body(
    form: str,
    key: str,
    given: Any,
    answer: dict[str, Any],
    *,
    others: Mapping[str, Any],
    facts: Facts,
) -> Evidence:
    """What was asked and what was answered, as the bodies of one exchange."""
    request = {key: given, **others}
    request = {name: value for name, value in request.items() if value is not None}
    if not answer:
        return Evidence.from_value(request, from_format=form, **facts)
    return Evidence.from_value({"request": request, "response": answer}, from_format=form, **facts)


def _values(*, messages: Any, response: Any) -> tuple[Any, dict[str, Any]]:
    """What was said and the response to it as JSON values."""
    if messages is None and response is None:
        message, mend = "neither messages nor a response are given", "Give the messages of the conversation."
        raise EvidenceError(Problem(code="no_evidence", message=message, mend=mend))
    answer = plain(_top(response), opened)[0] if response is not None else {}
    if not isinstance(answer, dict):
        raise EvidenceError(
            Problem(
                code="wrong_type",
                message="this is no response",
                path="$.response",
                expected="an object",
                found=type(response).__name__,
            )
        )
    return plain(messages, opened)[0], answer


def _is_of_responses(given: Any, answer: dict[str, Any]) -> bool:
    """Whether this is of the Responses API, and not of chat completions."""
    from averment.evidence.readers.response_items import is_items

    if answer:
        return "output" in answer and "choices" not in answer
    return isinstance(given, str) or is_items(given)


def _holds(given: Any, output: Any) -> bool:
    """Whether the items of a response are among those of a request, by their ids."""
    if not isinstance(given, list) or not isinstance(output, list) or not output:
        return False
    ids = {_id_of(item) for item in given} - {None}
    return ids.issuperset(map(_id_of, output))


def _id_of(item: Any) -> str | None:
    key = item.get("id") or item.get("call_id") if isinstance(item, dict) else None
    return key if isinstance(key, str) else None


def _ends_with(messages: Any, reply: Any) -> bool:
    """Whether the agent's last message is this reply: a caller may have added it before the tools answered."""
    if not isinstance(messages, list) or not isinstance(reply, dict) or not reply.get("role"):
        return False
    for back, message in enumerate(reversed(messages)):
        if isinstance(message, dict) and message.get("role") == reply["role"]:
            told, calls = _told(reply)
            return (told, calls) == _told(message) and (back == 0 or bool(calls))
    return False


def _told(message: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """What a message says and the ids of the calls that it asks for, whatever else its SDK writes down."""
    content, calls = message.get("content"), message.get("tool_calls")
    parts = content if isinstance(content, list) else [{"text": content}] if content else []
    objects = [part for part in parts if isinstance(part, dict)]
    ids = [part.get("id") for part in objects if part.get("id")]
    ids += (
        [call.get("id") for call in calls or () if isinstance(call, dict)] if isinstance(calls, list) else []
    )
    return [part["text"] for part in objects if part.get("text")], ids


def _of_langchain(message: Any) -> Any:
    held = _top(message)
    if held is message or not isinstance(held, dict):
        return message
    if held.get("artifact") is not None:  # whatever a tool keeps for the program; no reader looks at it
        held["artifact"] = type(held["artifact"]).__name__
    return held


def _of_pydantic(message: Any) -> Any:
    held = _top(message)
    if held is message or not isinstance(held, dict):
        return message
    held.pop("metadata", None)  # whatever the program keeps there, the model is not told
    if "parts" in held:
        held["parts"] = _each(held["parts"], _of_pydantic)
    return held


def _of_agents(item: Any) -> Any:
    held = {"type": getattr(item, "type", None), "raw_item": getattr(item, "raw_item", item)}
    for key in ("agent", "source_agent", "target_agent"):
        name = getattr(getattr(item, key, None), "name", None)
        if isinstance(name, str):
            held[key] = {"name": name}
    return held


def _of_livekit(item: Any) -> Any:
    item = getattr(item, "item", item)  # an event of a run has the item in it
    held = _top(item)
    if held is item or not isinstance(held, dict):
        return item
    for key in ("extra", "metrics"):
        if not held.get(key):
            held.pop(key, None)
    if "content" in held:
        held["content"] = _each(held["content"], _part_of_livekit)
    return held


def _part_of_livekit(part: Any) -> Any:
    """A part of a message without its pictures and sounds."""
    kind = getattr(part, "type", None)
    return part if kind is None else {"type": kind, "transcript": getattr(part, "transcript", None)}


def _of_pipecat(message: Any) -> Any:
    held = _top(message)
    if held is message or not isinstance(held, dict):
        return message
    if held.keys() == {"llm", "message"}:
        return {"llm": held["llm"], "message": None}  # one provider's own, which no reader looks at
    speaker = next(
        (role for role in ("user", "assistant") if type(message).__name__.lower().startswith(role)), None
    )
    return held if "role" in held or speaker is None else {"role": speaker, **held}


def _top(value: Any) -> Any:
    """An object as a mapping of its fields; what is no object, or can't be opened, as it is."""
    if value is None or isinstance(value, (str, int, float, dict, list)):
        return value
    try:
        return opened(value)
    except Exception:  # noqa: BLE001 - it is refused where it is copied, by its place
        return value


def _each(values: Any, of: Any) -> Any:
    is_many = isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping))
    return [of(value) for value in values] if is_many else values


def _is_list(value: Any) -> bool:
    """Whether this is a list; a tuple with names for its parts is an object."""
    return isinstance(value, (list, tuple)) and not hasattr(type(value), "_fields")


def _has(value: Any, method: str) -> bool:
    return callable(getattr(type(value), method, None))
