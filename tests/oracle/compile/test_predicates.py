from __future__ import annotations

import ast
import importlib.util
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from averment.oracle.child.assertions import inspect_exports
from averment.oracle.compile.coverage import direct_coverage
from averment.oracle.compile.predicates import assertions_module
from averment.oracle.compile.prose import MAX_COMMENT, one_line
from averment.oracle.compile.specs import Spec

_names = itertools.count()


def called(id_: str = "lent", target: str = "lend_book", **more: Any) -> Spec:
    fields = {"subject": "trace", "predicate": "tool_called", "rationale": "Why.", **more}
    return Spec(assertion_id=id_, target=target, **fields)


def never(id_: str = "not_removed", target: str = "remove_book") -> Spec:
    return called(id_, target, predicate="tool_not_called")


def after(id_: str = "in_order", target: str = "lend_book", tool: str = "find_book") -> Spec:
    return called(id_, target, predicate="tool_called_after", tool=tool)


@pytest.fixture
def module(tmp_path: Path) -> Callable[..., Any]:
    """The module that specs become, imported from a file."""

    def imported(*specs: Spec) -> Any:
        name = f"compiled_{next(_names)}"
        path = tmp_path / f"{name}.py"
        path.write_text(assertions_module(specs), encoding="utf-8")
        found = importlib.util.spec_from_file_location(name, path)
        assert found is not None
        assert found.loader is not None
        made = importlib.util.module_from_spec(found)
        found.loader.exec_module(made)
        return made

    return imported


def trace(*names: str) -> list[dict[str, Any]]:
    return [{"tool": name, "arguments": {}, "result": {}, "turn_index": 0} for name in names]


def judged(made: Any, name: str, *names: str) -> Any:
    return made.ASSERTIONS[name](state={}, trace=trace(*names), task={}, ctx=None)


def test_a_tool_that_was_called_passes(module: Callable[..., Any]) -> None:
    """Once is enough, wherever."""
    assert judged(module(called()), "assert_lent", "find_book", "lend_book", "lend_book") is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "lend_book was never called; called: no tool"),
        (("b", "a", "b"), "lend_book was never called; called: b, a"),
        (
            tuple(f"t{index}" for index in range(12)),
            "lend_book was never called; called: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more",
        ),
    ],
)
def test_a_tool_that_was_not_called_fails(
    module: Callable[..., Any], names: tuple[str, ...], message: str
) -> None:
    """The failure says which tools were, each once, in order, ten at most."""
    with pytest.raises(AssertionError) as failed:
        judged(module(called()), "assert_lent", *names)
    assert str(failed.value) == message


def test_a_tool_that_must_not_be_called(module: Callable[..., Any]) -> None:
    """Passes where it was not; fails with the first call that it was."""
    made = module(never())
    assert judged(made, "assert_not_removed", "lend_book") is None
    with pytest.raises(AssertionError) as failed:
        judged(made, "assert_not_removed", "lend_book", "remove_book", "remove_book")
    assert str(failed.value) == "remove_book must not be called, and was: call 2 of 3"


@pytest.mark.parametrize("names", [("find_book", "lend_book"), ("find_book", "lend_book", "find_book")])
def test_an_order_holds_by_the_first_calls(module: Callable[..., Any], names: tuple[str, ...]) -> None:
    """What comes after both were called changes nothing."""
    assert judged(module(after()), "assert_in_order", *names) is None


def test_an_order_that_is_turned_around_fails(module: Callable[..., Any]) -> None:
    """The first call of the earlier tool comes after the first of the later."""
    with pytest.raises(AssertionError) as failed:
        judged(module(after()), "assert_in_order", "x", "lend_book", "find_book", "lend_book")
    assert str(failed.value) == (
        "find_book must be called before lend_book: lend_book was call 2, and find_book only call 3"
    )


@pytest.mark.parametrize("names", [(), ("lend_book",), ("find_book", "find_book")])
def test_an_order_is_not_applicable_unless_both_were_called(
    module: Callable[..., Any], names: tuple[str, ...]
) -> None:
    """The contract's mapping: a status and a detail, the earlier tool first."""
    assert judged(module(after()), "assert_in_order", *names) == {
        "status": "not_applicable",
        "detail": "find_book and lend_book were not both called",
    }


def test_the_pack_contract_is_kept(module: Callable[..., Any]) -> None:
    """Keyword-only parameters, names with `assert_`, sorted by id; literal capabilities; nothing imported."""
    specs = [called("b_b"), never("a_a"), after("0_z")]
    text = assertions_module(specs)
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    names = ["assert_0_z", "assert_a_a", "assert_b_b"]
    assert [node.name for node in functions] == names
    for node in functions:
        assert not node.args.args
        assert [each.arg for each in node.args.kwonlyargs] == ["state", "trace", "task", "ctx"]
    assigned = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    capability = {"trace": True, "executable": True, "category": "path"}
    assert ast.literal_eval(assigned["ASSERTION_CAPABILITIES"]) == dict.fromkeys(names, capability)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert list(module(*specs).ASSERTIONS) == names


def test_only_the_helpers_that_are_used_are_written() -> None:
    """A file of one predicate has no code of the others."""
    assert "_require_order" not in assertions_module([called()])
    assert "_require_called" not in assertions_module([after()])


