"""Two runs compared: what broke is told case by case, and nothing that is missing is taken for anything."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest

from averment.errors import UsageError
from averment.verdicts.changes import Change, change
from averment.verdicts.comparison import GATES, Comparison, Difference, compare
from averment.verdicts.judged import Case, Judged, Produced
from averment.verdicts.repeats import Counts

WORDS = {"P": "PASS", "F": "FAIL", "I": "INCONCLUSIVE", "n": "INCONCLUSIVE"}
STATES = {
    "holds": ("P", "PP", "nP"),
    "held": ("PI", "PPI", "nPI"),
    "unknown": ("I", "II", "In"),
    "mixed": ("PF", "PFI", "FFP", "nPF"),
    "fails": ("F", "FI", "FF", "nF"),
    "n/a": ("n", "nn"),
}
TABLE = """
             holds           held               unknown            mixed         fails         n/a                absent
    holds    still_passing   newly_inconclusive newly_inconclusive broken        broken        newly_inapplicable removed
    held     newly_passing   still_inconclusive still_inconclusive broken        broken        newly_inapplicable removed
    unknown  newly_passing   still_inconclusive still_inconclusive newly_failing newly_failing newly_inapplicable removed
    mixed    flaky           flaky              newly_inconclusive flaky         flaky         newly_inapplicable removed
    fails    fixed           newly_inconclusive newly_inconclusive flaky         still_failing newly_inapplicable removed
    n/a      newly_passing   newly_inconclusive newly_inconclusive newly_failing newly_failing still_inapplicable removed
    absent   added           added              added              added         added         added
"""


def table() -> dict[tuple[str, str], str]:
    """The table that the module documents."""
    head, *rows = [line.split() for line in TABLE.splitlines() if line.strip()]
    return {(row[0], now): cell for row in rows for now, cell in zip(head, row[1:], strict=False)}


def counts(letters: str) -> Counts:
    """Counts of some repeats; of none where the assertion is absent."""
    return Counts(
        passed=letters.count("P"),
        failed=letters.count("F"),
        undecided=letters.count("I"),
        not_applicable=letters.count("n"),
    )


def result(id_: str, letter: str, **fields: Any) -> dict[str, Any]:
    """One result."""
    found = {"id": id_, "kind": "phrase", "deterministic": True, "status": WORDS[letter], **fields}
    if letter == "n":
        return {**found, "code": "not_applicable"}
    return found if letter == "P" else {**found, "code": "not_found", "reason": f"{id_} is {WORDS[letter]}"}


def conversation(
    name: str,
    *,
    case: Case | None = None,
    produced: bool = False,
    is_named: bool = True,
    document: str = "d.yaml",
    sha256: str = "sha256:d",
    evidence: str = "sha256:e",
    engine: str = "1",
    severity: str = "error",
    **letters: Any,
) -> Judged:
    """A conversation that was judged; assertions by id with the letter of their verdict."""
    lesser = {} if severity == "error" else {"severity": severity}
    results = [result(id_, letter, **lesser) for id_, letter in letters.items()]
    return Judged(
        envelope={
            "engine": {"name": "averment", "version": engine},
            "document": {"sha256": sha256},
            "evidence_sha256": evidence,
            "results": results,
        },
        conversation=name,
        document=document,
        files=[document] * len(results),
        case=case,
        produced=Produced(file=name) if produced else None,
        is_named=is_named,
    )


def repeats(case: str, **letters: str) -> list[Judged]:
    """A case of a suite with a repeat for each letter; `-` for an assertion that is not there."""
    times = len(next(iter(letters.values())))
    chosen: list[dict[str, Any]] = [
        {id_: each[index] for id_, each in letters.items() if each[index] != "-"} for index in range(times)
    ]
    return [
        conversation(
            f"out/{case}/{index + 1}.json",
            case=Case(suite="s", name=case, repeat=index + 1, repeats=times),
            produced=True,
            **chosen[index],
        )
        for index in range(times)
    ]


def told(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The differences in short."""
    return [(each.change.value, each.where.label, each.id) for each in comparison.differences]


def only(comparison: Comparison) -> Difference:
    """The one difference that there is."""
    (found,) = comparison.differences
    return found


def test_the_table_of_the_module_is_the_one_that_is_tested() -> None:
    """What is documented is what is pinned here."""
    from averment.verdicts import changes

    assert TABLE.strip("\n") in (changes.__doc__ or "")


@pytest.mark.parametrize(("was", "now"), list(table()))
def test_every_pair_of_states_is_told_as_the_table_says(was: str, now: str) -> None:
    """For each number of repeats that makes the states."""
    for before, after in product(STATES.get(was, ("",)), STATES.get(now, ("",))):
        found = change(
            counts(before) if was != "absent" else None, counts(after) if now != "absent" else None
        )
        assert found == table()[was, now], (before, after)


