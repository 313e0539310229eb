from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import averment
from averment.report.gfm import code, prose, table
from averment.report.markdown import MARKER, render
from averment.text.pii import redact
from averment.text.shown import visible
from averment.verdicts.judged import Case, Judged

HOSTILE = [
    "@octocat @org/team",
    "#1 GH-1 owner/repo#1 owner/repo@0123abc !1 %1 ~bug JIRA-7",
    "fixes 0123456789abcdef0123456789abcdef01234567 deadbeef",
    "https://evil.example www.evil.example ftp://e.example a@b.example xmpp:a@b.example",
    "![image](https://evil.example/i.png) [link](javascript:alert(1)) <https://evil.example> [a]: http://x",
    "</details><script>alert(1)</script><img src=x onerror=y> <!-- averment --> &lt;b&gt; <a name='x'>",
    "a | b \\| c \\\\| d |",
    "``` ```` `` ` ~~~ `a``b` `",
    "`",
    "``",
    "````",
    "~~~~",
    "www. Www.",
    " ` leading and trailing ` ",
    "# heading",
    "- item\n\n1. one\n> quote\n***\n    code\n```\n\n</summary></details>\n| a |\n|---|\n",
    "1. one",
    "*a* _b_ ~~c~~ **d** $x$ $`y`$ :smile: \\@octocat \\`",
    "]]> \x1b[31mred\x1b[0m \x00 \x07 \u202eabc\u202c \u2066x\u2069 \ud800 \u2028 \ufeff",
    "::error::forged ##[add-mask]e",
    "--> <!-- x",
    "&#64;octocat &commat;octocat &#35;1",
    "",
    " ",
    "א ב مرحبا 漢字 Ünïcödé",
    "x" * 200_000,
    "@" * 100_000,
    "`" * 100_000,
]


def _result(status: str = "FAIL", **fields: Any) -> dict[str, Any]:
    return {
        "id": "refunded",
        "kind": "state",
        "deterministic": True,
        "at": {"line": 8, "column": 5},
        "status": status,
        **({} if status == "PASS" else {"code": "value_mismatch", "reason": "it is not so"}),
        **fields,
    }


def _judged(*results: Mapping[str, Any], policy: str = "report", exit_code: int = 1, **fields: Any) -> Judged:
    envelope = {
        "schema": "assert.v1",
        "exit_code": exit_code,
        "inconclusive_policy": policy,
        "document": {"sha256": "sha256:0"},
        "evidence_sha256": "sha256:0",
        "results": list(results),
    }
    named = {
        "conversation": "call.json",
        "document": "refunds.yaml",
        "files": ["refunds.yaml"] * len(results),
    }
    return Judged(envelope=envelope, **{**named, **fields})


@pytest.fixture(params=["as text", "as links"])
def parse(request: pytest.FixtureRequest) -> Callable[[str], list[Token]]:
    """Parses Markdown as GitHub does, with addresses left as text and made links."""
    preset = {"as text": "commonmark", "as links": "gfm-like"}[request.param]
    reader = MarkdownIt(preset, {"html": True}).enable(["table", "strikethrough"])

    def parsed(text: str) -> list[Token]:
        found = []
        for token in reader.parse(text):
            found += [token, *(token.children or ())]
        return found

    return parsed


_OURS = re.compile(
    r"<!-- averment -->\n|<details>\n<summary>[^<>]*(?:<code>[^<>]*</code>)?</summary>\n|</details>\n?"
)
_FOUND_IN_TEXT = re.compile(
    r"@\w|#\w|GH-\d|\w/\w|://|www|:\w+:|\$|[0-9a-f]{7}|!\d|~\w|%\d|[A-Z]+-\d|[<>\[\]|*_\\`]", re.IGNORECASE
)


def _is_ours(token: Token) -> bool:
    return (
        token.type not in {"link_open", "image", "html_inline", "em_open", "s_open", "code_block", "hr"}
        and (token.type != "html_block" or _OURS.fullmatch(token.content) is not None)
        and (token.type != "text" or _FOUND_IN_TEXT.search(token.content) is None)
    )


def _code(tokens: Sequence[Token]) -> Iterator[str]:
    """All that stands in code."""
    for token in tokens:
        if token.type in {"code_inline", "fence"}:
            yield token.content
        elif token.type == "html_block":
            yield from (unescape(found) for found in re.findall("<code>(.*?)</code>", token.content))


def test_the_first_line_is_the_same_for_every_report() -> None:
    """A bot finds its comment by it."""
    assert render([_judged(_result())]).splitlines()[0] == MARKER == "<!-- averment -->"
    assert render([]).startswith(f"{MARKER}\n## averment: the gate says yes\n")