def test_a_rationale_cannot_become_a_statement() -> None:
    """Line ends of every kind are folded into one comment line."""
    text = assertions_module([called(rationale="line one\nraise SystemExit(1)\n\n  line two")])
    assert "    # Rationale: line one raise SystemExit(1) line two\n" in text
    assert "\n    raise SystemExit" not in text


_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters() | st.sampled_from([*_LINE_ENDS, "#", '"', "'", "\\", "\0"])))
@example("\ud800 # type: ignore \x00\n'''\n\"\"\"")
@example("# -*- coding: utf-7 -*-\u2028import os\x85import os\fimport os\rimport os")
def test_no_rationale_changes_the_code(rationale: str) -> None:
    """Whatever the text, the program is the same, and the comment is one line of bounded length."""
    text = assertions_module([called(rationale=rationale)])
    plain = assertions_module([called()])
    assert ast.dump(ast.parse(text.encode())) == ast.dump(ast.parse(plain))
    assert len(text.splitlines()) == len(plain.splitlines())
    comment = next(line for line in text.splitlines() if line.startswith("    # Rationale: "))
    assert len(comment) <= len("    # Rationale: ") + MAX_COMMENT
    assert comment == comment.rstrip()


def test_a_long_rationale_is_cut_and_an_empty_one_is_told() -> None:
    """The rest stays in the spec."""
    assert one_line("word " * 100).endswith(" word wo...")
    assert len(one_line("x" * 1000)) == MAX_COMMENT
    assert "    # Rationale: none was given.\n" in assertions_module([called(rationale=" \n ")])


@pytest.mark.parametrize(
    "tool", ["a\"b'c", "a\\", "a\nb", "sách_đọc", "\U0001f4d6", "{x}", "\x00", '")\nimport os #', "ü\x85"]
)
def test_odd_names_of_tools_are_literals(module: Callable[..., Any], tool: str) -> None:
    """Quotes, line ends, braces and other scripts stand as escapes, in ASCII, and mean the same tool."""
    text = assertions_module([called(target=tool), never(target=tool), after(target=tool, tool=f"{tool}2")])
    assert text.isascii()
    made = module(called(target=tool), after(target=tool, tool=f"{tool}2"))
    assert judged(made, "assert_lent", tool) is None
    assert judged(made, "assert_in_order", tool)["detail"] == f"{tool}2 and {tool} were not both called"


def _formatted(path: Path, *options: str) -> int:
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--quiet", *options, str(path)]
    return subprocess.run(ruff, check=False).returncode


def test_the_code_is_formatted_whatever_the_length_of_names(tmp_path: Path) -> None:
    """`ruff format` changes nothing, for ids and names around the length of a line, at 88 characters and at 120."""
    path = tmp_path / "assertions.py"
    lengths: Iterable[int] = [3, *range(44, 65)]
    specs = [
        make(f"{kind}{'x' * (length - 1)}", f"{kind}{'y' * length}")
        for length in lengths
        for kind, make in (("a", called), ("b", never), ("c", after))
    ]
    specs += [called("quoted", 'say "it"'), called("slashes", "a\\b"), called("long", "z" * 200)]
    path.write_text(assertions_module(specs), encoding="utf-8")
    assert _formatted(path) == 0
    assert _formatted(path, "--line-length", "120") == 0


def test_the_same_specs_are_the_same_bytes_under_any_hash_seed_and_order() -> None:
    """Neither the seed nor the order of the specs shows."""
    code = (
        "import sys\n"
        "from averment.oracle.compile.predicates import assertions_module\n"
        "from averment.oracle.compile.specs import Spec\n"
        "specs = [Spec(f'id_{i}', 'trace', p, f't{i}', 'r', tool='other') for i in range(9)\n"
        "         for p in ('tool_called', 'tool_called_after', 'tool_not_called')[i % 3:i % 3 + 1]]\n"
        "sys.stdout.write(assertions_module(specs[::int(sys.argv[1])]))\n"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", code, step],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed, step in (("0", "1"), ("1", "-1"), ("4242", "1"))
    }
    assert len(written) == 1
    assert len(written.pop()) > 1000


def test_only_a_direct_call_covers_a_tool() -> None:
    """An order or a prohibition covers neither of its tools; tools and assertions are sorted."""
    specs = [called("z_z"), called("a_a"), after(), never(), called("other", "unpublished")]
    assert direct_coverage(specs, ["remove_book", "lend_book", "find_book"]) == {
        "find_book": [],
        "lend_book": ["assert_a_a", "assert_z_z"],
        "remove_book": [],
    }


def test_what_is_compiled_is_found_right_by_the_validator_of_assertions(module: Callable[..., Any]) -> None:
    """Every export binds the four keywords, and every capability is read as declared; nothing is odd."""
    specs = [called(), never(), after()]
    made = module(*specs)
    found = inspect_exports(made, assertions_module(specs))
    assert list(found["exports"]) == ["assert_in_order", "assert_lent", "assert_not_removed"]
    for export in found["exports"].values():
        assert export["signature"]["valid"]
        assert export["capabilities"] == {"trace": True, "executable": True, "category": "path"}
    assert (found["capability_mistakes"], found["oddities"]) == ([], [])
