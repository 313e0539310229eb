from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import averment
import averment.pytesting.collect
import averment.pytesting.fixture

DOCUMENT = """\
version: 1
assertions:
  - id: refund-issued
    kind: tool_call
    name: issue_refund
    dimension: outcome
    tags: [money]
  - id: polite
    kind: phrase
    regex: thank you
    severity: warning
  - id: told
    kind: phrase
    regex: refund
"""
GOOD = {
    "transcript": [{"role": "agent", "text": "thank you, I sent the refund"}],
    "spans": [{"type": "tool_call", "name": "issue_refund", "arguments": {"order": "A-17"}}],
}
BAD = {
    "transcript": [{"role": "user", "text": "hello"}, {"role": "agent", "text": "I sent the refund"}],
    "spans": [{"type": "tool_call", "name": "look_up", "arguments": {"order": "A-17"}}],
}
BLIND = {"transcript": [{"role": "agent", "text": "thank you, I sent the refund"}]}

Lay = Callable[..., None]


@pytest.fixture(scope="session", autouse=True)
def everything_is_imported() -> None:
    """What is imported on first use is imported before `pytester` runs: it unloads what its runs have imported.

    Else a C extension would be left with the classes of a module that is not the one in use.
    """
    document = averment.Document.parse(DOCUMENT)
    for conversation in (GOOD, BAD, BLIND):
        averment.run(document, averment.Evidence.from_record(conversation))


@pytest.fixture
def lay(pytester: pytest.Pytester) -> Lay:
    """`lay("good", "bad")`: writes `refunds.averment.yaml`, and `refunds/` with these recordings.

    Further files by `files={path: text or value}`, another document by `document=`.
    """
    known: dict[str, Any] = {"good": GOOD, "bad": BAD, "blind": BLIND}

    def write(*names: str, document: str = DOCUMENT, files: Mapping[str, Any] | None = None) -> None:
        texts = {"refunds.averment.yaml": document, **{f"refunds/{name}.json": known[name] for name in names}}
        for path, content in {**texts, **(files or {})}.items():
            file = pytester.path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content)
            file.write_bytes(text.encode("utf-8", "surrogatepass"))

    return write


@pytest.fixture
def several() -> str:
    """Lines of JSON with three conversations: `good`, `bad`, and one that has no id."""
    lines = ({"conversation_id": "good", **GOOD}, {"conversation_id": "bad", **BAD}, BLIND)
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner pytest prints as on no CI, in lines that are long enough."""
    for name in ("CI", "BUILD_NUMBER", "FORCE_COLOR", "PYTEST_ADDOPTS", "NO_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def failed_reports(pytester: pytest.Pytester) -> Callable[..., list[Any]]:
    """`failed_reports()`: runs pytest and gives the reports of what failed or is an error."""
    return lambda *args: [report for report in pytester.inline_run(*args).getreports() if report.failed]
