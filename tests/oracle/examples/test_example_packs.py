from __future__ import annotations

import builtins
import datetime as dt
import os
import random
import time
import uuid
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from example_packs import NAMES, ROOT, ExamplePack, context

from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.catalog.definitions import definition_failures

PROBES = [
    pytest.param(name, chain, id=f"{name}-{chain[0]['id']}")
    for name in NAMES
    for chain in ExamplePack(name).chains()
]


@pytest.fixture(params=NAMES)
def pack(request: pytest.FixtureRequest) -> ExamplePack:
    """Each pack in turn."""
    return ExamplePack(request.param)


def _answers(pack: ExamplePack, backend: Any, fixtures: dict[str, Any] | None = None) -> list[Any]:
    """The result of every probe, and the state after it."""
    found = []
    for chain in pack.chains():
        backend.reset(ctx=context(), fixtures=pack.fixtures() if fixtures is None else fixtures)
        for case in chain:
            result = backend.call_tool(case["tool"], case["arguments"], ctx=context())
            found.append((case["id"], result, backend.get_state()))
    return found


def test_there_are_two_packs_and_both_are_tested() -> None:
    """A pack that is added here is added to the tests."""
    assert sorted(NAMES) == sorted(path.name for path in ROOT.iterdir() if path.is_dir())


def test_a_pack_has_its_files_and_nothing_of_one_machine(pack: ExamplePack) -> None:
    """A pack can be moved: it has no run options in it and no absolute path."""
    files = {path.name for path in pack.root.iterdir() if path.name != "__pycache__"}
    assert {"README.md", "manifest.yaml", "tools.json", "backend.py", "fixtures.json"} <= files
    assert {"task_templates.yaml", "assertions.py", "validation_cases.yaml"} <= files
    assert "validate.yaml" not in files
    for name in files:
        text = (pack.root / name).read_text(encoding="utf-8")
        assert "C:\\" not in text
        assert not any(f"/{top}/" in text for top in ("home", "tmp", "work", "root", "Users", "opt"))


def test_the_readme_tells_of_every_tool_and_template(pack: ExamplePack) -> None:
    """Who reads the README has read what there is."""
    readme = (pack.root / "README.md").read_text(encoding="utf-8")
    assert [name for name in (*pack.tools(), *pack.templates()) if f"`{name}`" not in readme] == []


def test_the_tools_are_declared_in_the_subset(pack: ExamplePack) -> None:
    """The catalog is legal, and the backend implements exactly what it declares."""
    assert [failure for tool in pack.tools().values() for failure in definition_failures(tool)] == []
    assert sorted(pack.module("backend.py").list_tools()) == sorted(pack.tools())


@pytest.mark.parametrize("with_held_out", [True, False], ids=["all_rows", "without_held_out_rows"])
@pytest.mark.parametrize(("name", "chain"), PROBES)
def test_a_chain_of_probes_meets_its_expectations(
    name: str, chain: list[dict[str, Any]], *, with_held_out: bool
) -> None:
    """Class, code, fields and state are as each probe says, whether or not held-out rows are there."""
    pack = ExamplePack(name)
    backend, ctx = pack.module("backend.py"), context()
    backend.reset(ctx=ctx, fixtures=pack.fixtures(with_held_out=with_held_out))
    for case in chain:
        before = backend.get_state()
        result = backend.call_tool(case["tool"], case["arguments"], ctx=ctx)
        expected = dict(case["expect"])
        assert pack.result_class(result) == expected.pop("result_class"), (case["id"], result)
        if "error_code" in expected:
            assert result.get("error", {}).get("code") == expected.pop("error_code"), case["id"]
        if expected.pop("state_unchanged", False):
            assert backend.get_state() == before, case["id"]
        assert {key: result.get(key) for key in expected} == expected, case["id"]
        if pack.result_class(result) == "success":
            parameters = pack.tools()[case["tool"]]["function"]["parameters"]
            assert argument_failures(parameters, case["arguments"]) == [], case["id"]


