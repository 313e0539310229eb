"""The formats that a conversation can come in: one line each, and no reader is loaded before it is needed.

A reader is a module of `readers` with up to three functions:

* `fits(value)`: why a decoded value is of its format, in words that quote nothing of it, or None. It looks at shape
  alone, and asks for what only its format has.
* `read(part, draft)`: writes one conversation to the draft.
* `split(part)`, where a file can hold several: the parts, one for each conversation, that `read` is given.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from averment.evidence.draft import Draft, Part

__all__ = ["FORMATS", "LISTS", "TEXT", "Format", "by_name"]

TEXT = "<text>"
"""The mark of a format that is plain text and no JSON."""


class Format(msgspec.Struct, frozen=True):
    """A format that a conversation can come in.

    Attributes:
        name: its name, as `Source.format` and `--from` have it.
        title: what it is, for people.
        marks: keys of which one stands in every value of the format, in the object or in the objects of the list,
            or `list.key` for a key in the objects of a list in the object; without marks the reader itself is asked.
        whole: whether one value is a whole conversation, so that a list of such values is several conversations.
    """

    name: str
    title: str
    marks: frozenset[str] = frozenset()
    whole: bool = True

    @property
    def module(self) -> str:
        """The name of the module that reads it."""
        return f"averment.evidence.readers.{_MODULES.get(self.name, self.name)}"

    @property
    def asked(self) -> str:
        """Why a value is read as this format where it was not recognised."""
        return "it was asked for"

    def fits(self, value: Any) -> str | None:
        """Why a decoded value is of this format, or None."""
        why: str | None = _reader(self.module).fits(value)
        return why

    def split(self, part: Part) -> list[Part]:
        """The conversations that a value of this format holds."""
        split = getattr(_reader(self.module), "split", None)
        parts: list[Part] = [part] if split is None else split(part)
        return parts

    def read(self, part: Part, draft: Draft) -> None:
        """Write one conversation to the draft."""
        _reader(self.module).read(part, draft)


@cache
def _reader(module: str) -> Any:
    return import_module(module)


_MODULES = {"evidence": "evidence_json"}
"""The readers whose module is not called like the format."""


def _format(name: str, title: str, *marks: str, whole: bool = True) -> Format:
    return Format(name, title, frozenset(marks), whole)


NATIVE = (
    _format("conversation", "a conversation record {conversation_id, transcript, spans, timing, state, ...}"),
    _format("evidence", "an evidence file, schema averment.evidence.v1"),
    _format("transcript", "a transcript: a list of {role, text, start, end}, or {segments}", whole=False),
    _format(
        "voice_trace",
        "a trace: hotato.voice_trace.v1 JSONL, or a list of spans {type, start_sec, end_sec, ...}",
        whole=False,
    ),
)
"""averment's own shapes and those of the contract. They are loose, so a format with words of its own goes first."""

FORMATS = (
    *NATIVE,
    _format("oracle_trace", "an oracle trace: a list of {tool, arguments, result}", "tool", "trace"),
    _format(
        "openai_chat",
        "OpenAI chat messages, requests and responses",
        *("role", "messages", "choices", "tool_calls", "function_call", "request"),
    ),
    _format(
        "langchain",
        "LangChain and LangGraph messages, and DeepEval traces of them",
        *("type", "lc", "kwargs", "messages", "values", "toolSpans"),
    ),
    _format("pydantic_ai", "Pydantic AI messages", "kind", "messages"),
    _format("anthropic", "Anthropic messages", "role", "messages", "content", "type", "request"),
    _format(
        "openai_responses",
        "OpenAI Responses items, and Codex sessions",
        *("type", "role", "object", "output", "input", "payload", "request"),
    ),
    _format("gemini", "Gemini contents", "role", "parts", "contents", "candidates", "request"),
    _format(
        "adk",
        "ADK sessions, eval sets and eval cases",
        *("events", "eval_cases", "evalCases", "eval_case_results", "evalCaseResults", "conversation"),
        *("author", "query", "data"),
    ),
    _format(
        "openai_agents", "OpenAI Agents SDK run states", "generatedItems", "generated_items", "$schemaVersion"
    ),
    _format(
        "otlp",
        "OTLP traces and logs (JSON; protobuf with the extra `otel`), and Tempo exports",
        *("resourceSpans", "resource_spans", "batches", "trace", "result", "resourceLogs", "resource_logs"),
        *("resourceMetrics", "resource_metrics", "resourceProfiles", "resource_profiles"),
    ),
    _format(
        "otel_spans",
        "flat OpenTelemetry spans, Phoenix and JavaScript spans",
        *("attributes", "span_id", "spanId", "spans.attributes", "spanContext", "context", "data"),
    ),
    _format("jaeger", "Jaeger traces", "data", "traceID"),
    _format("langfuse", "Langfuse traces and observations", "observations", "traceId", "data", "trace"),
    _format("langsmith", "LangSmith runs", "run_type", "post", "patch", "runs"),
    _format(
        "vapi",
        "Vapi calls, messages and webhooks",
        *("message", "artifact", "messages", "endedReason", "secondsFromStart"),
    ),
    _format("retell", "Retell calls and webhooks", "call", "call_id", "transcript_object", "items"),
    _format(
        "elevenlabs",
        "ElevenLabs conversations and webhooks",
        *("transcript.time_in_call_secs", "agent_id", "data", "simulated_conversation"),
    ),
    _format(
        "livekit",
        "LiveKit session reports, chat histories and run results",
        *("items", "chat_history", "function_calls", "history", "events", "created_at"),
    ),
    _format(
        "pipecat",
        "Pipecat transcripts and context messages",
        *("messages", "context", "timestamp", "llm"),
    ),
    _format("bland", "Bland calls", "transcripts", "call_id", "calls"),
    _format("tau_bench", "tau-bench trajectories", "traj", "messages_display"),
    _format("tau2", "tau2-bench simulations", "simulations", "termination_reason", "tasks"),
    _format("agentdojo", "AgentDojo runs", "pipeline_name", "suite_name"),
    _format("inspect", "Inspect logs, .json and .eval", "eval", "events"),
    _format("bfcl", "BFCL results", "input_token_count"),
    _format("atif", "ATIF trajectories", "schema_version", "steps", "parent", "child"),
    _format("claude_code", "Claude Code sessions (JSONL)", "sessionId", "uuid", "type"),
    _format("whisper", "Whisper and WhisperX transcripts", "segments"),
    _format("deepgram", "Deepgram transcripts", "results"),
    _format(
        "assemblyai", "AssemblyAI transcripts", "utterances", "words", "acoustic_model", "language_model"
    ),
    _format(
        "aws_transcribe",
        "AWS Transcribe and Contact Lens",
        *("results", "Transcript", "audio_segments", "alternatives"),
    ),
    _format("subtitles", "WebVTT, SRT and SBV", TEXT),
    _format("har", "HAR archives", "log"),
    _format("vcr", "VCR cassettes", "interactions", "http_interactions"),
    _format(
        "mcp",
        "MCP JSON-RPC logs",
        *("jsonrpc", "entries", "messages", "events", "message", "request", "response", "notification"),
        whole=False,
    ),
)

by_name = {each.name: each for each in FORMATS}

LISTS = frozenset(mark.partition(".")[0] for each in FORMATS for mark in each.marks if "." in mark)
"""The lists of an object in which marks are looked for. Some that averment's own records have as well are in others'."""
