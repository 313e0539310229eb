from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import averment
from averment.assertions import KINDS, kind
from averment.report.html import page as page_module
from averment.report.html import render
from averment.verdicts.judged import Case, Judged, judged

SAID = [
    {"role": "caller", "text": "A refund, please.", "start": 1, "end": 2},
    {"role": "agent", "text": "It is on its way.", "start": 3, "end": 4},
]
FAILS = {"kind": "phrase", "regex": "nobody says this"}
PASSES = {"kind": "phrase", "regex": "refund"}
OPEN = {"kind": "state", "resource": "orders", "expect": {"status": "refunded"}}

Entries = Callable[..., Judged]


def bare(entry: Judged) -> Judged:
    """The entry as one that was read from a stored envelope: no evidence, no document."""
    return msgspec.structs.replace(entry, evidence=None, assertions=())


def every_kind() -> list[Judged]:
    """Every kind's example over the conversations that it must pass and fail on."""
    entries = []
    for name in KINDS:
        document = averment.Document.parse(kind(name).example, name=f"{name}.yaml")
        for assertion in document.assertions:
            examples = assertion.examples
            if isinstance(examples, msgspec.UnsetType):
                continue
            for number, example in enumerate([*examples.failing, *examples.passing]):
                record = (
                    {"transcript": [{"role": "agent", "text": example}]}
                    if isinstance(example, str)
                    else example
                )
                evidence = averment.Evidence.from_record(record)
                envelope = averment.run(document, evidence)
                name_ = f"{name} {number}"
                entries.append(judged(envelope, document, conversation=name_, evidence=evidence.model))
    return entries


def test_the_page_stands_alone_and_its_policy_allows_no_more(entry_of: Entries, read_page: Any) -> None:
    """Its style and script are named by their digests, nothing is styled or scripted besides, nothing is fetched."""
    page = read_page(render([entry_of([FAILS, PASSES], transcript=SAID)]))
    policy = next(attrs["content"] for _, attrs in page.elements if attrs.get("http-equiv"))
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(''.join(page.raw[name]).encode()).digest()).decode()}'"
        for name in ("style", "script")
    ]
    assert policy == (
        f"default-src 'none'; style-src {hashes[0]}; script-src {hashes[1]}; base-uri 'none'; form-action 'none'"
    )
    assert [tag for tag, _ in page.elements].count("script") == 1
    for tag, attrs in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "base", "foreignobject", "image"}
        assert not any(name == "style" or name.startswith("on") or name == "src" for name in attrs), (
            tag,
            attrs,
        )
    assert all(link.startswith("#") for link in page.links)
    assert "url(" not in page.source
    assert "@import" not in page.source


def test_the_two_counts_stand_side_by_side(entry_of: Entries, read_page: Any) -> None:
    """Deterministic results by verdict, and the model-judged shelf, which is empty and says so; no share of anything."""
    page = read_page(render([entry_of([FAILS, FAILS, PASSES, OPEN], transcript=SAID)]))
    assert "Deterministic 2 fail 1 inconclusive 1 pass Exit 1: the gate says no." in page.text
    assert "Model-judged 0 fail 0 pass Empty: no assertion here is judged by a model." in page.text
    assert "Model-judged results This shelf is empty" in page.text
    assert "%" not in page.text


