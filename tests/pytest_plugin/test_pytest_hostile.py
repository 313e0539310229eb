"""Documents, file names and conversations that would command the terminal, or break a report."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from averment import UsageError
from averment.pytest_plugin import Averment

Lay = Callable[..., None]

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202etrowssap \x00 ]]> </script> a::b [c] @d %s\r\n\t\x85 é"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _conversation(text: str) -> dict[str, Any]:
    return {
        "conversation_id": text,
        "transcript": [{"role": text, "text": f"{text} refund"}],
        "spans": [{"type": "tool_call", "name": text, "arguments": {text: text}, "result": text}],
        "metadata": {"m": text},
    }


def _document(text: str) -> dict[str, Any]:
    common = {"description": text, "owner": text, "tags": [text]}
    return {
        "version": 1,
        "assertions": [
            {"id": f"{text}1", "kind": "phrase", "regex": "refund", "absent": True, **common},
            {"id": f"{text}2", "kind": "tool_call", "name": "issue", **common},
            {"id": f"{text}3", "kind": "phrase", "regex": "never said", "severity": "note", **common},
            {"id": f"{text}4", "kind": "state", "resource": "orders", "expect": {"a": 1}, **common},
            {"id": f"{text}5", "kind": "phrase", "regex": "refund", **common},
        ],
    }


@pytest.fixture
def lay_hostile(pytester: pytest.Pytester, lay: Lay) -> Callable[[str], None]:
    """Writes a document and recordings that hold the text wherever they can, one of them unreadable."""

    def write(text: str) -> None:
        lay(
            document="version: 1\nassertions: [{id: a, kind: phrase, regex: x}]\n",
            files={"refunds/a.json": "[]"},
        )
        (pytester.path / "refunds.averment.yaml").unlink()
        (pytester.path / "refunds/a.json").unlink()
        lines = [_conversation(text), _conversation(f"\ud800{text[::-1]}")]  # a document can't hold that
        (pytester.path / "refunds.averment.json").write_text(json.dumps(_document(text)))
        (pytester.path / "refunds/calls.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        name = os.fsencode("\x1b[31mred \u202ex [c] a::b @d\n") + b"\xff.json"
        with open(os.path.join(os.fsencode(pytester.path / "refunds"), name), "wb") as file:
            file.write(b"{broken \x1b[31m")

    return write


def _is_plain(text: str) -> bool:
    found = CONTROL.search(text)
    return found is None


@pytest.mark.parametrize("processes", [(), ("-n", "1")])
def test_nothing_commands_the_terminal(
    pytester: pytest.Pytester, lay_hostile: Callable[[str], None], processes: tuple[str, ...]
) -> None:
    """Control and direction characters appear as text, in ids, summaries and explanations; all verdicts are told."""
    lay_hostile(HOSTILE)
    done = pytester.runpytest_subprocess(
        "-ra", "-v", "--color=no", "--junitxml=out.xml", "--xfail-tb", *processes
    )
    done.assert_outcomes(failed=4, skipped=2, xfailed=2, passed=2, errors=5)
    shown = done.stdout.str() + done.stderr.str()
    assert _is_plain(shown)
    assert "Traceback" not in shown
    assert "\\u001b[31mred" in shown
    cases = [*ET.parse(pytester.path / "out.xml").iter("testcase")]  # noqa: S314 - made by pytest
    assert len(cases) == 15


def test_tests_with_hostile_names_can_be_selected(
    pytester: pytest.Pytester, lay_hostile: Callable[[str], None]
) -> None:
    """Every id that pytest prints can be given to it."""
    lay_hostile(HOSTILE)
    listed = pytester.runpytest_inprocess("--collect-only", "-q")
    ids = [line for line in listed.outlines if "::" in line]
    assert len(ids) == 15
    for name in ids[::7]:
        again = pytester.runpytest_inprocess("--collect-only", "-q", name)
        assert [line for line in again.outlines if "::" in line] == [name]


def test_mistakes_of_hostile_documents_are_told_plainly(pytester: pytest.Pytester, lay: Lay) -> None:
    """A document that is refused commands nothing either."""
    lay("good", document="{}")
    document = {"version": 1, HOSTILE: 1, "assertions": [{"id": HOSTILE, "kind": HOSTILE, HOSTILE: 2}] * 2}
    (pytester.path / "refunds.averment.yaml").write_text(json.dumps(document))
    done = pytester.runpytest_inprocess("--color=no")
    assert done.ret == pytest.ExitCode.INTERRUPTED
    assert _is_plain(done.stdout.str())
    done.stdout.fnmatch_lines(["*error[[]unknown_field]*"])


def test_long_words_are_cut(pytester: pytest.Pytester, lay_hostile: Callable[[str], None]) -> None:
    """300 kB in every field, and a document of 6 MB, makes a report that can still be read."""
    lay_hostile("x" * 300_000)
    done = pytester.runpytest_inprocess("-ra", "-v", "--color=no")
    done.assert_outcomes(failed=4, skipped=2, xfailed=2, passed=2, errors=5)
    assert len(done.stdout.str()) < 200_000


def test_the_fixture_explains_plainly(averment: Averment) -> None:
    """Messages of failed assertions, and of mistakes in calls, hold no control characters and are bounded."""
    for text in (HOSTILE, "x" * 300_000):
        conversation = _conversation(text)
        del conversation["conversation_id"]
        verdicts = averment.run(_document(text), conversation)
        with pytest.raises(AssertionError) as failed:
            verdicts.assert_passes()
        with pytest.raises(UsageError) as refused:
            verdicts.assert_passes(f"{text}6")
        for message in (str(failed.value), str(refused.value), repr(verdicts)):
            assert _is_plain(message)
            assert len(message) < 30_000