def test_every_tool_has_probes_that_succeed_and_probes_that_it_refuses(pack: ExamplePack) -> None:
    """Coverage, by the contract's rules."""
    declared = {case["id"]: case for case in pack.cases()}
    seen: dict[str, set[str]] = {name: set() for name in pack.tools()}
    for identifier, result, _ in _answers(pack, pack.module("backend.py")):
        kind = pack.result_class(result)
        tool = declared[identifier]["tool"]
        seen[tool].add("success" if kind == "success" else "negative")
        if declared[identifier].get("coverage") == "negative":
            seen[tool].add("negative")
    assert [tool for tool, kinds in seen.items() if kinds != {"success", "negative"}] == []
    assert len(declared) == len(pack.cases()) >= 25


def test_the_state_changes_where_tools_say_so_and_nowhere_else(pack: ExamplePack) -> None:
    """`x-mutates` is what the probes observe, both ways."""
    declared = {case["id"]: case["tool"] for case in pack.cases()}
    observed = set()
    backend = pack.module("backend.py")
    for chain in pack.chains():
        backend.reset(ctx=context(), fixtures=pack.fixtures())
        for case in chain:
            before = backend.get_state()
            result = backend.call_tool(case["tool"], case["arguments"], ctx=context())
            if backend.get_state() != before:
                assert pack.result_class(result) == "success", case["id"]
                observed.add(declared[case["id"]])
    assert observed == {name for name, tool in pack.tools().items() if tool.get("x-mutates")}


def test_what_is_not_confirmed_waits_and_changes_nothing(pack: ExamplePack) -> None:
    """Every tool that needs the user's word has such a probe; each holds from a bare reset and after its prefix."""
    parameter, asked = pack.confirmation()["parameter"], set()
    for chain in pack.chains():
        for index, case in enumerate(chain):
            if case["arguments"].get(parameter) is not False:
                continue
            asked.add(case["tool"])
            for prefix in ([], chain[:index]):
                backend = pack.module("backend.py")
                backend.reset(ctx=context(), fixtures=pack.fixtures())
                for earlier in prefix:
                    backend.call_tool(earlier["tool"], earlier["arguments"], ctx=context())
                before = backend.get_state()
                result = backend.call_tool(case["tool"], case["arguments"], ctx=context())
                assert pack.result_class(result) == "awaiting_confirmation", case["id"]
                assert backend.get_state() == before, case["id"]
    assert asked == {name for name, tool in pack.tools().items() if tool.get("x-requires-confirmation")}
    assert all(parameter in pack.tools()[name]["function"]["parameters"]["properties"] for name in asked)


def test_absent_ids_are_absent_and_probed(pack: ExamplePack) -> None:
    """Each belongs to no row, and a probe is told so."""
    absent = {name for names in pack.document("manifest.yaml")["absent_ids"].values() for name in names}
    rows = {
        value
        for table in pack.fixtures().values()
        for row in table
        for value in row.values()
        if isinstance(value, str)
    }
    assert not absent & rows
    reported = {
        result["error"].get("id")
        for _, result, _ in _answers(pack, pack.module("backend.py"))
        if result.get("error", {}).get("code") == "not_found"
    }
    assert absent <= reported


def test_two_instances_agree_and_a_second_run_of_one_too(pack: ExamplePack) -> None:
    """Results and states are a function of rows, clock and calls; nothing is left over from what was before."""
    first, second = pack.module("backend.py"), pack.module("backend.py")
    once = _answers(pack, first)
    assert _answers(pack, second) == once
    assert _answers(pack, first) == once


def test_what_goes_in_and_comes_out_is_copied(pack: ExamplePack) -> None:
    """Whoever writes into rows that they gave, or into an answer, changes nothing of the backend's."""
    fixtures = pack.fixtures()
    backend = pack.module("backend.py")
    backend.reset(ctx=context(), fixtures=fixtures)
    before = backend.get_state()
    for table in fixtures.values():
        table.clear()
    for table in backend.get_state().values():
        table.clear()
    for chain in pack.chains():
        case = chain[0]
        backend.reset(ctx=context())
        result = backend.call_tool(case["tool"], case["arguments"], ctx=context())
        after = backend.get_state()
        for value in result.values():
            if isinstance(value, list):
                value.clear()
        assert backend.get_state() == after
    backend.reset(ctx=context())
    assert backend.get_state() == before