def test_what_failed_comes_first(entry_of: Entries, read_page: Any) -> None:
    """Failures, then what is undecided, then passes; lesser severities and what does not apply stand on their own."""
    asked = [
        {"id": "passes", **PASSES},
        {"id": "warns", **FAILS, "severity": "warning"},
        {"id": "open", **OPEN},
        {"id": "elsewhere", **PASSES, "applies_if": {"labels": {"line": "b"}}},
        {"id": "fails", **FAILS},
        {"id": "notes", **PASSES, "severity": "note"},
    ]
    evidence = averment.Evidence.from_record({"transcript": SAID, "labels": {"line": "a"}})
    page = read_page(render([entry_of(asked, evidence)]))
    order = ["fails", "open", "passes", "warns", "notes", "elsewhere"]
    assert [card["id"] for card in page.having("card")] == [f"r-{name}" for name in order]
    headings = [
        "Failed 1",
        "Undecided 1",
        "Passed 1",
        "Warnings and notes, which never gate 2",
        "Not applicable to this conversation 1",
    ]
    places = [page.text.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "which never gate: 1 fail, 0 inconclusive, 1 pass. Not applicable: 1." in page.text
    assert [card["data-v"] for card in page.having("card")] == [
        "FAIL",
        "INCONCLUSIVE",
        "PASS",
        "FAIL",
        "PASS",
        "NA",
    ]


def test_nothing_decided_is_the_headline(entry_of: Entries, read_page: Any) -> None:
    """Where every assertion is INCONCLUSIVE the page says so before all else; else it does not."""
    assert "NOTHING WAS DECIDED" in read_page(render([entry_of([OPEN, OPEN], transcript=SAID)])).text
    assert "NOTHING WAS DECIDED" not in read_page(render([entry_of([OPEN, PASSES], transcript=SAID)])).text


def test_a_card_says_all_that_the_envelope_says_of_an_assertion(entry_of: Entries, read_page: Any) -> None:
    """Kind, flag, verdict, dimension, severity, tags, owner, description, code with its meaning, reason, missing evidence."""
    asked = {
        **OPEN,
        "id": "order-refunded",
        "dimension": "outcome",
        "severity": "warning",
        "tags": ["money", "team a"],
        "owner": "payments",
        "description": "The order says so.",
    }
    text = read_page(render([entry_of([asked], transcript=SAID)])).text
    for expected in (
        "INCONCLUSIVE order-refunded",
        "The order says so.",
        "the state-adapter evidence is absent",
        "state warning outcome",
        "Missing evidence state is absent. Supply the system of record: --state FILE",
        "state_absent No system of record was supplied.",
        "money team a owner payments",
        "Deterministic, severity warning, which never gates.",
        "In public: required state-adapter evidence was missing.",
        "What was asserted resource: orders",
    ):
        assert expected in text


def test_a_card_names_the_place_in_the_file_it_stands_in(entry_of: Entries, read_page: Any) -> None:
    """Each result has its own file, also where several documents are joined."""
    entry = entry_of([PASSES, FAILS], transcript=SAID)
    results = [{**result, "at": {"line": 8, "column": 5}} for result in entry.results]
    envelope = {**entry.envelope, "results": results}
    entry = msgspec.structs.replace(entry, envelope=envelope, files=["a/refunds.yaml", "b/tone.yaml"])
    text = read_page(render([entry])).text
    assert "phrase a/refunds.yaml:8" in text
    assert "phrase b/tone.yaml:8" in text


def test_without_evidence_there_are_cards_only_and_the_page_says_so(
    entry_of: Entries, read_page: Any
) -> None:
    """An envelope alone has no conversation to show; grounds are named without leading anywhere."""
    page = read_page(render([bare(entry_of([PASSES, FAILS], transcript=SAID))]))
    assert len(page.having("card")) == 2
    assert "This page was made of the envelope alone" in page.text
    assert "Rests on turn 0" in page.text
    assert not page.having("i")
    assert not [link for link in page.links if link.startswith("#t-")]
    assert "on its way" not in page.text


def test_the_redacted_transcript_is_shown_without_evidence(entry_of: Entries, read_page: Any) -> None:
    """A pii result's transcript stands in the envelope, so it can be shown, whether once or in each result."""
    said = [{"role": "caller", "text": "I am a@example.com, hello."}]
    entry = bare(
        entry_of([{"kind": "pii", "detectors": ["email"], "mode": "must_not_leak"}], transcript=said)
    )
    envelope = {**entry.envelope}
    transcript = envelope.pop("redacted_transcript")
    within = [{**result, "redacted_transcript": transcript} for result in entry.results]
    compat = msgspec.structs.replace(entry, envelope={**envelope, "results": within})
    for each in (entry, compat):
        page = read_page(render([each]))
        assert "I am [REDACTED], hello." in page.text
        assert "made without the evidence" in page.text
        assert "Personal data found detector turn said by email turn 0 caller" in page.text
        assert "#t-0" in page.links


def test_every_kind_has_its_page(read_page: Any) -> None:
    """Whatever kinds find: every element is closed, every id is there once, every link leads somewhere."""
    entries = every_kind()
    assert {result["kind"] for entry in entries for result in entry.results} > {
        "pii",
        "policy",
        "latency",
        "claim",
    }
    page = read_page(render(entries))
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links} <= set(page.ids)
    names = [attrs.get(name) for _, attrs in page.elements for name in ("aria-labelledby",)]
    assert {name for name in names if name} <= set(page.ids)
    assert "None" not in page.text
    assert not re.search(r"\{\{|\}\}|\{%", page.text)