def test_what_is_in_neither_run_has_not_changed() -> None:
    """Such a question is a mistake of ours."""
    with pytest.raises(ValueError, match="neither run"):
        change(None, None)


@pytest.mark.parametrize("extra", ["I", "II", "n", "In"])
@pytest.mark.parametrize("before", ["P", "PP", "PPI"])
@pytest.mark.parametrize("after", ["F", "FP", "FF"])
def test_repeats_without_a_verdict_take_no_failure_back(before: str, after: str, extra: str) -> None:
    """A run that was cut short is broken all the same."""
    assert change(counts(before), counts(after + extra)) is Change.BROKEN


@pytest.mark.parametrize("before", ["F", "FF", "I", "n", "PF", "P"])
def test_nothing_is_fixed_or_passing_while_a_repeat_is_open(before: str) -> None:
    """An undecided repeat speaks for nobody."""
    good = {Change.FIXED, Change.NEWLY_PASSING, Change.STILL_PASSING}
    assert change(counts(before), counts("PPPI")) not in good


def test_one_that_broke_and_one_that_was_fixed_do_not_cancel_out() -> None:
    """Equal totals hide nothing: each is told with its case."""
    found = compare(
        [conversation("a", x="P"), conversation("b", x="F")],
        [conversation("a", x="F"), conversation("b", x="P")],
    )
    assert told(found) == [("broken", "a", "x"), ("fixed", "b", "x")]
    assert found.counts[Change.BROKEN] == found.counts[Change.FIXED] == 1


def test_each_side_says_what_came_of_it_and_why() -> None:
    """The reason is that of the gravest repeat, with the conversation in which it is so."""
    each = only(compare(repeats("c", x="PPP"), repeats("c", x="IFF")))
    assert each.change is Change.BROKEN
    assert each.old is not None
    assert (each.old.counts, each.old.code, each.old.conversation) == (Counts(passed=3), None, None)
    assert each.new is not None
    assert each.new.counts == Counts(failed=2, undecided=1)
    assert (each.new.code, each.new.reason) == ("not_found", "x is FAIL")
    assert each.new.conversation == "out/c/2.json"


def test_what_still_passes_is_only_counted() -> None:
    """Unless it is asked for; likewise what is still not applicable."""
    runs = [conversation("a", x="P", y="n")], [conversation("a", x="P", y="n")]
    found = compare(*runs)
    assert not found.differences
    assert found.counts[Change.STILL_PASSING] == found.counts[Change.STILL_INAPPLICABLE] == 1
    assert told(compare(*runs, every=True)) == [("still_passing", "a", "x"), ("still_inapplicable", "a", "y")]


def test_what_passes_once_in_both_runs_is_counted_by_severity() -> None:
    """The quick way and the long one come to the same."""
    for every in (False, True):
        found = compare(
            [conversation("a", x="P"), conversation("b", severity="note", x="P")],
            [conversation("a", x="P"), conversation("b", severity="note", x="P")],
            every=every,
        )
        assert found.counts[Change.STILL_PASSING] == found.lesser[Change.STILL_PASSING] == 1


def test_a_case_that_is_gone_is_a_gap_and_no_change() -> None:
    """Neither missing cases nor new ones are in any count."""
    found = compare(
        [conversation("a", x="P"), conversation("gone", x="P")],
        [conversation("new", x="F"), conversation("a", x="P")],
    )
    assert [where.label for where in found.missing] == ["gone"]
    assert [where.label for where in found.added] == ["new"]
    assert not found.differences
    assert found.cases == sum(found.counts.values()) == 1
    assert (found.count("missing"), found.count("new"), found.count("still_passing")) == (1, 1, 1)


def test_assertions_are_added_and_removed() -> None:
    """In a case that both runs have; the order is that of the new run, and then what is gone."""
    found = compare([conversation("a", x="P", gone="F")], [conversation("a", new="F", x="P")])
    assert told(found) == [("removed", "a", "gone"), ("added", "a", "new")]
    removed, added = found.differences
    assert removed.new is None
    assert added.old is None


def test_the_gravest_change_comes_first_and_warnings_after_errors() -> None:
    """In the order of the enumeration, then that of the new run."""
    letters_before: dict[str, Any] = {"fixed": "F", "still": "F", "broken": "P", "open": "P"}
    letters_after: dict[str, Any] = {"fixed": "P", "still": "F", "broken": "F", "open": "I"}
    found = compare(
        [conversation("w", severity="warning", w="P"), conversation("a", **letters_before)],
        [conversation("w", severity="warning", w="F"), conversation("a", **letters_after)],
    )
    assert [each.id for each in found.differences] == ["broken", "w", "still", "open", "fixed"]
    assert (found.counts[Change.BROKEN], found.lesser[Change.BROKEN]) == (1, 1)
    assert found.count("broken") == 1