def test_the_headline_has_two_shelves_side_by_side(parse: Callable[[str], list[Token]]) -> None:
    """What is deterministic is counted; that nothing is judged by a model is said; nothing adds them up."""
    text = render([_judged(_result(), _result("PASS", id="b"), _result("INCONCLUSIVE", id="c"))])
    cells = [token.content for token in parse(text) if token.type == "inline"][1:5]
    assert cells == [
        "Deterministic",
        "Judged by a model",
        "**1 fail · 1 inconclusive · 1 pass**",
        "no assertion is judged by a model",
    ]
    assert "%" not in text


def test_a_failure_says_what_where_why_and_what_differs() -> None:
    """The kind, the place, the sentence of the document, the reason, and expected against found."""
    text = render(
        [
            _judged(
                _result(
                    description="The order says so, too.",
                    dimension="outcome",
                    owner="billing",
                    tags=["money"],
                    mismatches=[{"path": "status", "expected": '"refunded"', "found": '"none"'}],
                )
            )
        ]
    )
    assert (
        "### Failed\n\n#### FAIL: `refunded`\n\n`state` · `refunds.yaml:8` · `outcome` · `billing` · `money`\n"
        in text
    )
    assert "\n**What must hold:** The order says so, too.\n" in text
    assert "\n**Why:** it is not so\n" in text
    assert '\n```diff\n  status\n- expected "refunded"\n+ found    "none"\n```\n' in text


def test_the_nearest_call_is_compared_too() -> None:
    """Where a call nearly matched, its differences are those of the nearest miss; the value as a whole has no path."""
    differs = [{"path": "", "expected": "20", "found": "2"}]
    text = render([_judged(_result(nearest_miss={"tool_call": "c_0", "mismatches": differs}))])
    assert "  the value\n- expected 20\n+ found    2\n" in text


@pytest.mark.parametrize(
    "odd", ["text", [1], {"a": 1}, [{"path": "a"}], None, [{"expected": 1, "found": []}]]
)
def test_a_stored_envelope_with_odd_details_is_reported(odd: Any) -> None:
    """What somebody else wrote into the kind's own fields breaks nothing."""
    fields = {"mismatches": odd, "nearest_miss": odd, "not_scanned": odd, "vacuous": odd}
    assert "FAIL: `refunded`" in render([_judged(_result(**fields))])
    assert "1 assertion passed" in render([_judged(_result("PASS", **fields))])


def test_the_undecided_say_what_to_switch_on() -> None:
    """The evidence that is missing is named with what would supply it, behind what failed."""
    gap = {"channel": "state", "state": "absent", "how": "pass the orders with --state"}
    text = render([_judged(_result("INCONCLUSIVE", id="u", evidence_gap=gap), _result(id="f"))])
    assert "\n**To decide it:** pass the orders with `--state`\n" in text
    told = _result("INCONCLUSIVE", evidence_gap=gap, reason="absent: pass the orders with --state")
    assert "To decide it" not in render([_judged(told)])
    assert (
        text.index("### Failed")
        < text.index("#### FAIL: `f`")
        < text.index("### Undecided")
        < text.index("`u`")
    )


def test_nothing_decided_is_said_first() -> None:
    """When every assertion is INCONCLUSIVE the head says so, whatever the policy."""
    assert "**NOTHING WAS DECIDED:**" in render([_judged(_result("INCONCLUSIVE"), exit_code=0)])
    assert "NOTHING WAS DECIDED" not in render([_judged(_result("INCONCLUSIVE"), _result("PASS", id="b"))])
    assert "NOTHING WAS DECIDED" not in render([])


