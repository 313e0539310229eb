from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.errors import PackError, Problem
from averment.oracle.model import tree
from averment.oracle.model.codes import CODES
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import load_options

MANIFEST = {"pack_id": "p", "version": "1"}
DECLINE = {"type": "decline"}
DIGEST = "sha256:" + "a" * 64
EXPECTED = {"oracle_id": "o", "oracle_version": "1", "content_digest": DIGEST}
ENDPOINT = {"protocol_version": "bfcl-oracle-http-v1", "base_url": "https://o.example", "expected": EXPECTED}
BOOKS = {"books": [{"book_id": "1"}, {"book_id": "2"}]}


def manifest(**keys: Any) -> dict[str, Any]:
    return {"manifest.yaml": {**MANIFEST, **keys}}


def template(**keys: Any) -> dict[str, Any]:
    whole = {"template_id": "a", "turn_policy": "irrelevant", "assistant_milestones": [DECLINE], **keys}
    return {"task_templates.yaml": [whole]}


def milestones(*each: Any) -> dict[str, Any]:
    return template(assistant_milestones=list(each))


def case(**keys: Any) -> dict[str, Any]:
    return {"validation_cases.yaml": [{"id": "c", "tool": "look", **keys}]}


def tools(*entries: Any) -> dict[str, Any]:
    return {"tools.json": list(entries)}


def endpoint(**keys: Any) -> dict[str, Any]:
    return {"backend.py": None, "endpoint_config.yaml": {**ENDPOINT, **keys}}


def held_out(keys: dict[str, Any] | None = None, **said: Any) -> dict[str, Any]:
    return {
        **manifest(held_out="held_out.yaml", **(keys or {})),
        "held_out.yaml": {"version": "1", **said},
        "fixtures.json": BOOKS,
    }


LOOK = {"function": {"name": "look"}}

