"""The starter: what it consists of, that it loads without a word, and that everything in it does what it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.oracle.catalog.definitions import definition_failures
from averment.oracle.model.loading import load_pack
from averment.oracle.scaffold.identity import Identity
from averment.oracle.scaffold.new import new_pack

New = Callable[..., Path]

COMMON = {
    *("README.md", "assertions.py", "fixtures.json", "manifest.yaml", "task_templates.yaml", "tools.json"),
    "validation_cases.yaml",
}
VARIANTS: list[tuple[tuple[str, ...], set[str]]] = [
    ((), COMMON | {"backend.py"}),
    (("--held-out",), COMMON | {"backend.py", "held_out.yaml"}),
    (("--transport", "endpoint"), COMMON | {"endpoint_config.yaml"}),
    (("--transport", "endpoint", "--held-out"), COMMON | {"endpoint_config.yaml", "held_out.yaml"}),
    (("--language", "vi"), COMMON | {"backend.py"}),
    (("--language", "no", "--version", "2.0"), COMMON | {"backend.py"}),
]
NAMES = [" ".join(options) or "plain" for options, _ in VARIANTS]
TEMPLATES = ("starter_get_record", "starter_missing_record", "starter_update_record", "starter_irrelevant")


@pytest.mark.parametrize(("options", "files"), VARIANTS, ids=NAMES)
def test_it_has_exactly_the_files_of_its_kind(new: New, options: tuple[str, ...], files: set[str]) -> None:
    """No run options and nothing else besides; the README has a word on each."""
    folder = new("archive", *options)
    assert {path.name for path in folder.iterdir()} == files
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert [name for name in files - {"README.md"} if f"`{name}`" not in readme] == []


@pytest.mark.parametrize(("options", "files"), VARIANTS, ids=NAMES)
def test_it_loads_strictly_without_a_warning(new: New, options: tuple[str, ...], files: set[str]) -> None:
    """Every file has the right shape, and no key is unknown; the texts stand under the language asked for."""
    pack = load_pack(new("Archive 12", *options), strict=True)
    language = options[1] if "--language" in options else "en"
    assert pack.warnings == ()
    assert (pack.manifest.pack_id, pack.manifest.languages) == ("archive_12", [language])
    assert pack.manifest.version == (options[3] if "--version" in options else "0.1.0")
    assert {key for each in pack.templates for key in each.user_turn_templates} == {language}
    assert (pack.held_out is not None) == ("held_out.yaml" in files)
    assert (pack.endpoint is not None) == ("endpoint_config.yaml" in files)
    assert pack.manifest.system_prompt
    assert [failure for tool in pack.tools for failure in definition_failures(tool.declared)] == []


def test_a_placeholder_is_left_nowhere() -> None:
    """Each word that stands for something was replaced."""
    for transport in ("python", "endpoint"):
        identity = Identity(pack_id="p", language="vi", transport=transport, held_out=True)
        for name, data in new_pack(identity).files.items():
            assert b"__P" not in data, name
            assert b"__L" not in data, name
            assert b"__V" not in data, name
            assert b"__T" not in data, name


def test_every_probe_comes_to_what_it_expects(new: New, running: Any, result_class: Any) -> None:
    """In chains, as the check runs them; what succeeds is allowed by the schema, and only what may changes anything."""
    pack = running(new())
    seen: dict[str, set[str]] = {}
    for case, result, unchanged in pack.probes():
        expect = dict(case["expect"])
        found = result_class(result)
        seen.setdefault(case["tool"], set()).add(found)
        assert found == expect.pop("result_class"), case["id"]
        assert result.get("error", {}).get("code") == expect.pop("error_code", None), case["id"]
        assert unchanged or not expect.pop("state_unchanged", False), case["id"]
        assert unchanged == (found != "success" or case["tool"] == "get_record"), case["id"]
        assert {key: result[key] for key in expect if key != "state_unchanged"} == {
            key: value for key, value in expect.items() if key != "state_unchanged"
        }
        assert pack.allows(case["tool"], case["arguments"]) or found == "structured_error"
    assert seen["get_record"] == {"success", "structured_error"}
    assert seen["update_record"] == {"success", "structured_error", "awaiting_confirmation"}


@pytest.mark.parametrize("options", [(), ("--held-out",)], ids=["plain", "held out"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_every_task_played_as_written_passes(
    new: New, running: Any, template: str, options: tuple[str, ...]
) -> None:
    """The calls of a template satisfy its assertions for every value of its slots, and the tools' schemas."""
    pack = running(new("archive", *options))
    for task in pack.tasks(template):
        trace = pack.play(template, task)
        assert pack.judge(template, task, trace) == []
        assert all(pack.allows(call["tool"], call["arguments"]) for call in trace)


def _dropped(calls: list[Any]) -> list[Any]:
    return calls[1:]