@pytest.mark.parametrize(("was", "now"), [("error", "warning"), ("warning", "error")])
def test_a_severity_that_was_changed_takes_nothing_out(was: str, now: str) -> None:
    """What is an error in either run counts, and the change of severity is told."""
    found = compare([conversation("a", severity=was, x="P")], [conversation("a", severity=now, x="F")])
    assert only(found).gates
    assert found.counts[Change.BROKEN] == 1
    assert found.severities == [("x", was, now, 1)]


def test_a_severity_is_told_also_where_all_pass() -> None:
    """Nothing failed, and yet the gate is another."""
    found = compare([conversation("a", x="P")], [conversation("a", severity="note", x="P")])
    assert found.severities == [("x", "error", "note", 1)]
    assert found.counts[Change.STILL_PASSING] == 1


def test_cases_of_suites_go_by_their_names_wherever_their_files_are_kept() -> None:
    """The command's output may stand elsewhere, and the entry's document have another name."""
    old = conversation("tmp/1.json", case=Case(suite="s", name="c"), produced=True, document="a.yaml", x="P")
    new = conversation("out/c.json", case=Case(suite="s", name="c"), produced=True, document="b.yaml", x="F")
    each = only(compare([old], [new]))
    assert (each.change, each.where.label) == (Change.BROKEN, "s: c")


def test_a_case_may_be_repeated_more_often_than_before() -> None:
    """It is the same case."""
    found = compare(repeats("c", x="P"), repeats("c", x="PPPF"))
    assert only(found).change is Change.BROKEN
    assert not found.missing


def test_recordings_of_a_suite_go_by_their_names() -> None:
    """Several recordings of one case are no repeats, unless the suite says so."""
    case = Case(suite="s", name="c")
    found = compare(
        [conversation("1.json", case=case, x="P"), conversation("2.json", case=case, x="F")],
        [conversation("2.json", case=case, x="P"), conversation("1.json", case=case, x="F")],
    )
    assert told(found) == [("broken", "s: c: 1.json", "x"), ("fixed", "s: c: 2.json", "x")]
    unnamed = compare(
        [conversation("1.json", case=Case(suite="s"), x="P")],
        [conversation("1.json", case=Case(suite="s"), x="F")],
    )
    assert told(unnamed) == [("broken", "s: 1.json", "x")]


def test_recordings_may_be_repeats_of_one_another() -> None:
    """Where the suite says how many there are of each case, files have no meaning of their own."""
    old = [
        conversation(f"main/{i}.json", case=Case(suite="s", name="c", repeat=i, repeats=2), x="P")
        for i in (1, 2)
    ]
    new = [
        conversation(f"pr/{i}.json", case=Case(suite="s", name="c", repeat=i, repeats=2), x=letter)
        for i, letter in ((1, "P"), (2, "F"))
    ]
    each = only(compare(old, new))
    assert (each.change, each.where.label, each.chance) == (Change.BROKEN, "s: c", 0.5)


def test_conversations_of_one_name_are_told_apart_by_their_order() -> None:
    """As several in a file that a command wrote are, or a file that was judged twice."""
    suite: dict[str, Any] = {"case": Case(suite="s"), "produced": True}
    for fields in ({}, suite):
        found = compare(
            [conversation("a", **fields, x="P"), conversation("a", **fields, x="F")],
            [conversation("a", **fields, x="F"), conversation("a", **fields, x="P")],
        )
        first, second = found.differences
        assert (first.change, second.change) == (Change.BROKEN, Change.FIXED)
        assert (first.where.number, second.where.number) == (1, 2)
        assert second.where.label.endswith(" [2]")


def test_repeats_may_come_in_any_order() -> None:
    """A file may have been joined of several, or sorted."""
    old = [*repeats("a", x="PPF", y="PPP"), *repeats("b", x="FFF", y="III")]
    new = [*repeats("a", x="PPP", y="PFI"), *repeats("b", x="PPP", y="PII")]
    expected = sorted(told(compare(old, new)))
    for seed in range(5):
        mixed = random.Random(seed)  # noqa: S311 - an order, no secret
        shuffled = [mixed.sample(run, len(run)) for run in (old, new)]
        assert sorted(told(compare(*shuffled))) == expected
    assert expected == [
        ("broken", "s: a", "y"),
        ("fixed", "s: b", "x"),
        ("flaky", "s: a", "x"),
        ("still_inconclusive", "s: b", "y"),
    ]


