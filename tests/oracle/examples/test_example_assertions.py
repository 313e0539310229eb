"""The predicates of the example packs against traces that were written down by hand, and against what breaks them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from example_gold import GOLD, Gold
from example_packs import NAMES, Call, ExamplePack, Played

from averment.oracle.child.assertions import inspect_exports

INSTEAD: dict[str, list[Any]] = {
    "title": ["Middlemarch", "Silent Spring"],
    "book_id": ["BK-102", "BK-101", "BK-199"],
    "patron_id": ["PT-11", "PT-12", "PT-99"],
    "confirm": [False],
    "department": ["renal", "prenatal"],
    "language": ["en"],
    "from_date": ["2026-05-04"],
    "doctor_id": ["DOC-15", "DOC-14", "DOC-19"],
    "patient_id": ["PAT-103", "PAT-199"],
    "opening_id": ["OPN-311", "OPN-302", "OPN-301"],
    "appointment_id": ["APT-504", "APT-503", "APT-591"],
    "prescription_id": ["RX-702", "RX-703"],
    "days": [60, 30, 90],
    "invoice_id": ["INV-901", "INV-991"],
}
"""For each argument other values that the tool would take."""
ELSEWHERE: dict[str, Call] = {
    "library_lending": ("get_loan_status", {"book_id": "BK-103"}),
    "bilingual_clinic": ("get_invoice", {"invoice_id": "INV-903"}),
}
"""A call for each pack that no task of the table asks for."""
REFUSED: dict[str, Call] = {
    "library_lending": ("get_loan_status", {"book_id": "BK-199"}),
    "bilingual_clinic": ("get_invoice", {"invoice_id": "INV-991"}),
}
"""A call for each pack that is refused."""

PACKS = {name: ExamplePack(name) for name in NAMES}
CASES = [pytest.param(gold, id=gold.template) for gold in GOLD]


def _assertions(gold: Gold) -> list[str]:
    names: list[str] = PACKS[gold.pack].templates()[gold.template]["success_assertions"]
    return names


def _dropped(gold: Gold) -> Iterator[list[Call]]:
    for index in range(len(gold.calls)):
        yield gold.calls[:index] + gold.calls[index + 1 :]


def _changed(gold: Gold) -> Iterator[list[Call]]:
    """The calls with one argument of one of them changed, for every argument and other value."""
    for index, (tool, arguments) in enumerate(gold.calls):
        for name, value in arguments.items():
            others = [not value] if isinstance(value, bool) else INSTEAD[name]
            for other in others:
                if other != value:
                    calls = copy.deepcopy(gold.calls)
                    calls[index] = (tool, {**arguments, name: other})
                    yield calls


def _broken(gold: Gold) -> Iterator[tuple[str, Played]]:
    """What the task would have come to if something had gone wrong, each with the kind of it."""
    pack = PACKS[gold.pack]
    for calls in _dropped(gold):
        yield "call dropped", pack.play(calls)
    for calls in _changed(gold):
        yield "argument changed", pack.play(calls)
    right = pack.play(gold.calls)
    if right.state != right.before:
        yield "state rolled back", msgspec.structs.replace(right, state=right.before)
    for index in range(len(right.trace)):
        trace = copy.deepcopy(right.trace)
        trace[index]["result"] = {}
        yield "result lost", msgspec.structs.replace(right, trace=trace)
    if not gold.calls:
        yield "call added", pack.play([ELSEWHERE[gold.pack]])


def _with_a_refusal(gold: Gold) -> tuple[str, Played]:
    """The right calls and then one that is refused, which is wrong where a template says that none is."""
    return "refused call added", PACKS[gold.pack].play([*gold.calls, REFUSED[gold.pack]])


@pytest.mark.parametrize("gold", CASES)
def test_every_assertion_of_a_template_passes_on_the_right_calls(gold: Gold) -> None:
    """The calls that the text asks for satisfy all that the template names."""
    pack = PACKS[gold.pack]
    said = pack.verdicts(_assertions(gold), pack.play(gold.calls), gold.task)
    assert said == dict.fromkeys(_assertions(gold))


@pytest.mark.parametrize("gold", CASES)
def test_a_template_notices_each_thing_that_goes_wrong(gold: Gold) -> None:
    """A call dropped or changed, a result lost, the state rolled back: some assertion fails, and none breaks."""
    pack, seen = PACKS[gold.pack], 0
    for kind, played in _broken(gold):
        said = pack.verdicts(_assertions(gold), played, gold.task)
        assert any(said.values()), (kind, [(call["tool"], call["arguments"]) for call in played.trace])
        seen += 1
    assert seen


@pytest.mark.parametrize("name", NAMES)
def test_every_assertion_passes_once_and_fails_once(name: str) -> None:
    """No exported assertion is vacuous, and a template names each."""
    pack = PACKS[name]
    exported = set(pack.predicates())
    named = {each for entry in pack.templates().values() for each in entry["success_assertions"]}
    assert named == exported
    passed: set[str] = set()
    failed: dict[str, set[str]] = {}
    for gold in GOLD:
        if gold.pack != name:
            continue
        passed |= set(_assertions(gold))
        for kind, played in (*_broken(gold), _with_a_refusal(gold)):
            for assertion, why in pack.verdicts(_assertions(gold), played, gold.task).items():
                if why is not None:
                    failed.setdefault(assertion, set()).add(kind)
    assert passed == exported
    assert set(failed) == exported
    state = [
        each
        for each, facts in pack.module("assertions.py").ASSERTION_CAPABILITIES.items()
        if facts["category"] == "state"
    ]
    assert state
    assert [each for each in state if "state rolled back" not in failed[each]] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_assertion_keeps_the_contract(name: str) -> None:
    """Each can be called with the four names, has a literal category, and nothing is left out of the exports."""
    pack = PACKS[name]
    module = pack.module("assertions.py")
    facts = inspect_exports(module, (pack.root / "assertions.py").read_text(encoding="utf-8"))
    assert facts["capability_mistakes"] == facts["oddities"] == []
    assert set(facts["exports"]) == set(module.ASSERTION_CAPABILITIES)
    for export in facts["exports"].values():
        assert export["signature"]["valid"]
        assert export["capability_error"] is None
        assert export["capabilities"]["executable"]
        assert export["capabilities"]["category"] in {"state", "result", "path"}


def test_the_due_date_of_a_loan_is_that_of_its_day() -> None:
    """A book that is due on another day than three weeks later was not lent as it should."""
    gold = next(gold for gold in GOLD if gold.template == "lib_borrow")
    pack = PACKS[gold.pack]
    for clock in ("2026-01-01T00:00:00+00:00", "2028-02-20T12:00:00+09:00"):
        assert pack.verdicts(["assert_book_lent"], pack.play(gold.calls, clock), gold.task, clock) == {
            "assert_book_lent": None
        }
    late = pack.verdicts(["assert_book_lent"], pack.play(gold.calls, "2026-01-02T00:00:00+00:00"), gold.task)
    assert late == {"assert_book_lent": "BK-105 is due on 2026-01-23; 2026-01-22 was expected"}


def test_a_patient_of_an_overview_is_read_first() -> None:
    """The order that `call_order: prefix` asks for is asserted too."""
    gold = next(gold for gold in GOLD if gold.template == "clinic_overview")
    pack = PACKS[gold.pack]
    record, *others = gold.calls
    said = pack.verdicts(_assertions(gold), pack.play([*others, record]), gold.task)
    assert (
        said["assert_patient_read_first"] == "list_prescriptions was called first; get_patient was expected"
    )
    others.reverse()
    assert not any(pack.verdicts(_assertions(gold), pack.play([record, *others]), gold.task).values())