def test_several_conversations_have_an_index_worst_first(entry_of: Entries, read_page: Any) -> None:
    """The index has name, file, counts and exit of each; its links lead to what stands below, in the same order."""
    entries = [
        entry_of([PASSES], transcript=SAID, conversation="good.json"),
        entry_of([OPEN], transcript=SAID, conversation="open.json"),
        entry_of(
            [FAILS, PASSES],
            transcript=SAID,
            conversation="bad.json",
            case=Case(suite="refunds", name="angry", repeat=2, repeats=3),
        ),
    ]
    page = read_page(render(entries))
    assert "refunds: angry #2 bad.json 1 0 1 1" in page.text
    assert "refunds: angry #2 Repeat 2 of 3. bad.json . the document . Exit 1" in page.text
    places = [page.text.index(name) for name in ("refunds: angry #2", "open.json", "good.json")]
    assert places == sorted(places)
    assert "1 fail 1 inconclusive 2 pass Worst exit 1" in page.text
    assert len(page.having("entry")) == 3
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_links_stay_when_assertions_and_conversations_are_added(entry_of: Entries, read_page: Any) -> None:
    """A result's id in the page comes from its own id and its conversation's name, not from its place."""
    named = {"id": "refund-said", **PASSES}
    first = read_page(render([entry_of([named], transcript=SAID)]))
    second = read_page(render([entry_of([FAILS, PASSES, named], transcript=SAID)]))
    assert "r-refund-said" in first.ids
    assert "r-refund-said" in second.ids
    several = [entry_of([named], transcript=SAID, conversation=name) for name in ("a", "b", "c")]
    ids = [set(read_page(render(several[:count])).ids) for count in (2, 3)]
    results = [{name for name in found if name.startswith("r-")} for found in ids]
    assert len(results[0]) == 2
    assert results[0] < results[1]


def test_a_case_is_called_by_its_name_and_its_file_stands_below(entry_of: Entries, read_page: Any) -> None:
    """Alone on a page, a conversation of a suite has its case in the headline; outside of suites its file is its name."""
    case = Case(suite="refunds", name="angry")
    page = read_page(render([entry_of([FAILS], transcript=SAID, conversation="kept/1.json", case=case)]))
    assert "over refunds: angry" in page.text
    assert "conversation kept/1.json document" in page.text
    page = read_page(render([entry_of([FAILS], transcript=SAID, conversation="kept/1.json")]))
    assert "over kept/1.json" in page.text
    assert "conversation kept/1.json" not in page.text


def test_a_filter_is_offered_where_there_is_something_to_choose(entry_of: Entries, read_page: Any) -> None:
    """One kind, no dimension, no tag and nothing that is not applicable: then the verdicts and the search are enough."""

    def controls(page: Any) -> list[str]:
        found = [(attrs.get("name"), attrs.get("value")) for _, attrs in page.elements if attrs.get("name")]
        return [value if name == "verdict" else name for name, value in found if name != "viewport"]

    tagged = {**PASSES, "tags": ["money"], "dimension": "outcome"}
    elsewhere = {
        "kind": "pii",
        "detectors": ["email"],
        "applies_if": {"labels": {"desk": "sales"}},
        "mode": "must_not_leak",
    }
    few = controls(read_page(render([entry_of([PASSES, FAILS], transcript=SAID)])))
    assert few[-4:] == ["q", "FAIL", "INCONCLUSIVE", "PASS"]
    every = [tagged, FAILS, elsewhere]
    page = read_page(render([entry_of(every, transcript=SAID, labels={"desk": "support"})]))
    assert controls(page)[-8:] == ["q", "FAIL", "INCONCLUSIVE", "PASS", "NA", "kind", "dimension", "tag"]
    assert [attrs for tag, attrs in page.elements if tag == "details" and attrs.get("class") == "fold"]
    assert "1 assertion" in page.text


