"""Gemini contents: `[{role, parts}]`, requests `{contents, systemInstruction, tools}`, responses `{candidates}`.

Keys are written in camel case or in snake case. A `functionCall` is answered by the `functionResponse` of its id, or
of its name in the same step where there are no ids. By the API's convention a response says what went wrong under
`error` and what came out under `output`; one with neither doesn't say how the call went. Code that the model runs is
a call of `code_execution`.

Known gaps: contents have no times. Of several candidates the first is read. Thoughts, images and files are not read;
a note counts each.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import (
    Limits,
    bodies,
    finish,
    in_turn,
    keep,
    limit_history,
    no_list,
    nothing_in,
    text_of,
)
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE
from averment.evidence.readers.transcript import role_of

__all__ = ["LIMITS", "assembled", "converse", "fits", "prompt", "read", "reply"]

LIMITS = Limits(
    tools="Log the request with its `tools`, and all parts of the contents.",
    failures="Have functions answer with `output`, or with `error` where they fail, as the API documents.",
    writes_arguments=True,
)

_TRIED = 50
_PARTS = frozenset(
    {
        *("text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData"),
        *("inline_data", "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult"),
        *("code_execution_result", "thought", "thoughtSignature", "thought_signature", "videoMetadata"),
    }
)
_OTHERS = {"inlineData": "an inline file", "inline_data": "an inline file"} | dict.fromkeys(
    ("fileData", "file_data"), "a file part"
)
_KEPT = ("model", "tools", "modelVersion", "model_version", "usageMetadata", "usage_metadata", "finishReason")
_RECORD_KEYS = frozenset(
    {"contents", "candidates", "systemInstruction", "system_instruction", "request", "response", "metadata"}
    | {"responseId", "response_id", "generationConfig", "generation_config", "config", "safetySettings"}
)


def fits(value: Any) -> str | None:
    """Why this looks like Gemini contents, or None."""
    if isinstance(value, dict):
        return _fits_body(value)
    if not isinstance(value, list) or not value:
        return None
    if _is_contents(value) and all("role" in item for item in value[:_TRIED]):
        return "its items have a role and `parts`"
    if _is_chunks(value):
        return "its items are chunks with `candidates`"
    return None


def _is_chunks(value: list[Any]) -> bool:
    """Whether this is one streamed response, and not several whole ones: those end, each with an id of its own."""
    if len(value) < 2 or not all(isinstance(item, dict) and _has_candidates(item) for item in value):
        return False
    ids = {str(item.get("responseId", item.get("response_id"))) for item in value}
    ends = [item for item in value if _reason(item) is not None]
    return len(ids) == 1 and (ids != {"None"} or len(ends) < 2)


def _reason(body: dict[str, Any]) -> Any:
    return body["candidates"][0].get("finishReason", body["candidates"][0].get("finish_reason"))


def _fits_body(value: dict[str, Any]) -> str | None:
    if "events" in value or "messages" in value:
        return None
    if "contents" in value:
        return "its `contents` have `parts`" if _is_contents(value["contents"]) else None
    if _has_candidates(value):
        return "its `candidates` have a content"
    request, response = value.get("request"), value.get("response")
    if isinstance(request, dict) and isinstance(response, dict) and _has_candidates(response):
        return "its `request` has contents, its `response` candidates" if "contents" in request else None
    return None


def _is_contents(value: Any) -> bool:
    """Whether this is a list of contents; the API has new kinds of parts from time to time."""
    if not isinstance(value, list) or not value or not all(_is_content(item) for item in value[:_TRIED]):
        return False
    parts = [part for item in value[:_TRIED] for part in item["parts"][:_TRIED]]
    return not parts or any(not _PARTS.isdisjoint(part) for part in parts)


def _is_content(item: Any) -> bool:
    parts = item.get("parts") if isinstance(item, dict) else None
    return isinstance(parts, list) and all(
        isinstance(part, dict) and "type" not in part and "kind" not in part and "part_kind" not in part
        for part in parts[:_TRIED]
    )


def _has_candidates(value: dict[str, Any]) -> bool:
    candidates = value.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    return isinstance(first, dict) and (
        "content" in first or "finishReason" in first or "finish_reason" in first
    )


def read(part: Part, draft: Draft) -> None:
    """Read one conversation: contents, a request, a response or both, or the chunks of a response."""
    value = part.value
    dialogue = Dialogue(draft, part)
    if isinstance(value, list) and _is_chunks(value):
        body = msgspec.structs.replace(part, value=assembled(value), lines=None)
        count = reply(body, dialogue, draft)
        _finish(dialogue, draft, shows_tools=True, requested=False, replied=True)
        draft.account(part.source, records=len(value), read=len(value) if count else 0)
    elif isinstance(value, list):
        count = converse(part, dialogue, draft)
        _finish(dialogue, draft, shows_tools=False, requested=True, replied=False)
        draft.account(part.source, records=len(value), read=count)
    elif isinstance(value, dict):
        _read_body(part, dialogue, draft)
    else:
        no_list(part, draft, "contents")


def _read_body(part: Part, dialogue: Dialogue, draft: Draft) -> None:
    value = part.value
    request, response = bodies(part)
    requested, replied = "contents" in request.value, "candidates" in response.value
    if not requested and not replied:
        nothing_in(part, draft, "`contents` or `candidates`")
        return
    prompt(request, dialogue, draft)
    records = count = 0
    if requested:
        contents = request.at("contents")
        count += converse(contents, dialogue, draft)
        records += len(contents.value) if isinstance(contents.value, list) else 1
    if replied:
        count += reply(response, dialogue, draft)
        records += 1
    for body in (request, response, part):
        keep(draft, body.value, (*_KEPT, "metadata", "responseId", "response_id"))
    draft.drop_rest(value, _RECORD_KEYS | {*_KEPT}, part.loc())
    offers = isinstance(request.value.get("tools"), list) or not requested
    _finish(dialogue, draft, shows_tools=offers, requested=requested, replied=replied)
    draft.account(part.source, records=records, read=count)


def _finish(dialogue: Dialogue, draft: Draft, *, shows_tools: bool, requested: bool, replied: bool) -> None:
    finish(dialogue, draft, LIMITS, shows_tools=shows_tools, is_last_word=not replied, flags_some=True)
    if not requested:
        limit_history(
            draft, "a response holds nothing of what was said before it", "Log the requests as well."
        )


def prompt(request: Part, dialogue: Dialogue, draft: Draft) -> None:
    """Read the system instruction of a request body."""
    key = "systemInstruction" if "systemInstruction" in request.value else "system_instruction"
    given, loc = request.value.get(key), f"{request.loc()}.{key}"
    parts = given.get("parts") if isinstance(given, dict) else given
    if type(parts) is str:
        parts = [{"text": parts}]
    if isinstance(parts, list) and parts:
        dialogue.turn("system", text_of(parts, loc, draft), loc, said=False)


_CONTENT_KEYS = frozenset({"role", "parts"})


def converse(messages: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read a list of contents into a dialogue; how many of them could be read."""
    if type(messages.value) is str:
        dialogue.turn("user", messages.value, messages.loc())
        return 1
    return in_turn(messages, draft, lambda item, loc: _content(item, loc, dialogue, draft))