def test_warnings_and_notes_stand_apart() -> None:
    """What never gates is counted and shown on its own, behind what does."""
    text = render([_judged(_result(), _result(id="w", severity="warning"), _result(id="n", severity="note"))])
    assert "**1 fail · 0 inconclusive · 0 pass**" in text
    assert "warnings and notes, which never gate: 2 fail · 0 inconclusive · 0 pass" in text
    order = ["### Failed", "### Warnings and notes", "FAIL, warning: `w`", "FAIL, note: `n`"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_a_warning_that_passes_is_no_warning() -> None:
    """It is among the passes, which say that it is none that gates."""
    text = render([_judged(_result("PASS", severity="warning"), exit_code=0)])
    assert "### Warnings" not in text
    assert "- `refunded` · `state` · `refunds.yaml:8` · warning\n" in text


def test_of_many_differences_the_first_are_shown() -> None:
    """Eight are enough to see what is wrong; how many there are besides is said."""
    differs = [{"path": f"p{n}", "expected": "1", "found": "2"} for n in range(30)]
    text = render([_judged(_result(mismatches=differs))])
    assert text.count("- expected 1") == 8
    assert "\n  ... and 22 more\n```" in text


def test_what_is_not_applicable_is_only_counted() -> None:
    """An assertion that is not about the conversation is neither undecided nor passed."""
    text = render([_judged(_result("INCONCLUSIVE", code="not_applicable"), _result("PASS", id="b"))])
    assert "1 not applicable" in text
    assert "Undecided" not in text


def test_passes_are_folded_and_honest() -> None:
    """They are listed on a click, with what they did not look at and whether they were put to the test."""
    text = render([_judged(_result("PASS", vacuous=True, not_scanned=["arguments", "http"]), exit_code=0)])
    folded = text[text.index("<details>") :]
    assert folded == (
        "<details>\n<summary>1 assertion passed</summary>\n\n- `refunded` · `state` · `refunds.yaml:8` · "
        "vacuous in 1: what it is about never came up · did not look at `arguments, http`\n\n</details>\n"
    )


def test_an_internal_error_leads() -> None:
    """A check that broke is among what is undecided, and the head says what to do."""
    text = render([_judged(_result("INCONCLUSIVE", severity="note", code="internal_error"), exit_code=3)])
    assert "## averment: internal error: a check failed, please report it" in text
    assert "### Undecided" in text


def test_without_conversations_more_than_one_there_is_no_table_of_them(
    parse: Callable[[str], list[Token]],
) -> None:
    """One conversation is named in the head; two have a table, those with more to look at first."""

    def tables(entries: Sequence[Judged]) -> int:
        return sum(token.type == "table_open" for token in parse(render(entries)))

    good = _judged(_result("PASS"), exit_code=0, conversation="good.json")
    bad = _judged(_result(), conversation="bad.json")
    assert tables([good]) == 1
    assert tables([good, bad]) == 2
    text = render([good, bad])
    rows = "| `bad.json` | 1 | 0 | 0 |\n| `good.json` | 0 | 0 | 1 |\n"
    assert f"| Conversation | fail | inconclusive | pass |\n| --- | ---: | ---: | ---: |\n{rows}" in text
    assert "`refunds.yaml` over 2 conversations · 1 exit 1 · 1 exit 0 · the worst is exit 1" in text


def test_conversations_of_one_name_have_a_row_each() -> None:
    """Names are the user's; two with the same are still two."""
    assert render([_judged(_result())] * 2).count("| `call.json` | 1 | 0 | 0 |\n") == 2


def test_repetitions_of_a_case_share_a_row() -> None:
    """A case is a row, with how often it was repeated; findings say which repetition."""
    entries = [
        _judged(
            _result("PASS" if repeat < 3 else "FAIL"),
            case=Case(suite="support", name="lost parcel", repeat=repeat, repeats=3),
        )
        for repeat in (1, 2, 3)
    ]
    text = render(entries)
    assert "| Case | repeats | fail | inconclusive | pass |" in text
    assert "| `support: lost parcel` | 3 | 1 | 0 | 2 |" in text
    assert "**In `support: lost parcel #3`:** it is not so" in text


def _suite() -> list[Judged]:
    """375 conversations in which four of ten assertions fail, each with the same reason in many of them."""
    entries = []
    for index in range(375):
        results = [
            _result(
                "FAIL" if number < 4 and index % (number + 3) == 0 else "PASS",
                id=f"assertion-{number}",
                reason=f"defect {number} shows",
                at={"line": 3 * number + 2, "column": 5},
            )
            for number in range(10)
        ]
        is_bad = any(result["status"] == "FAIL" for result in results)
        case = Case(suite="desk", name=f"scenario-{index % 25} caller-{index // 25}")
        entries.append(_judged(*results, exit_code=int(is_bad), case=case))
    return entries


def test_four_defects_in_375_conversations_are_four_findings(parse: Callable[[str], list[Token]]) -> None:
    """Each is told once, that in most conversations first, with how many there are; the long table is folded."""
    text = render(_suite())
    assert re.findall(r"^#### FAIL: `(.*)`$", text, re.MULTILINE) == [f"assertion-{n}" for n in range(4)]
    assert re.findall(r"in (\d+) of 375 conversations$", text.partition("passed")[0], re.MULTILINE) == [
        *("125", "94", "75", "63")
    ]
    assert "`desk: scenario-6 caller-0`, `desk: scenario-9 caller-0` and 121 more:** defect 0 shows" in text
    assert "<summary>The 125 conversations</summary>" in text
    assert "and 25 more" in text
    assert "<summary>All 375 cases</summary>" in text
    assert "... and 175 more, with as much or less to look at." in text
    assert "Left out" not in text
    tokens = parse(text)
    assert all(_is_ours(token) for token in tokens)
    assert sum(token.type == "table_open" for token in tokens) == 2
    assert sum(token.content.startswith("<details>") for token in tokens if token.type == "html_block") == 6


def test_different_reasons_of_one_assertion_are_told_apart() -> None:
    """The commonest first, three of them, and how many conversations have others."""
    reasons = ["a", "b", "b", "c", "d", "b", "e", "c"]
    text = render([_judged(_result(reason=f"reason {reason}")) for reason in reasons])
    told = re.findall(r"\*\*(\d) times, in .*:\*\* reason (\w)", text)
    assert told == [("3", "b"), ("2", "c"), ("1", "a")]
    assert "... and other reasons in 2 more conversations." in text


def test_findings_behind_the_first_are_folded() -> None:
    """Eight can be read at a glance; the others open on a click."""
    text = render([_judged(*(_result(id=f"a<{number}>") for number in range(10)))])
    assert text.count("#### FAIL") == 8
    assert text.count("<summary>FAIL: <code>a&lt;") == 2


@pytest.mark.parametrize("limit", [60_000, 20_000, 6_000, 2_000, 1])
def test_the_report_keeps_to_its_limit_by_whole_blocks(
    limit: int, parse: Callable[[str], list[Token]]
) -> None:
    """What does not fit is left out whole and counted; the headline always stands, and the markup stays whole."""
    many = [_judged(*(_result(id=f"a{n}", reason="é" * 500, description="€ " * 200) for n in range(60)))] * 2
    text = render(many, limit=limit)
    assert len(text.encode()) <= max(limit, 1_000)
    assert text.startswith(f"{MARKER}\n## averment: the gate says no\n")
    shown = text.count("FAIL: ")
    assert f"{60 - shown} failed assertions, the table of conversations" in text.splitlines()[-1]
    assert text.count("<details>") == text.count("</details>") == text.count("</summary>")
    assert all(_is_ours(token) for token in parse(text))
    assert limit < 20_000 or shown >= 9


def test_one_assertion_left_out_is_told_in_the_singular() -> None:
    """The sentence on what is missing is right for one."""
    two = [_judged(_result(id="a", reason="r " * 200), _result(id="b", reason="s " * 200))]
    assert "not enough room:** 1 failed assertion." in render(two, limit=1_700)


def _everywhere(hostile: str) -> list[Judged]:
    """Two conversations whose every text is hostile, with a result of each status."""
    differs = [{"path": hostile, "expected": hostile, "found": hostile}]
    gap = {"channel": hostile, "state": hostile, "source_format": hostile, "how": hostile}
    fields = {
        **dict.fromkeys(("id", "kind", "code", "reason", "description", "owner", "dimension"), hostile),
        "tags": [hostile],
        "mismatches": differs,
        "evidence_gap": gap,
        "tool_calls": ["c_0"],
        "turns": [0],
    }
    evidence = averment.Evidence(
        transcript=[{"role": hostile, "text": hostile or "-"}],
        trace=[{"type": "tool_call", "name": hostile, "arguments": {hostile: hostile}}],
    ).model
    return [
        _judged(
            *(_result(status, **fields) for status in ("FAIL", "INCONCLUSIVE")),
            _result("FAIL", **{**fields, "severity": "warning"}),
            *(_result("FAIL", **fields, at={"line": line, "column": 1}) for line in range(2, 12)),
            _result("PASS", **fields, not_scanned=[hostile]),
            policy=hostile,
            conversation=hostile,
            document=hostile,
            files=[hostile] * 14,
            case=Case(suite=hostile, name=hostile, repeat=2, repeats=2) if index else None,
            evidence=evidence,
        )
        for index in range(2)
    ]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: repr(hostile[:20]))
