from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from averment.documents import Document
from averment.engine import Envelope, compile_plan, run, unproduced
from averment.evidence import Evidence
from averment.report import summary as module
from averment.report.look import PLAIN, Look
from averment.report.summary import Summary
from averment.verdicts.judged import Case

ASSERTIONS = [
    {"id": "greets", "kind": "phrase", "regex": "hello", "description": "It greets."},
    {"id": "no-jargon", "kind": "phrase", "regex": "jargon", "absent": True, "severity": "warning"},
    {"id": "only-eu", "kind": "phrase", "regex": "x", "applies_if": {"labels": {"region": "EU"}}},
    {"id": "refunds", "kind": "tool_call", "name": "refund"},
]
Judge = Callable[..., tuple[Envelope, Document]]


@pytest.fixture
def judge() -> Judge:
    """`judge(text, **record)`: the envelope of a conversation in which the agent says that, and the document."""
    document = Document.parse(json.dumps({"version": 1, "assertions": ASSERTIONS}), name="d.json")

    def judged(text: str, **record: Any) -> tuple[Envelope, Document]:
        whole = {"transcript": [{"role": "agent", "text": text}], "labels": {"region": "US"}, **record}
        return run(document, Evidence.from_bytes(json.dumps(whole).encode())), document

    return judged


def of(judge: Judge, texts: Mapping[str, str], **record: Any) -> Summary:
    summary = Summary()
    for name, text in texts.items():
        summary.add(*judge(text, **record), name)
    return summary


def test_few_conversations_are_listed_and_counted(judge: Judge) -> None:
    """Each with its counts and its exit code; each assertion; and no number over all."""
    text = of(judge, {"a.json": "hello", "b.json": "jargon"}).render(PLAIN)
    assert text == (
        "  conversation  pass  fail  inconclusive  n/a  exit\n"
        "  a.json           2     0             1    1     0\n"
        "  b.json           0     2             1    1     1\n"
        "\n"
        "  assertion  pass  fail  inconclusive  n/a\n"
        "  greets        1     1             0    0\n"
        "  no-jargon     1     1             0    0\n"
        "  only-eu       0     0             0    2\n"
        "  refunds       0     0             2    0\n"
        "\n"
        "No assertion was judged by a model: all verdicts are deterministic.\n"
        "2 conversations: 1 exit 0 · 1 exit 1\n"
        "exit 1: the gate says no (inconclusive_policy: report)\n"
    )


def test_of_many_conversations_each_failure_is_told_once(judge: Judge) -> None:
    """The gravest first, with the first conversations in which it shows, and of how many that it is about."""
    texts = {f"c{number}": "jargon" if number % 3 == 0 else "hello" for number in range(30)}
    text = of(judge, texts).render(PLAIN)
    assert "  conversation " not in text
    assert (
        "FAIL  greets  in 10 of 30 conversations · phrase · d.json:1\n"
        "    It greets.\n"
        "    /hello/ must be said by anybody, and is not\n"
        "    in c0 · c3 · c6 · and 7 more\n"
    ) in text
    assert text.index("FAIL  greets") < text.index(
        "FAIL  no-jargon  in 10 of 30 conversations · phrase · warning"
    )
    assert text.index("FAIL  no-jargon") < text.index("INCONCLUSIVE  refunds  in 30 of 30")
    assert text.endswith(
        "30 conversations: 20 exit 0 · 10 exit 1\nexit 1: the gate says no (inconclusive_policy: report)\n"
    )
    eu = of(judge, dict.fromkeys(texts, "hello"), labels={"region": "EU"})
    eu.add(*judge("hello"), "elsewhere")
    assert "FAIL  only-eu  in 30 of 30 that it is about" in eu.render(PLAIN)


def test_reasons_that_differ_are_examples(judge: Judge) -> None:
    """The first is not given for that of all."""
    texts = {f"c{number}": "jargon " * (1 + number % 2) for number in range(12)}
    summary = Summary()
    for name in texts:
        span = {"type": "tool_call", "name": name, "id": "c", "result": 1}
        summary.add(*judge("hello", spans=[span]), name)
    assert "    for example: " in summary.render(PLAIN)
    assert "for example" not in of(judge, texts).render(PLAIN)


def test_quiet_leaves_out_what_counts_passes(judge: Judge) -> None:
    """What is open stays, and what the gate says."""
    summary = of(judge, {f"c{number}": "jargon" for number in range(12)})
    text = summary.render(PLAIN, quiet=True)
    assert "  assertion " not in text
    assert "FAIL  greets" in text
    assert text.endswith("exit 1: the gate says no (inconclusive_policy: report)\n")


def test_conversations_in_which_nothing_was_decided_are_counted(judge: Judge) -> None:
    """A recording that shows nothing must not look like one that was judged."""
    summary = of(judge, {"a": "hello"})
    document = Document.of({"version": 1, "assertions": [ASSERTIONS[3]]})
    summary.add(run(document, Evidence(transcript=[{"role": "agent", "text": "x"}])), document, "b")
    assert "NOTHING WAS DECIDED in 1 of 2 conversations." in summary.render(PLAIN)
    assert "NOTHING" not in of(judge, {"a": "hello"}).render(PLAIN)


