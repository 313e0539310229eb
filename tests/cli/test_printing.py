from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from averment.cli.printing import Printing
from averment.documents import Document
from averment.engine import Envelope, run
from averment.evidence import Evidence
from averment.report.look import PLAIN, Look
from averment.verdicts.judged import Case

ASSERTIONS = [
    {"id": "greets", "kind": "phrase", "regex": "hello"},
    {"id": "no-jargon", "kind": "phrase", "regex": "jargon", "absent": True, "severity": "warning"},
]
Item = tuple[Envelope, Document, Any]
Judge = Callable[[str], Item]


def document(name: str = "d.json") -> Document:
    return Document.parse(json.dumps({"version": 1, "assertions": ASSERTIONS}), name=name)


@pytest.fixture
def judge() -> Judge:
    """`judge(text)`: what is printed of a conversation in which the agent says that."""
    checked = document()

    def judged(text: str) -> Item:
        recorded = Evidence(transcript=[{"role": "agent", "text": text}])
        return run(checked, recorded), checked, recorded.model

    return judged


def printed(judge: Judge, texts: list[str], look: Look = PLAIN, **how: Any) -> str:
    said: list[str] = []
    printing = Printing(said.append, look, **how)
    for number, text in enumerate(texts):
        printing.take(*judge(text), f"c{number}")
    printing.finish()
    return "".join(said)


def test_one_conversation_is_told_in_full_without_a_summary(judge: Judge) -> None:
    """Also one of a suite: there is nothing to sum up."""
    text = printed(judge, ["bye"])
    assert text.startswith("d.json over c0\n\nFAIL  greets")
    assert text.endswith("exit 1: the gate says no\n")
    assert "conversation:" not in text
    said: list[str] = []
    printing = Printing(said.append, PLAIN)
    printing.take(*judge("bye"), "c0", Case(suite="s"))
    printing.finish()
    assert "".join(said) == text
    said.clear()
    printing.take(*judge("bye"), "c0", Case(suite="s", name="c"))
    printing.finish()
    assert "".join(said) == text.replace("over c0", "over s: c (c0)")


def test_conversations_in_which_nothing_is_open_take_a_line(judge: Judge) -> None:
    """Those with failures show them, apart from one another; the document is named once."""
    text = printed(judge, ["hello", "bye", "hello", "hello jargon"])
    assert text.startswith(
        "d.json\n"
        "\n"
        "exit 0  c0  1 pass (warnings and notes: 1 pass)\n"
        "\n"
        "exit 1  c1  1 fail (warnings and notes: 1 pass)\n"
        "FAIL  greets  phrase · d.json:1\n"
        "    /hello/ must be said by anybody, and is not\n"
        "    code: not_found\n"
        "\n"
        "exit 0  c2  1 pass (warnings and notes: 1 pass)\n"
        "\n"
        "exit 0  c3  1 pass (warnings and notes: 1 fail)\n"
        "FAIL  no-jargon  phrase · warning · d.json:1\n"
    )
    assert "\n\n  conversation  pass" in text
    assert "\n\n\n" not in text


def test_of_many_that_pass_only_the_first_are_named(judge: Judge) -> None:
    """And that further ones are not, is said once."""
    text = printed(judge, ["hello"] * 40)
    assert text.count("exit 0  c") == 10
    assert text.count("only counted") == 1
    assert "40 conversations: 40 exit 0" in text


def test_what_fails_again_and_again_is_shown_three_times_and_then_named(judge: Judge) -> None:
    """After fifty conversations only counted; the summary says how many, and verbose shows everything."""
    texts = ["bye"] * 80 + ["bye jargon"]
    text = printed(judge, texts)
    assert len(re.findall("^FAIL  greets  phrase", text, re.MULTILINE)) == 3
    assert text.count("pass): FAIL greets\n") == 50
    assert text.count("only counted; `--verbose` shows them all") == 1
    assert "exit 1  c80  1 fail (warnings and notes: 1 fail)\nFAIL  no-jargon" in text
    assert "as before: FAIL greets\n" in text
    assert "FAIL  greets  in 81 of 81 conversations" in text
    assert printed(judge, texts, verbose=True).count("FAIL  greets  phrase") == 81