def test_hostile_text_arrives_as_text(hostile: str, parse: Callable[[str], list[Token]]) -> None:
    """Whatever stands in any field, there is no link, image, foreign HTML, mention or reference, and no markup breaks."""
    text = render(_everywhere(hostile), limit=10**6)
    tokens = parse(text)
    assert [token for token in tokens if not _is_ours(token)] == []
    assert (
        sum(token.type == "table_open" for token in tokens) == 4
    )  # shelves, conversations, and two of repeats
    assert sum(token.type == "tr_open" for token in tokens) == 5 + 2 + 2
    assert sum(token.type in {"th_open", "td_open"} for token in tokens) == 4 + 3 * 4 + 2 * 8 + 2 * 7
    assert {token.tag for token in tokens if token.type == "heading_open"} == {"h2", "h3", "h4"}
    assert sum(token.type == "heading_open" for token in tokens) == 1 + 4 + 8 + 1 + 1
    assert len(render(_everywhere(hostile)).encode()) < 60_000
    shown = visible(redact(hostile)).strip()[:60]
    if shown:
        within = list(_code(tokens))
        assert sum(shown in found for found in within) > 20, within[:5]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: repr(hostile[:20]))
def test_a_sentence_is_all_there(hostile: str, parse: Callable[[str], list[Token]]) -> None:
    """Of a sentence nothing is lost but the backticks that mark code, and spaces around it."""
    tokens = parse(f"**Why:** {prose(hostile, 10**6)}")
    found = "".join(token.content for token in tokens if token.type in {"text", "code_inline"})
    said = visible(redact(hostile))
    squeezed = re.compile("[` ]")
    assert squeezed.sub("", found) == "Why:" + squeezed.sub("", said)