def _doubled(calls: list[Any]) -> list[Any]:
    return calls * 2


def _elsewhere(calls: list[Any]) -> list[Any]:
    return [(tool, {**arguments, "record_id": "REC-003"}) for tool, arguments in calls]


def _unconfirmed(calls: list[Any]) -> list[Any]:
    return [(tool, {**arguments, "confirm": False}) for tool, arguments in calls]


def _and_another(calls: list[Any]) -> list[Any]:
    return [*calls, ("update_record", {"record_id": "REC-003", "location": "desk", "confirm": True})]


@pytest.mark.parametrize(
    ("template", "change"),
    [
        *((template, change) for template in TEMPLATES[:3] for change in (_dropped, _doubled, _elsewhere)),
        *((template, _and_another) for template in TEMPLATES),
        ("starter_update_record", _unconfirmed),
    ],
)
def test_no_assertion_passes_whatever_happens(new: New, running: Any, template: str, change: Any) -> None:
    """A call too few, a call too many, the wrong record, no confirmation: each is seen."""
    pack = running(new())
    task = next(pack.tasks(template))
    assert pack.judge(template, task, pack.play(template, task, change=change)) != []


def test_results_and_state_are_copies(new: New, running: Any) -> None:
    """Nobody who is given a result, the state or the fixtures can change what the tools know."""
    pack = running(new())
    pack.reset()
    row = pack.backend.call_tool("get_record", {"record_id": "REC-001"}, ctx=None)
    row["title"] = "forged"
    pack.backend.get_state()["records"].clear()
    pack.fixtures["records"][0]["title"] = "forged"
    assert (
        pack.backend.call_tool("get_record", {"record_id": "REC-001"}, ctx=None)["title"] == "Harbour survey"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("get_record", {}, {"code": "invalid_argument", "field": "record_id"}),
        ("update_record", {"record_id": 1}, {"code": "invalid_argument", "field": "record_id"}),
        ("update_record", {"record_id": "REC-001"}, {"code": "invalid_argument", "field": "location"}),
        (
            "update_record",
            {"record_id": "REC-001", "location": "desk", "confirm": "yes"},
            {"code": "invalid_argument", "field": "confirm"},
        ),
        (
            "update_record",
            {"record_id": "REC-009", "location": "desk"},
            {"code": "not_found", "entity": "record", "id": "REC-009"},
        ),
        ("delete_record", {}, {"code": "unknown_tool", "id": "delete_record"}),
    ],
)
def test_refusals_are_results(new: New, running: Any, tool: str, arguments: Any, error: Any) -> None:
    """What can't be done is said with a code, and never raised."""
    pack = running(new())
    pack.reset()
    assert pack.backend.call_tool(tool, arguments, ctx=None) == {"error": error}


def test_the_time_is_that_of_the_context(new: New, running: Any) -> None:
    """No clock is read."""
    pack = running(new())
    task = {"slots": {"record_id": "REC-002", "location": "shelf"}}
    assert pack.play("starter_update_record", task)[0]["result"]["moved_at"] == "2026-01-01T00:00:00+00:00"


def test_a_moved_and_renamed_copy_is_the_same_pack(new: New, tmp_path: Path) -> None:
    """The fingerprint is of the files; no file names a place on this machine."""
    folder = new()
    copied = tmp_path / "elsewhere" / "other name"
    shutil.copytree(folder, copied)
    before, after = load_pack(folder), load_pack(copied)
    assert before.fingerprint == after.fingerprint
    assert before.digests == after.digests
    assert not any(os.fsencode(tmp_path) in path.read_bytes() for path in folder.iterdir())


def test_two_packs_of_one_identity_are_the_same_in_any_process(new: New, tmp_path: Path) -> None:
    """The same bytes, whatever the hash seed and the locale."""
    folder = new("archive", "--held-out")
    code = (
        "import sys; from averment.cli import pack_new; from averment.cli.parser import Parser, parse\n"
        "p = Parser('x', ''); pack_new.configure(p)\n"
        "pack_new.execute(parse(p, ['archive', '--held-out', '--target', sys.argv[1]]))"
    )
    for seed in ("1", "2"):
        other = tmp_path / f"seed{seed}"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        subprocess.run(
            [sys.executable, "-c", code, str(other)], check=True, env=environment, capture_output=True
        )
        for path in folder.iterdir():
            assert (other / path.name).read_bytes() == path.read_bytes(), path.name


def test_without_held_out_rows_there_is_no_such_row(new: New) -> None:
    """The reserved row is there only where it is reserved."""
    plain = json.loads((new() / "fixtures.json").read_text())
    more = json.loads((new("archive", "--held-out", target="more") / "fixtures.json").read_text())
    assert more["records"][:-1] == plain["records"]
    assert more["records"][-1]["record_id"] == "REC-HELD-OUT-1"