def test_a_backend_without_rows_says_so(pack: ExamplePack) -> None:
    """The first reset needs rows; an unknown tool is refused and does not raise."""
    backend = pack.module("backend.py")
    with pytest.raises(ValueError, match=r"fixtures\.json"):
        backend.reset(ctx=context())
    assert backend.call_tool("no_such_tool", {}, ctx=context())["error"]["code"] == "unknown_tool"


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_args: object, **_named: object) -> NoReturn:
        raise AssertionError(f"{name} was asked")

    return refuse


class _Date(dt.date):
    today = classmethod(_refusing("date.today"))


class _Moment(dt.datetime):
    now = classmethod(_refusing("datetime.now"))
    today = classmethod(_refusing("datetime.today"))
    utcnow = classmethod(_refusing("datetime.utcnow"))


def test_a_backend_asks_for_no_clock_no_chance_and_no_file(
    pack: ExamplePack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every ambient source out of order it answers as ever."""
    as_ever, fixtures = _answers(pack, pack.module("backend.py")), pack.fixtures()
    chains, frozen = pack.chains(), context()
    with monkeypatch.context() as patched:
        patched.setattr(dt, "date", _Date)
        patched.setattr(dt, "datetime", _Moment)
        backend = pack.module("backend.py")
        for module, names in (
            (time, ("time", "time_ns", "monotonic", "perf_counter", "localtime", "gmtime", "strftime")),
            (random, ("random", "randint", "choice", "shuffle", "Random")),
            (uuid, ("uuid1", "uuid4")),
            (os, ("urandom", "getenv", "getcwd", "listdir")),
            (builtins, ("open", "hash", "input")),
        ):
            for name in names:
                patched.setattr(module, name, _refusing(name))
        found = []
        for chain in chains:
            backend.reset(ctx=frozen, fixtures=fixtures)
            for case in chain:
                result = backend.call_tool(case["tool"], case["arguments"], ctx=frozen)
                found.append((case["id"], result, backend.get_state()))
    assert found == as_ever


def test_days_follow_the_clock_of_the_context() -> None:
    """What depends on the day depends on the one that is given."""
    library, clinic = ExamplePack("library_lending"), ExamplePack("bilingual_clinic")
    loan = [("borrow_book", {"patron_id": "PT-11", "book_id": "BK-101", "confirm": True})]
    assert library.play(loan).state["books"][0]["due_on"] == "2026-01-22"
    assert library.play(loan, "2026-02-20T23:30:00-05:00").state["books"][0]["due_on"] == "2026-03-13"
    invoice = [("get_invoice", {"invoice_id": "INV-901"})]
    assert clinic.play(invoice).trace[0]["result"]["overdue"] is False
    assert clinic.play(invoice, "2026-01-21T00:00:00+00:00").trace[0]["result"]["overdue"] is True
    cancel = [("cancel_appointment", {"appointment_id": "APT-507", "confirmed": True})]
    assert clinic.play(cancel).trace[0]["result"]["error"]["code"] == "too_late"
    assert clinic.play(cancel, "2025-12-31T09:00:00+00:00").trace[0]["result"]["outcome"] == "cancelled"
    assert clinic.play(cancel, "2025-12-31T09:00:01+00:00").trace[0]["result"]["error"]["code"] == "too_late"


def test_held_out_rows_are_named_by_nobody_else() -> None:
    """What is held out is a family of rows: no other row and no probe refers to one of them."""
    pack = ExamplePack("bilingual_clinic")
    held = pack.document("held_out.yaml")
    reserved = {name for ids in held["fixtures"].values() for name in ids}
    left = pack.fixtures(with_held_out=False)
    assert sum(map(len, pack.fixtures().values())) - sum(map(len, left.values())) == len(reserved)
    named = {str(value) for table in left.values() for row in table for value in row.values()}
    probed = {str(value) for case in pack.cases() for value in case["arguments"].values()}
    assert not reserved & (named | probed)
    assert set(held["templates"]) <= set(pack.templates())