def test_a_sentence_reads_as_one() -> None:
    """Words stay words; names of tools, values and paths are code; punctuation stands behind it."""
    reason = (
        "said in turn 3 and not backed: `issue_refund` was never called; tools called: `lookup_order`, `find`"
    )
    assert prose(reason) == reason
    assert prose('nearest is c_0: amount: expected 20, found "two" (never 2).') == (
        'nearest is `c_0`: amount: expected 20, found "two" (never 2).'
    )
    assert prose("orders where id = A-3, twice") == "orders where id `= A-3`, twice"


def test_a_bar_ends_no_cell(parse: Callable[[str], list[Token]]) -> None:
    """Bars are escaped in cells; one behind a backslash, which readers take differently, is shown as a code point."""
    cells = ["a|b", "a\\|b", "a\\", "|"]
    tokens = parse(table(["h"] * 4, ["---"] * 4, [[code(cell) for cell in cells]]))
    found = [token.content for token in tokens if token.type == "code_inline"]
    assert found == ["a|b", "a\\\\u007cb", "a\\", "|"]


def test_personal_data_stands_nowhere() -> None:
    """Ids, descriptions and names are the author's and the user's own: they are redacted all the same."""
    text = render(_everywhere("card 4111 1111 1111 1111, jane@example.org"))
    assert "4111" not in text
    assert "jane" not in text
    assert "[REDACTED]" in text


def test_evidence_at_hand_is_quoted_short_and_redacted() -> None:
    """The turns and calls in question stand below the reason, the first of each."""
    evidence = averment.Evidence(
        transcript=[
            {"role": "agent", "text": f"Sent to jane@example.org, take {n}. {'x' * 900}"} for n in range(5)
        ],
        trace=[
            {"type": "tool_call", "span_id": f"s{n}", "name": "refund", "arguments": {"n": n}}
            for n in range(5)
        ],
    ).model
    text = render(
        [_judged(_result(turns=[0, 1, 2, 3, 99], tool_calls=["c_1", "c_2", "c_3", "c_4"]), evidence=evidence)]
    )
    quoted = text.partition("```text\n")[2].partition("\n```")[0].splitlines()
    assert [line[:40] for line in quoted] == [
        *(f'turn {n}, agent: "Sent to [REDACTED], take {n}'[:40] for n in range(3)),
        "... and 1 more turns",
        *(f'call c_{n}: refund {{"n":{n}}}' for n in (1, 2, 3)),
        "... and 1 more calls",
    ]
    assert all(len(line) < 250 for line in quoted)


def test_the_public_function_renders_an_envelope() -> None:
    """`averment.report.markdown` takes what `averment.run` gives."""
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "x"}]}
    )
    evidence = averment.Evidence(transcript=[{"role": "agent", "text": "y"}])
    text = averment.report.markdown(averment.run(document, evidence), evidence, conversation="mine")
    assert "#### FAIL: `a`" in text
    assert "over `mine`" in text


def test_the_bytes_do_not_depend_on_the_hash_seed() -> None:
    """Sets and hashes have no say in the order of anything."""
    code = (
        "import averment\n"
        "items = [{'id': f'a{n}', 'kind': 'tool_call', 'name': f't{n}', 'tags': ['x', 'y']} for n in range(9)]\n"
        "document = averment.Document.of({'version': 1, 'assertions': items})\n"
        "spans = [{'type': 'tool_call', 'name': f't{n}'} for n in range(4)]\n"
        "evidence = averment.Evidence(trace=spans)\n"
        "print(averment.report.markdown(averment.run(document, evidence), evidence))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1")
    }
    assert len(texts) == 1
    assert texts.pop().count(b"FAIL: ") == 5
