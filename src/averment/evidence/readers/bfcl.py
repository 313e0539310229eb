"""Results of the Berkeley Function-Calling Leaderboard (BFCL): JSON lines `{id, result, input_token_count, ...}`.

Each line is a conversation, of which the file has only what the model answered. In function-calling mode `result` is
a list `[{name: "arguments as JSON"}]`; in prompting mode it is text, a Python list of calls or one call, which is read
as literals and never run (`python_calls`). Other text is an utterance of the agent, but for `Error`, which stands where
the model could not be asked. Lists in lists are the turns and
steps of a multi-turn entry.

Known gaps: calls are only asked for. Also in the executable categories the file has no answers, so what was executed,
and how it went, is absent. The questions stand in another file. In function-calling mode names have `_` where the
functions have `.`, and nothing here says which was meant; they are kept as written. Arguments without names can't be
named from the source text alone, and are absent.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import OF_ANSWERS, Draft, Part, kind_of
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.python_calls import PythonCall, looks_like_calls, python_calls

__all__ = ["fits", "read"]

_METADATA = ("id", "input_token_count", "output_token_count", "latency")
_ROW_KEYS = frozenset({"result", *_METADATA})
_QUESTIONS = "the questions of the user stand in another file"
_HOW_QUESTIONS = "Give the messages of the run, or the transcript: `--transcript FILE`."
_HOW_ARGUMENTS = (
    "Have the model name the arguments of its calls, and look at the notes for what can't be read."
)
_ANSWERS = "the file has what the model asked for, and no answer of a tool"
_HOW_ANSWERS = "Add the trace of tool calls: `--trace FILE`."


def fits(value: Any) -> str | None:
    """Why this is one line of results."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None
    if isinstance(value.get("result"), (str, list)) and "input_token_count" in value:
        return "it has `id`, `result` and `input_token_count`"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read one line."""
    row = part.value
    if not isinstance(row, dict) or "result" not in row:
        draft.problems.append(
            part.problem("wrong_type", "a line must be an object with a `result`", found=kind_of(row))
        )
        return
    if type(row.get("id")) is str and row["id"]:
        draft.conversation_id = row["id"]
    draft.metadata = {key: row[key] for key in _METADATA if row.get(key) is not None}
    draft.drop_rest(row, _ROW_KEYS, part.loc())
    dialogue = Dialogue(draft, part)
    unread = _read_result(part.at("result"), dialogue, draft)
    dialogue.finish(records_answers=False, writes_arguments=True, how_arguments=_HOW_ARGUMENTS)
    draft.limit("transcript", "partial", _QUESTIONS, _HOW_QUESTIONS)
    for channel in OF_ANSWERS:
        draft.limit(channel, "absent", _ANSWERS, _HOW_ANSWERS)
    if unread:
        reason = "some of what the model answered can't be read"
        draft.limit("requests", "partial", reason, "See the notes, and mend the source.")
    draft.account(part.source, records=1, read=1)


def _read_result(part: Part, dialogue: Dialogue, draft: Draft) -> bool:
    """Read what the model answered; whether some of it can't be read."""
    unread = False
    pending = [part]
    while pending:
        part = pending.pop()
        value, loc = part.value, part.loc()
        if type(value) is list:
            dialogue.step()
            pending += [part.item(index) for index in reversed(range(len(value)))]
        elif type(value) is dict:
            for name, arguments in value.items():
                dialogue.request(name, arguments, loc)
        elif type(value) is str:
            unread |= _read_text(value, loc, dialogue, draft)
        else:
            draft.note("result_not_read", loc, f"a result is {kind_of(value)}, and is not read")
            unread = True
    return unread


def _read_text(text: str, loc: str, dialogue: Dialogue, draft: Draft) -> bool:
    calls = python_calls(text)
    if calls is not None:
        for call in calls:
            _request(call, loc, dialogue, draft)
        return False
    if text.strip() == "Error" or text.startswith("Error during inference:"):
        draft.note("inference_failed", loc, "the model was asked in vain; this is no answer of its")
        return True
    if text.strip():
        dialogue.turn("assistant", text, loc)
    if not looks_like_calls(text):
        return False
    draft.note("calls_unreadable", loc, "the text looks like calls, and is no list of calls with literals")
    return True


def _request(call: PythonCall, loc: str, dialogue: Dialogue, draft: Draft) -> None:
    if call.arguments is None:
        draft.note("arguments_unreadable", loc, f"the arguments of a call can't be read: {call.problem}")
    dialogue.request(call.name, call.arguments, loc)