PACKS: dict[str, list[tuple[dict[str, Any], str | None, str | None]]] = {
    "manifest_missing": [({"manifest.yaml": None}, "manifest.yaml", None)],
    "file_missing": [
        ({"tools.json": None}, "tools.json", None),
        ({"assertions.py": None}, "assertions.py", None),
        (manifest(paths={"fixtures": "rows.json"}), "manifest.yaml", "$.paths.fixtures"),
        (manifest(held_out="held.yaml"), "manifest.yaml", "$.held_out"),
        (manifest(system_prompt="Hi.", system_prompt_path="p.txt"), "manifest.yaml", "$.system_prompt_path"),
        (endpoint(tls={"ca_bundle_path": "ca.pem"}), "endpoint_config.yaml", "$.tls.ca_bundle_path"),
    ],
    "outside_pack": [
        (manifest(paths={"tools": "../tools.json"}), "manifest.yaml", "$.paths.tools"),
        (manifest(paths={"tools": "a/../../pack/tools.json"}), "manifest.yaml", "$.paths.tools"),
        (manifest(paths={"tools": "/etc/passwd"}), "manifest.yaml", "$.paths.tools"),
        (manifest(paths={"tools": "C:/tools.json"}), "manifest.yaml", "$.paths.tools"),
        (manifest(paths={"tools": "a\\..\\tools.json"}), "manifest.yaml", "$.paths.tools"),
        (manifest(paths={"tools": ".git/tools.json"}), "manifest.yaml", "$.paths.tools"),
        (endpoint(tls={"ca_bundle_path": "../ca.pem"}), "endpoint_config.yaml", "$.tls.ca_bundle_path"),
    ],
    "both_oracles": [
        (
            {
                **endpoint(),
                **manifest(paths={"backend": "b.py", "endpoint": "endpoint_config.yaml"}),
                "b.py": "",
            },
            "manifest.yaml",
            "$.paths.endpoint",
        )
    ],
    "no_oracle": [({"backend.py": None}, "manifest.yaml", None)],
    "endpoint_config_unused": [({"endpoint_config.yaml": ENDPOINT}, "endpoint_config.yaml", None)],
    "wrong_root": [
        ({"manifest.yaml": ["p"]}, "manifest.yaml", None),
        ({"tools.json": {"tools": []}}, "tools.json", None),
        ({"task_templates.yaml": {}}, "task_templates.yaml", None),
        ({"validation_cases.yaml": "cases\n"}, "validation_cases.yaml", None),
        ({"fixtures.json": []}, "fixtures.json", None),
        ({**held_out(), "held_out.yaml": []}, "held_out.yaml", None),
        ({"backend.py": None, "endpoint_config.yaml": []}, "endpoint_config.yaml", None),
    ],
    "missing_field": [
        ({"manifest.yaml": {"version": "1"}}, "manifest.yaml", None),
        ({"manifest.yaml": {"pack_id": "p"}}, "manifest.yaml", None),
        (
            {"task_templates.yaml": [{"turn_policy": "irrelevant", "assistant_milestones": [DECLINE]}]},
            "task_templates.yaml",
            "$[0]",
        ),
        (template(slots={"s": {"source": "literal:1"}}), "task_templates.yaml", "$[0].slots.s"),
        (
            template(user_simulator_turns=[{"content_template": {}}]),
            "task_templates.yaml",
            "$[0].user_simulator_turns[0]",
        ),
        ({"validation_cases.yaml": [{"tool": "look"}]}, "validation_cases.yaml", "$[0]"),
        ({"validation_cases.yaml": [{"id": "c"}]}, "validation_cases.yaml", "$[0]"),
        ({**held_out(), "held_out.yaml": {}}, "held_out.yaml", None),
        (
            {"backend.py": None, "endpoint_config.yaml": {"expected": EXPECTED, "base_url": "https://o"}},
            "endpoint_config.yaml",
            None,
        ),
    ],
    "wrong_type": [
        (manifest(pack_id=True), "manifest.yaml", "$.pack_id"),
        (manifest(version=["1"]), "manifest.yaml", "$.version"),
        (manifest(held_out=1), "manifest.yaml", "$.held_out"),
        (manifest(absent_ids={"books": [{"id": 1}]}), "manifest.yaml", "$.absent_ids.books[0]"),
        (manifest(absent_ids={"books": True}), "manifest.yaml", "$.absent_ids.books"),
        (template(template_id=1), "task_templates.yaml", "$[0].template_id"),
        ({"task_templates.yaml": ["a"]}, "task_templates.yaml", "$[0]"),
        (case(id=1), "validation_cases.yaml", "$[0].id"),
        (case(expect=["success"]), "validation_cases.yaml", "$[0].expect"),
        (case(expect={"state_unchanged": 1}), "validation_cases.yaml", "$[0].expect.state_unchanged"),
        (tools({**LOOK, "x-mutates": 1}), "tools.json", '$[0]["x-mutates"]'),
        (held_out(version=True), "held_out.yaml", "$.version"),
        (held_out(fixtures={"books": [None]}), "held_out.yaml", "$.fixtures.books[0]"),
        (endpoint(max_request_bytes=True), "endpoint_config.yaml", "$.max_request_bytes"),
    ],
    "empty_value": [
        (manifest(pack_id=" "), "manifest.yaml", "$.pack_id"),
        (manifest(held_out=""), "manifest.yaml", "$.held_out"),
        (manifest(paths={"tools": " "}), "manifest.yaml", "$.paths.tools"),
        (manifest(confirmation={"parameter": ""}), "manifest.yaml", "$.confirmation.parameter"),
        ({**manifest(system_prompt_path="p.txt"), "p.txt": " \n"}, "p.txt", None),
        (template(template_id="  "), "task_templates.yaml", "$[0].template_id"),
        (template(assistant_milestones=[]), "task_templates.yaml", "$[0].assistant_milestones"),
        (milestones({**DECLINE, "id": " "}), "task_templates.yaml", "$[0].assistant_milestones[0].id"),
        (template(edge_signatures=[""]), "task_templates.yaml", "$[0].edge_signatures[0]"),
        (case(id=""), "validation_cases.yaml", "$[0].id"),
        (held_out(version=""), "held_out.yaml", "$.version"),
    ],
    "out_of_range": [
        (template(paraphrase={"max_variants": -1}), "task_templates.yaml", "$[0].paraphrase.max_variants"),
        (endpoint(max_response_bytes=0), "endpoint_config.yaml", "$.max_response_bytes"),
    ],
    "boolean_word": [
        (template(mutates="yes"), "task_templates.yaml", "$[0].mutates"),
        (
            template(slots={"s": {"source": "literal:1", "visible_in_first_turn": "no"}}),
            "task_templates.yaml",
            "$[0].slots.s.visible_in_first_turn",
        ),
        (case(reset_before="True"), "validation_cases.yaml", "$[0].reset_before"),
        (case(expect={"state_unchanged": "on"}), "validation_cases.yaml", "$[0].expect.state_unchanged"),
    ],
    "unknown_field": [
        (manifest(confirmation={"param": "ok"}), "manifest.yaml", "$.confirmation.param"),
        (held_out(rows={}), "held_out.yaml", "$.rows"),
        (held_out(policy={"sed": 1}), "held_out.yaml", "$.policy.sed"),
        (endpoint(auth={"bearer_token": "TOKEN"}), "endpoint_config.yaml", "$.auth.bearer_token"),
    ],
    "unknown_key": [
        (manifest(langages=["en"]), "manifest.yaml", "$.langages"),
        (manifest(paths={"tool": "tools.json"}), "manifest.yaml", "$.paths.tool"),
        (
            manifest(assistant_turn_templates={"ask_slot": {"en": "?"}}),
            "manifest.yaml",
            "$.assistant_turn_templates.ask_slot",
        ),
        (tools({**LOOK, "x-mutate": True}), "tools.json", '$[0]["x-mutate"]'),
        (tools({"function": {"name": "look", "params": {}}}), "tools.json", "$[0].function.params"),
        (template(categry="x"), "task_templates.yaml", "$[0].categry"),
        (template(index=3), "task_templates.yaml", "$[0].index"),
        (milestones({**DECLINE, "texts": {}}), "task_templates.yaml", "$[0].assistant_milestones[0].texts"),
        (
            template(assistant_turn_templates={"tool_call": {}}),
            "task_templates.yaml",
            "$[0].assistant_turn_templates.tool_call",
        ),
        (case(argments={}), "validation_cases.yaml", "$[0].argments"),
        (case(expect={"result_clas": "success"}), "validation_cases.yaml", "$[0].expect.result_clas"),
    ],
    "null_value": [(template(slots=None), "task_templates.yaml", "$[0].slots")],
    "unquoted_version": [({"manifest.yaml": "pack_id: p\nversion: 1.10\n"}, "manifest.yaml", "$.version")],
    "unknown_exempt_tool": [
        (
            manifest(surface_guards={"tool_names_exempt": ["lok"]}),
            "manifest.yaml",
            "$.surface_guards.tool_names_exempt[0]",
        )
    ],
    "tool_not_object": [(tools("look"), "tools.json", "$[0]")],
    "tool_function_not_object": [
        (tools({"function": "look"}), "tools.json", "$[0].function"),
        (tools({"name": "look"}), "tools.json", "$[0].function"),
    ],
    "tool_name_not_nonempty_string": [
        (tools({"function": {}}), "tools.json", "$[0].function.name"),
        (tools({"function": {"name": " "}}), "tools.json", "$[0].function.name"),
        (tools({"function": {"name": 1}}), "tools.json", "$[0].function.name"),
    ],
    "duplicate_tool": [(tools(LOOK, LOOK), "tools.json", "$[1].function.name")],
    "duplicate_template": [
        (
            {"task_templates.yaml": template()["task_templates.yaml"] * 2},
            "task_templates.yaml",
            "$[1].template_id",
        )
    ],
    "unknown_turn_policy": [(template(turn_policy="single-turn"), "task_templates.yaml", "$[0].turn_policy")],
    "unknown_call_order": [(template(call_order="ordered"), "task_templates.yaml", "$[0].call_order")],
    "call_order_prefix_missing": [(template(call_order="prefix"), "task_templates.yaml", "$[0].call_order")],
    "call_order_prefix_unused": [
        (template(call_order_prefix=1), "task_templates.yaml", "$[0].call_order_prefix")
    ],
    "call_order_prefix_out_of_range": [
        (
            template(call_order="prefix", call_order_prefix=size, required_tools=names),
            "task_templates.yaml",
            "$[0].call_order_prefix",
        )
        for size, names in [(2, ["look"]), (0, ["look"]), (1, [])]
    ],
    "duplicate_tool_present": [
        (template(tools_present=["look", "look"]), "task_templates.yaml", "$[0].tools_present[1]")
    ],
    "required_tool_not_present": [
        (template(required_tools=["look"], tools_present=[]), "task_templates.yaml", "$[0].required_tools[0]")
    ],
    "unknown_milestone_type": [
        (milestones({"type": "call_tool"}), "task_templates.yaml", "$[0].assistant_milestones[0].type")
    ],
    "milestone_without_tool": [
        (milestones({"type": "tool_call"}), "task_templates.yaml", "$[0].assistant_milestones[0]")
    ],
    "duplicate_milestone_id": [
        (
            milestones({**DECLINE, "id": "m"}, DECLINE, {**DECLINE, "id": "m"}),
            "task_templates.yaml",
            "$[0].assistant_milestones[2].id",
        )
    ],
    "call_group_not_scalar": [
        (
            milestones({"type": "tool_call", "tool": "look", "call_group": [0]}),
            "task_templates.yaml",
            "$[0].assistant_milestones[0].call_group",
        )
    ],
    "duplicate_edge_signature": [
        (template(edge_signatures=["e", "e"]), "task_templates.yaml", "$[0].edge_signatures[1]")
    ],
    "filter_ignored": [
        (
            template(slots={"s": {"source": "literal:1", "filter": "a == 1", "visible_in_first_turn": True}}),
            "task_templates.yaml",
            "$[0].slots.s.filter",
        ),
        (
            template(
                user_simulator_turns=[
                    {
                        "after": "decline",
                        "content_template": {},
                        "slot_updates": {"s": {"source": "absent:b", "filter": "a == 1"}},
                    }
                ]
            ),
            "task_templates.yaml",
            "$[0].user_simulator_turns[0].slot_updates.s.filter",
        ),
    ],
    "alias_ignored": [
        (
            template(first_turn_templates={"en": "a"}, user_turn_templates={"en": "b"}),
            "task_templates.yaml",
            "$[0].first_turn_templates",
        )
    ],
    "duplicate_case": [
        ({"validation_cases.yaml": [{"id": "c", "tool": "look"}] * 2}, "validation_cases.yaml", "$[1].id")
    ],
    "unknown_result_class": [
        (case(expect={"result_class": value}), "validation_cases.yaml", "$[0].expect.result_class")
        for value in ("sucess", None, ["success"])
    ],
    "unknown_coverage": [(case(coverage="negatve"), "validation_cases.yaml", "$[0].coverage")],
    "state_unchanged_false": [
        (case(expect={"state_unchanged": False}), "validation_cases.yaml", "$[0].expect.state_unchanged")
    ],
    "unknown_held_out_collection": [
        (held_out(fixtures={"book": ["1"]}), "held_out.yaml", "$.fixtures.book"),
        (
            {**held_out(fixtures={"hours": []}), "fixtures.json": {"hours": "9-17"}},
            "held_out.yaml",
            "$.fixtures.hours",
        ),
    ],
    "unknown_held_out_id": [(held_out(fixtures={"books": ["3"]}), "held_out.yaml", "$.fixtures.books[0]")],
    "duplicate_held_out_id": [
        (held_out(fixtures={"books": ["1", 1]}), "held_out.yaml", "$.fixtures.books[1]")
    ],
    "held_out_id_absent": [
        (
            held_out(keys={"absent_ids": {"books": "1"}}, fixtures={"books": [1]}),
            "held_out.yaml",
            "$.fixtures.books[0]",
        )
    ],
    "held_out_key_ambiguous": [
        (
            held_out(keys={"primary_keys": {"books": "isbn"}}, fixtures={"books": ["1"]}),
            "held_out.yaml",
            "$.fixtures.books",
        )
    ],
    "held_out_key_missing": [
        (
            {**held_out(fixtures={"books": ["1"]}), "fixtures.json": {"books": [{"book_id": "1"}, {}]}},
            "held_out.yaml",
            "$.fixtures.books",
        )
    ],
    "held_out_key_not_unique": [
        (
            {
                **held_out(fixtures={"books": ["1"]}),
                "fixtures.json": {"books": [{"book_id": "1"}, {"book_id": 1}]},
            },
            "held_out.yaml",
            "$.fixtures.books",
        )
    ],
    "unknown_held_out_template": [(held_out(templates=["b"]), "held_out.yaml", "$.templates[0]")],
    "duplicate_held_out_template": [(held_out(templates=["a", "a"]), "held_out.yaml", "$.templates[1]")],
    "unsupported_protocol": [(endpoint(protocol_version="v2"), "endpoint_config.yaml", "$.protocol_version")],
    "invalid_base_url": [
        (endpoint(base_url=url), "endpoint_config.yaml", "$.base_url")
        for url in (
            *(
                "http://o.example",
                "https://",
                "https://u:p@o.example",
                "https://o.example?q=1",
                "https://o.example#f",
            ),
            *(
                "https://o.example/a b",
                "https://o.example/%zz",
                "o.example",
                "https://-o.example",
                "https://ö.example",
            ),
        )
    ],
    "invalid_digest": [
        (
            endpoint(expected={**EXPECTED, "content_digest": "sha256:REPLACE"}),
            "endpoint_config.yaml",
            "$.expected.content_digest",
        ),
        (
            endpoint(expected={**EXPECTED, "principal_digest": DIGEST.upper()}),
            "endpoint_config.yaml",
            "$.expected.principal_digest",
        ),
        (
            endpoint(attestation={"kind": "bfcl-endpoint-conformance-v1", "expected_digest": "x"}),
            "endpoint_config.yaml",
            "$.attestation.expected_digest",
        ),
    ],
    "two_bearer_sources": [
        (
            endpoint(auth={"bearer_token_env": "A", "bearer_token_ref": "vault:a"}),
            "endpoint_config.yaml",
            "$.auth.bearer_token_ref",
        )
    ],
    "reserved_header": [
        (endpoint(auth={"headers": {name: "A"}}), "endpoint_config.yaml", path)
        for name, path in [
            ("authorization", "$.auth.headers.authorization"),
            ("HOST", "$.auth.headers.HOST"),
            ("Content-Length", '$.auth.headers["Content-Length"]'),
        ]
    ],
    "not_an_env_name": [
        (endpoint(auth={"bearer_token_env": "sk-123"}), "endpoint_config.yaml", "$.auth.bearer_token_env"),
        (endpoint(auth={"headers": {"x": "to ken"}}), "endpoint_config.yaml", "$.auth.headers.x"),
        (endpoint(auth={"headers": {"x": 7}}), "endpoint_config.yaml", "$.auth.headers.x"),
    ],
    "unsupported_attestation": [
        (
            endpoint(attestation={"kind": "v2", "expected_digest": DIGEST}),
            "endpoint_config.yaml",
            "$.attestation.kind",
        )
    ],
}
"""For each code the smallest packs that earn it and nothing else, and where it is said."""