def test_a_lone_document_is_the_same_one_whatever_it_is_called() -> None:
    """So that `main/refunds.yaml` and `pr/refunds.yaml` are compared; with several, names count."""
    old, new = (
        conversation("a", document="main/d.yaml", x="P"),
        conversation("a", document="pr/d.yaml", x="F"),
    )
    assert told(compare([old], [new])) == [("broken", "a", "x")]
    other = conversation("a", document="e.yaml", x="P")
    found = compare([old, other], [new, other])
    assert (len(found.missing), len(found.added)) == (1, 1)
    assert not found.differences
    found = compare([old], [other, new])
    assert (len(found.missing), len(found.added), found.cases) == (1, 2, 0)


def test_a_lone_document_leaves_suites_alone() -> None:
    """Their cases are the same ones beside it."""
    case = conversation("out", case=Case(suite="s", name="c"), produced=True, x="P")
    found = compare(
        [case, conversation("a", document="old.yaml", x="P")],
        [case, conversation("a", document="new.yaml", x="P")],
    )
    assert found.cases == 2


def test_envelopes_without_names_are_matched_by_their_order() -> None:
    """And it is said."""
    old = [
        conversation("old.json", is_named=False, x="P"),
        conversation("old.json #2", is_named=False, x="P"),
    ]
    new = [
        conversation("new.json", is_named=False, x="P"),
        conversation("new.json #2", is_named=False, x="F"),
    ]
    found = compare(old, new)
    assert told(found) == [("broken", "conversation [2]", "x")]
    assert found.by_order
    assert not compare([conversation("a", x="P")], [conversation("a", x="P")]).by_order


def test_names_can_not_be_matched_with_none() -> None:
    """Every case would be missing and new, which says nothing: it is refused, with what to do."""
    named, unnamed = conversation("a", x="P"), conversation("e.json", is_named=False, x="P")
    for old, new in ((named, unnamed), (unnamed, named)):
        with pytest.raises(UsageError, match="not_comparable"):
            compare([old], [new])
    assert compare([], [unnamed]).cases == 0


def test_what_else_differs_is_told() -> None:
    """Documents, evidence and versions of the engine: they may be why."""
    found = compare(
        [conversation("a", x="P"), conversation("b", evidence="sha256:1", engine="0", x="P")],
        [
            conversation("a", sha256="sha256:2", x="P"),
            conversation("b", evidence="sha256:3", engine="2", x="P"),
        ],
    )
    assert (found.cases, found.other_documents, found.same_evidence) == (2, 1, 1)
    assert (found.old.engines, found.new.engines) == (("0", "1"), ("1", "2"))
    assert (found.old.conversations, found.old.cases, found.old.documents) == (2, 2, ("d.yaml",))


def test_repeats_that_are_gone_are_told() -> None:
    """A run that stopped early has cases with fewer of them; what is left is compared."""
    found = compare(
        [*repeats("a", x="PPP"), *repeats("b", x="P")], [*repeats("a", x="PP"), *repeats("b", x="PP")]
    )
    assert found.fewer_repeats == 1
    assert not found.missing


@pytest.mark.parametrize(
    ("before", "after", "chance"),
    [
        ("PPPPP", "PPPPF", 0.5),
        ("PPPPP", "FFFFF", 0.003969),
        ("PPPFF", "PPPFF", 0.738096),
        ("PPPPP", "PPPPP", None),
        ("P", "F", None),
        ("PP", "I", None),
        ("P", "PF", 0.666667),
    ],
)
def test_chance_is_told_beside_and_changes_nothing(before: str, after: str, chance: float | None) -> None:
    """Where there are repeats and failures; one failure is broken whatever chance says."""
    (each,) = compare(repeats("c", x=before), repeats("c", x=after), every=True).differences
    assert each.chance == chance
    if "F" in after and "F" not in before:
        assert each.change is Change.BROKEN


def test_what_is_given_is_read_once_and_not_kept() -> None:
    """Streams are compared; an envelope may go when the next one comes."""
    import weakref

    class Watched(dict[str, Any]):
        """A mapping of which it can be seen whether it is kept."""

    alive: list[weakref.ref[Watched]] = []

    def stream(letter: str) -> Iterable[Judged]:
        for index in range(10):
            entry = conversation(f"{index}", x=letter)
            watched = Watched(entry.envelope)
            alive.append(weakref.ref(watched))
            yield Judged(
                envelope=watched, conversation=entry.conversation, document="d.yaml", files=entry.files
            )

    found = compare(stream("P"), stream("F"))
    assert found.counts[Change.BROKEN] == 10
    assert sum(each() is not None for each in alive) == 0


def test_gates_are_all_changes_and_both_gaps() -> None:
    """Each can be counted."""
    found = compare([conversation("a", x="P")], [conversation("a", x="F")])
    assert {name: found.count(name) for name in GATES if found.count(name)} == {"broken": 1}
    assert set(GATES) == {each.value for each in Change} | {"missing", "new"}