def test_among_very_many_results_only_what_is_open_has_cards(
    entry_of: Entries, read_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says how many have no card; what failed keeps its card, and no link leads to what is not there."""
    elsewhere = {**FAILS, "applies_if": {"labels": {"desk": "sales"}}}
    asked = [{"id": "p", **PASSES}, FAILS, {"kind": "formula", "expr": "p and a1"}, elsewhere]
    entry = entry_of(asked, transcript=SAID, labels={"desk": "support"})
    assert "have no cards here" not in read_page(render([entry])).text
    monkeypatch.setattr(page_module, "_MOST", 2)
    page = read_page(render([entry]))
    told = "Among so many results, passes and what is not applicable are only counted, and have no cards here: 2."
    assert told in page.text
    assert [card["id"] for card in page.having("card")] == ["r-a1", "r-a2"]
    assert "2 fail 0 inconclusive 1 pass Exit 1: the gate says no. Not applicable: 1." in page.text
    assert {link[1:] for link in page.links} <= set(page.ids)


HOSTILE = "</script><script>alert(1)</script>]]>&lt;\"'`{{ 7*7 }}{% raw %}\x1b[31m\u202eabc\u2066\x00\n"
BROKEN = f"{HOSTILE}\ud800"
WRITTEN = HOSTILE.replace("{{", "{{{{")  # as documents have it, where braces are variables


def test_hostile_text_is_text(read_page: Any) -> None:
    """Whatever stands in any string is shown as it is, with what can't be seen escaped; no markup comes of it."""
    long = "w" * 1_000_000
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [
                {
                    "id": f"id {WRITTEN}",
                    "kind": "phrase",
                    "regex": "nobody",
                    "description": f"about {WRITTEN}",
                    "owner": f"owner {WRITTEN}",
                    "tags": [f"tag {WRITTEN}"],
                },
                {"id": f"x{long}", "kind": "tool_call", "name": f"tool {WRITTEN}", "args": {"a": 1}},
            ],
        }
    )
    call = {"type": "tool_call", "name": f"tool {BROKEN}", "arguments": {"a": BROKEN}, "result": BROKEN}
    evidence = averment.Evidence.from_record(
        {
            "transcript": [
                {"role": f"role {BROKEN}", "text": f"said {BROKEN}"},
                {"role": "agent", "text": long},
            ],
            "spans": [call, {"type": f"type {BROKEN}", "name": BROKEN, "span_id": BROKEN}],
        }
    )
    envelope = averment.run(document, evidence)
    entry = judged(
        envelope,
        document,
        conversation=f"name {BROKEN}",
        evidence=evidence.model,
        case=Case(suite=f"suite {BROKEN}", name=BROKEN),
    )
    entry = msgspec.structs.replace(entry, document=f"document {BROKEN}", files=[f"file {BROKEN}"] * 2)
    for entries in ([entry], [entry, bare(entry)]):
        source = render(entries)
        source.encode("utf-8")
        page = read_page(source)
        assert [tag for tag, _ in page.elements].count("script") == 1
        assert len(source) < 200_000
        assert not set(source) & set("\x1b\u202e\u2066\ud800\x00")
        for what in ("id", "about", "owner", "tag", "role", "said", "type", "name", "document", "file"):
            assert f"{what} </script><script>alert(1)</script>]]>&lt;\"'" in page.text, what
        assert "\\u202eabc\\u2066\\u0000 \\ud800" in page.text
        assert "{{ 7*7 }}{% raw %}" in page.text
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in page.ids)
        assert len(set(page.ids)) == len(page.ids)


def test_personal_data_of_the_evidence_is_on_no_page(entry_of: Entries) -> None:
    """Texts, names, arguments, results, errors and ids of the evidence are redacted, before anything is cut."""
    card, mail = "4111 1111 1111 1111", "jane@example.com"
    secret = f"{card} {mail}"
    spans = [
        {
            "type": "tool_call",
            "name": f"pay {mail}",
            "span_id": f"s {mail}",
            "arguments": {"card": 4111111111111111, mail: [secret]},
            "result": f"\t{card}",
            "error": secret,
        },
        {"type": f"note {mail}", "name": secret, "attributes": {"a": secret}},
    ]
    said = [{"role": f"caller {mail}", "text": "x" * 3990 + f" {card}"}]
    page = render([entry_of([PASSES, {"kind": "tool_call", "name": "pay"}], transcript=said, spans=spans)])
    assert "[REDACTED]" in page
    for part in ("4111", "jane", "example.com"):
        assert part not in page


def test_the_same_conversations_give_the_same_bytes(tmp_path: Any) -> None:
    """Under another hash seed, time zone and working folder, too."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_page as t; from averment.report.html import render; "
        "sys.stdout.buffer.write(render(t.every_kind()[:20]).encode())"
    )
    pages = {
        subprocess.run(
            [sys.executable, "-c", code, str(__file__.rsplit("/", 1)[0])],
            env={"PYTHONHASHSEED": seed, "TZ": zone, "PATH": ""},
            cwd=tmp_path,
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(pages) == 1
    assert len(pages.pop()) > 10_000


def test_no_conversation_is_a_page_too(read_page: Any) -> None:
    """Nothing to report is reported as such."""
    assert "no conversation" in read_page(render([])).text


@pytest.mark.parametrize("name", ["page.html.j2", "style.css", "script.js"])
def test_what_the_page_is_made_of_is_plain_ascii_but_for_its_signs(name: str) -> None:
    """No control or direction characters hide in what is shipped."""
    from importlib.resources import files

    text = files("averment.report.html").joinpath(name).read_text("utf-8")
    assert {char for char in text if not char.isascii()} <= set("✕✓▶▼⋯…●○·")
    assert "</script" not in text.replace("</script>\n</body>", "")