def _no_folder(root: Path, _: pytest.MonkeyPatch) -> Path:
    return root.parent / "nowhere"


def _a_file(root: Path, _: pytest.MonkeyPatch) -> Path:
    return root / "manifest.yaml"


def _a_link(root: Path, _: pytest.MonkeyPatch) -> Path:
    (root / "notes").mkdir()
    (root / "notes" / "link.txt").symlink_to(root / "backend.py")
    return root


def _a_link_of_a_folder(root: Path, _: pytest.MonkeyPatch) -> Path:
    (root / ".git").symlink_to(root.parent)
    return root


def _a_link_to_a_document(root: Path, _: pytest.MonkeyPatch) -> Path:
    (root / "tools.json").rename(root.parent / "tools.json")
    (root / "tools.json").symlink_to(root.parent / "tools.json")
    return root


def _a_pipe(root: Path, _: pytest.MonkeyPatch) -> Path:
    os.mkfifo(root / "pipe")
    return root


def _a_socket(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(root)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("s")
    return root


def _a_folder_for_a_file(root: Path, _: pytest.MonkeyPatch) -> Path:
    (root / "tools.json").unlink()
    (root / "tools.json").mkdir()
    return root


def _a_name_in_latin_1(root: Path, _: pytest.MonkeyPatch) -> Path:
    with open(os.fsencode(root) + b"/caf\xe9", "wb"):
        return root


def _many_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tree, "MAX_TREE_FILES", 5)
    return root