def test_verbose_shows_passes_after_what_is_open(judge: Judge) -> None:
    """In every conversation."""
    text = printed(judge, ["hello jargon", "hello"], verbose=True)
    assert text.index("FAIL  no-jargon") < text.index("PASS  greets")
    assert text.count("PASS  greets") == 2
    assert 'turn 0, agent: "hello jargon"' in text


def test_quiet_shows_only_what_is_open(judge: Judge) -> None:
    """Of one conversation in which nothing is, nothing; of several what fails, and what the gate says."""
    assert printed(judge, ["hello"], quiet=True) == ""
    assert printed(judge, ["bye"], quiet=True) == printed(judge, ["bye"])
    text = printed(judge, ["hello", "bye", "hello"], quiet=True)
    assert "c0" not in text
    assert "FAIL  greets" in text
    assert text.endswith("3 conversations: 2 exit 0 · 1 exit 1\nexit 1: the gate says no\n")


def test_another_document_is_named() -> None:
    """Where the next conversations were judged by another one; the same one loaded again is none."""
    said: list[str] = []
    printing = Printing(said.append, PLAIN)
    recorded = Evidence(transcript=[{"role": "agent", "text": "hello"}])
    for name in ("one.json", "one.json", "two.json"):
        checked = document(name)
        printing.take(run(checked, recorded), checked, recorded.model, "c")
    printing.finish()
    text = "".join(said)
    assert text.startswith("one.json\n\nexit 0  c")
    assert text.count("one.json\n\n") == 1
    assert "\n\ntwo.json\n\nexit 0  c" in text


def test_cases_are_named_with_the_file_that_shows_them(judge: Judge) -> None:
    """A failure is looked into with the file; at a terminal it stands on a line of its own."""
    for look, told in (
        (PLAIN, "exit 1  s: c #2  1 fail (warnings and notes: 1 pass)  kept/2.json\nFAIL"),
        (Look(width=80), "exit 1  s: c #2  1 fail (warnings and notes: 1 pass)\n    kept/2.json\nFAIL"),
    ):
        said: list[str] = []
        printing = Printing(said.append, look)
        for repeat in (1, 2):
            case = Case(suite="s", name="c", repeat=repeat, repeats=3)
            printing.take(*judge("bye"), f"kept/{repeat}.json", case)
        printing.finish()
        assert told in "".join(said)


def test_the_first_conversation_is_printed_when_the_run_ends_early(judge: Judge) -> None:
    """It is held until there is a second; what was judged is not lost with an error."""
    said: list[str] = []
    printing = Printing(said.append, PLAIN)
    printing.take(*judge("bye"), "c0")
    assert not said
    printing.flush()
    assert "FAIL  greets" in said[0]
    printing.flush()
    assert len(said) == 1


@pytest.mark.parametrize("hostile", ["::error::x", "a\n::error::x\x1b[2J\u202e", "##[error]x", "w" * 10**6])
def test_hostile_names_come_out_as_text(hostile: str) -> None:
    """Of documents, files, suites, cases and assertions, in titles and in lines of names."""
    items = [{"id": hostile, "kind": "phrase", "regex": "x"}]
    checked = Document.parse(json.dumps({"version": 1, "assertions": items}), name=hostile)
    recorded = Evidence(transcript=[{"role": hostile, "text": hostile.replace("x", "")}])
    for look in (PLAIN, Look(color=True, width=50)):
        said: list[str] = []
        printing = Printing(said.append, look)
        for number in range(6):
            envelope = run(checked, recorded)
            case = Case(suite=hostile, name=hostile) if number % 2 else None
            printing.take(envelope, checked, recorded.model, hostile, case)
        printing.finish()
        bare = re.sub("\x1b\\[[0-9;]*m", "", "".join(said))
        assert all(char.isprintable() or char == "\n" for char in bare)
        assert not re.search(r"^\s*::|##\[", bare, re.MULTILINE)
        assert len(bare) < 20_000