def reply(body: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read the first candidate of a response body into a dialogue; 1 when it could be read, else 0."""
    candidates, place = body.value.get("candidates"), f"{body.loc()}.candidates"
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        draft.note("message_unreadable", place, "the response has no candidate with a content")
        return 0
    for _ in candidates[1:]:
        draft.drop("a further candidate", place)
    keep(draft, candidates[0], ("finishReason", "finish_reason"))
    content = candidates[0].get("content")
    if content is None:
        draft.note("no_content", place, "the candidate has no content, as when an answer is blocked", "info")
        return 1
    return _content(content, f"{place}[0].content", dialogue, draft, role="model")


def _content(item: Any, loc: str, dialogue: Dialogue, draft: Draft, *, role: str = "user") -> int:
    parts = item.get("parts") if type(item) is dict else None
    if type(item) is not dict or not (parts is None or type(parts) is list):
        draft.note("message_unreadable", loc, "a content is no object with a list of parts")
        return 0
    draft.drop_rest(item, _CONTENT_KEYS, loc)
    role_raw = item.get("role")
    if role_raw is not None and type(role_raw) is not str:
        draft.note("role_not_text", loc, f"the role is {kind_of(role_raw)}, so it is unknown")
        role_raw = None
    elif role_raw is None:
        role_raw = role
    is_agent = role_of(role_raw) == "agent"
    if is_agent:
        dialogue.step()
    run: list[str] = []
    others = said = 0
    for index, part in enumerate(parts or ()):
        place = f"{loc}.parts[{index}]"
        if type(part) is not dict:
            draft.note("text_not_text", place, f"a part is {kind_of(part)}, so it is left out")
        elif part.get("thought") is True:
            draft.drop("a reasoning part", place)
        elif type(part.get("text")) is str:
            run.append(part["text"])
        else:
            if run and _is_call(part):
                said += _say(dialogue, role_raw, run, loc)
            others += _part(part, place, dialogue, draft)
    said += _say(dialogue, role_raw, run, loc)
    if not said and not others and not is_agent:
        dialogue.turn(role_raw, "", loc)
    return 1


def _say(dialogue: Dialogue, role: str | None, run: list[str], loc: str) -> int:
    if not run:
        return 0
    text = ("" if role_of(role) == "agent" else "\n").join(run)  # the model's texts are one, cut up
    run.clear()
    if text:
        dialogue.turn(role, text, loc)
    return bool(text)


def _is_call(part: dict[str, Any]) -> bool:
    return any("call" in key.casefold() or "code" in key.casefold() for key in part)


def _part(part: dict[str, Any], loc: str, dialogue: Dialogue, draft: Draft) -> bool:
    """Read a part that is no text; whether it was a call or an answer."""
    call = part.get("functionCall", part.get("function_call"))
    answer = part.get("functionResponse", part.get("function_response"))
    code = part.get("executableCode", part.get("executable_code"))
    outcome = part.get("codeExecutionResult", part.get("code_execution_result"))
    if type(call) is dict:
        arguments = call.get("args")
        dialogue.request(call.get("name"), {} if arguments is None else arguments, loc, own=call.get("id"))
    elif type(answer) is dict:
        name = answer.get("name")
        name = name if type(name) is str else None
        _answer(answer.get("response"), loc, dialogue, own=answer.get("id"), name=name)
    elif type(code) is dict:
        dialogue.request("code_execution", code, loc)
    elif type(outcome) is dict:
        how = outcome.get("outcome")
        status: ToolCallStatus = (
            "ok" if how == "OUTCOME_OK" else "timeout" if how == "OUTCOME_DEADLINE_EXCEEDED" else "error"
        )
        dialogue.answer(outcome.get("output"), loc, name="code_execution", status=status)
    else:
        if call is not None or answer is not None:
            draft.note("calls_unreadable", loc, "a call or an answer is no object, so it is left out")
        what = next((_OTHERS[key] for key in part if key in _OTHERS), "a part that is no text")
        if part.keys() <= _PARTS:
            draft.drop(what, loc)
        else:
            draft.note(UNKNOWN_TYPE, loc, "a part is of a kind that is not known, so it is left out")
        return False
    return True


def _answer(response: Any, loc: str, dialogue: Dialogue, *, own: Any, name: str | None) -> None:
    error = response.get("error") if type(response) is dict else None
    flagged = type(response) is dict and ("output" in response or error is not None)
    status: ToolCallStatus = "error" if error else "ok" if flagged else "executed"
    dialogue.answer(response, loc, own=own, name=name, status=status, error=error or UNSET)


def assembled(chunks: list[Any]) -> dict[str, Any]:
    """A streamed response as a body: the parts of its first candidate, in order."""
    body: dict[str, Any] = {}
    parts: list[Any] = []
    first: dict[str, Any] = {}
    for chunk in chunks:
        if not isinstance(chunk, dict):
            continue
        body |= {key: each for key, each in chunk.items() if key != "candidates" and each is not None}
        candidates = chunk.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict):
            continue
        first |= {key: each for key, each in candidate.items() if key != "content"}
        content = candidate.get("content")
        found = content.get("parts") if isinstance(content, dict) else None
        parts += found if isinstance(found, list) else []
    return body | {"candidates": [{**first, "content": {"role": "model", "parts": parts}}]}