def test_the_worst_exit_code_is_the_last_word() -> None:
    """An internal error is worse than no verdict, and that is worse than no."""
    summary = Summary()
    summary.codes.update([0, 1])
    assert summary.worst == 1
    summary.codes.update([2])
    assert summary.worst == 2
    summary.codes.update([3, 1])
    assert summary.worst == 3


def test_many_assertions_are_told_where_something_is_open() -> None:
    """A table of hundreds that pass hides the one that doesn't."""
    items = [{"id": f"p{number}", "kind": "phrase", "regex": "hello"} for number in range(100)]
    items.append({"id": "odd", "kind": "phrase", "regex": "bye"})
    document = Document.of({"version": 1, "assertions": items})
    summary = Summary()
    envelope = run(document, Evidence(transcript=[{"role": "agent", "text": "hello"}]))
    for name in ("a", "b"):
        summary.add(envelope, document, name)
    text = summary.render(PLAIN)
    assert "  odd           0     2             0    0\n  and 100 assertions with nothing open\n" in text
    assert "p7" not in text


def test_what_is_kept_does_not_grow_with_ids_and_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids can hold values of cases: beyond some thousands they are counted together, and nothing is lost."""
    monkeypatch.setattr(module, "_KEPT", 20)
    summary = Summary()
    recorded = Evidence(transcript=[{"role": "agent", "text": "hello"}])
    for number in range(50):
        item = {"id": f"id-{number}", "kind": "phrase", "regex": "bye"}
        document = Document.of({"version": 1, "assertions": [item]})
        summary.add(run(document, recorded), document, f"c{number}")
    assert len(summary._rows) == 21
    assert len(summary._groups) == 21
    assert len(summary._listed) == 20
    assert "(further assertions)" in {id_ for _, id_ in summary._rows}
    assert sum(sum(counts) for counts in summary._rows.values()) == 50
    assert "50 conversations: 50 exit 1" in summary.render(PLAIN)


def test_entries_of_a_suite_are_counted_apart(judge: Judge) -> None:
    """Each with its own worst exit code."""
    summary = Summary()
    for number in range(15):
        summary.add(*judge("hello"), f"nightly: n{number}", Case(suite="nightly"))
        summary.add(*judge("jargon"), f"rare: r{number}", Case(suite="rare"))
    text = summary.render(PLAIN)
    assert "  suite    conversations  pass  fail  inconclusive  n/a  exit\n" in text
    assert "  nightly             15    30     0            15   15     0\n" in text
    assert "  rare                15     0    30            15   15     1\n" in text
    assert "    in rare: r0 · rare: r1 · rare: r2 · and 12 more\n" in text


def test_repeats_give_both_chances_with_their_intervals(judge: Judge) -> None:
    """Per assertion over cases, and for each case that did not always pass."""
    summary = Summary()
    for repeat in range(1, 6):
        for name in ("steady", "shaky"):
            said = "bye" if name == "shaky" and repeat in (2, 4) else "hello"
            summary.add(*judge(said), "f", Case(suite="s", name=name, repeat=repeat, repeats=5))
    text = summary.render(PLAIN)
    assert (
        "s, repeated 5 times: in how many cases\n"
        "  assertion  always  sometimes  never  undecided  pass^1  pass@5  pass^5\n"
        "  greets          1          1      0          0    80 %   100 %    50 %\n"
        "  refunds         0          0      0          2       -       -       -\n"
        "\n"
        "  case   assertion  passed            pass^1            pass@5        pass^5\n"
        "  shaky  greets     3 of 5  60 % (14.6-94.8)  100 % (54.7-100)  0 % (0-76.3)\n"
    ) in text


def test_repeats_that_always_pass_take_one_line(judge: Judge) -> None:
    """There is nothing to estimate, and a certainty is not claimed."""
    summary = Summary()
    for repeat in (1, 2, 3):
        span = {"type": "tool_call", "name": "refund", "id": "c", "result": 1}
        summary.add(
            *judge("hello", spans=[span]), "f", Case(suite="s", name="steady", repeat=repeat, repeats=3)
        )
    text = summary.render(PLAIN)
    assert "Repeated 3 times: whatever an assertion is about, it passed in every repeat.\n" in text
    assert "pass@k" not in text


def test_tables_are_drawn_at_a_terminal(judge: Judge) -> None:
    """And in its colours."""
    text = of(judge, {"a": "hello", "b": "jargon"}).render(Look(color=True, width=80))
    assert "────" in text
    assert "\x1b[31;1m1 exit 1\x1b[0m" in text


def test_conversations_that_were_not_produced_are_one_finding(judge: Judge) -> None:
    """And not one for each assertion, which would hide what is open in the others."""
    summary = of(judge, {f"c{number}": "hello" for number in range(9)})
    _, document = judge("hello")
    for name in ("late", "later"):
        summary.add(
            unproduced(compile_plan(document), "the command ended with exit status 1"), document, name
        )
    text = summary.render(PLAIN)
    told = (
        "INCONCLUSIVE  all assertions  in 2 of 11 conversations\n    the command ended with exit status 1\n"
    )
    assert f"{told}    in late · later\n" in text
    assert text.count("exit status 1") == 1
    assert "NOTHING WAS DECIDED in 2 of 11 conversations." in text