def _large_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tree, "MAX_TREE_BYTES", 5)
    return root


def _no_permission(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    opened = os.open

    def refusing(path: Any, *arguments: Any, **more: Any) -> int:
        if str(path).endswith("README"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **more)

    (root / "README").write_text("text")
    monkeypatch.setattr(os, "open", refusing)
    return root


DISK: dict[str, list[tuple[Callable[[Path, pytest.MonkeyPatch], Path], str | None]]] = {
    "pack_not_found": [(_no_folder, None)],
    "not_a_directory": [(_a_file, None)],
    "symlink_refused": [
        (_a_link, "notes/link.txt"),
        (_a_link_of_a_folder, ".git"),
        (_a_link_to_a_document, "tools.json"),
    ],
    "not_a_regular_file": [(_a_pipe, "pipe"), (_a_socket, "s"), (_a_folder_for_a_file, "tools.json")],
    "name_not_text": [(_a_name_in_latin_1, "caf\\udce9")],
    "too_many_files": [(_many_files, None)],
    "pack_too_large": [(_large_files, None)],
    "file_unreadable": [(_no_permission, "README")],
}
"""For each code what to do to the smallest pack on disk, and the file that is at fault."""

OPTIONS: dict[str, list[tuple[str, str | None]]] = {
    "wrong_root": [("- clock", None)],
    "wrong_type": [("random_seed: '7'", "$.random_seed"), ("tool_timeout_s: true", "$.tool_timeout_s")],
    "empty_value": [("language: ''", "$.language"), ("output_dir: ' '", "$.output_dir")],
    "out_of_range": [
        ("tool_timeout_s: 0", "$.tool_timeout_s"),
        ("oracle_runtime: {reset_timeout_s: -1}", "$.oracle_runtime.reset_timeout_s"),
        ("random_seed: -1", "$.random_seed"),
        (f"random_seed: {2**64}", "$.random_seed"),
        ("task_generation: {tasks_per_category: 0}", "$.task_generation.tasks_per_category"),
    ],
    "invalid_clock": [
        (f"clock: '{text}'", "$.clock")
        for text in (
            *("2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00+00:00", "2026-02-30T00:00:00Z", "now"),
            *(
                "2026-01-01T24:00:00Z",
                "2026-01-01T00:00:60Z",
                "2026-01-01T00:00:00+24:00",
                "2026-01-01T00:00:00-00:00",
            ),
        )
    ],
    "unsupported_worker": [
        ("worker: thread", "$.worker"),
        ("oracle_runtime: {worker: 1}", "$.oracle_runtime.worker"),
    ],
    "option_given_twice": [
        ("language: en\nsurface_generation: {language: en}", "$.surface_generation.language")
    ],
    "unknown_key": [("clok: 1", "$.clok"), ("oracle_runtime: {wrker: 1}", "$.oracle_runtime.wrker")],
    "null_value": [],
}
"""For each code the options that earn it."""


def said(problems: list[Problem]) -> list[tuple[str, str | None, str | None]]:
    return [(problem.code, problem.file, problem.path) for problem in problems]


@pytest.mark.parametrize(
    ("code", "files", "file", "path"),
    [(code, *each) for code, packs in PACKS.items() for each in packs],
)
def test_the_smallest_pack_earns_exactly_its_code(
    found: Callable[..., list[Problem]], code: str, files: dict[str, Any], file: str | None, path: str | None
) -> None:
    """One mistake is one problem, at its place, with a mend; a warning exactly where the table of codes says so."""
    problems = found(files)
    assert said(problems) == [(code, file, path)]
    assert problems[0].mend
    assert (problems[0].severity == "warning") is CODES[code].about.startswith("Warning:")
    assert (problems[0].line is not None) is (path is not None or code in {"wrong_root", "missing_field"})


@pytest.mark.parametrize(
    ("code", "prepare", "file"), [(code, *each) for code, ways in DISK.items() for each in ways]
)
def test_what_lies_on_disk_earns_exactly_its_code(
    pack_of: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, code: str, prepare: Any, file: str | None
) -> None:
    """What no pack may be or hold is refused by name, and nothing follows from it twice."""
    root = prepare(pack_of(), monkeypatch)
    with pytest.raises(PackError) as caught:
        load_pack(root)
    assert [problem.code for problem in caught.value.problems] == [code]
    assert caught.value.problems[0].mend == CODES[code].mend
    assert file is None or caught.value.problems[0].file == file


@pytest.mark.parametrize(
    ("code", "text", "path"), [(code, *each) for code, options in OPTIONS.items() for each in options]
)
def test_options_earn_exactly_their_code(tmp_path: Path, code: str, text: str, path: str | None) -> None:
    """Mistakes in run options are told as those in packs are; warnings are errors when strict."""
    file = tmp_path / "run.yaml"
    file.write_text(text)
    with pytest.raises(PackError) as caught:
        load_options(file, strict=True)
    assert said(list(caught.value.problems)) == [(code, str(file), path)]
    assert caught.value.problems[0].mend


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_options_that_cant_be_read_are_refused(tmp_path: Path, name: str) -> None:
    """A path without a file is a problem with a code, not a traceback."""
    with pytest.raises(PackError) as caught:
        load_options(tmp_path / name)
    assert [problem.code for problem in caught.value.problems] == ["options_unreadable"]


def test_every_code_is_earned_here() -> None:
    """A code that no test earns would be a promise that nobody has seen kept."""
    earned = {code for table in (PACKS, DISK, OPTIONS) for code, ways in table.items() if ways}
    assert earned | {"options_unreadable"} == set(CODES)
