from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from averment.errors import PackError, Problem
from averment.oracle.model import cases, endpoint, fixtures, held_out, manifest, templates, tools
from averment.oracle.model.loading import load_pack
from averment.oracle.model.problems import MAX_PROBLEMS, Problems
from averment.oracle.model.template_checks import read_templates
from averment.oracle.model.tree import fingerprint
from averment.text import source

PackOf = Callable[..., Path]
Found = Callable[..., list[Problem]]

EXAMPLES = {
    "manifest.yaml": manifest.EXAMPLE,
    "tools.json": tools.EXAMPLE,
    "task_templates.yaml": templates.EXAMPLE,
    "validation_cases.yaml": cases.EXAMPLE,
    "fixtures.json": fixtures.EXAMPLE,
}


def test_all_problems_of_all_files_are_told_at_once(pack_of: PackOf) -> None:
    """Errors first, each group in the order of files and places; nobody mends one mistake per run."""
    root = pack_of(
        {
            "manifest.yaml": "pack_id: p\nlangages: [en]\n",
            "tools.json": '[{"function": {}}, {"function": {"name": ""}}]',
            "task_templates.yaml": [{"template_id": "a", "turn_policy": "x"}],
            "validation_cases.yaml": "- {id: c, tool: look\n",
            "assertions.py": None,
        }
    )
    with pytest.raises(PackError) as caught:
        load_pack(root)
    assert [(each.code, each.file, each.line) for each in caught.value.problems] == [
        ("missing_field", "manifest.yaml", 1),
        ("file_missing", "assertions.py", None),
        ("tool_name_not_nonempty_string", "tools.json", 1),
        ("tool_name_not_nonempty_string", "tools.json", 1),
        ("missing_field", "task_templates.yaml", 1),
        ("unknown_turn_policy", "task_templates.yaml", 1),
        ("yaml_syntax", "validation_cases.yaml", 2),
        ("unknown_key", "manifest.yaml", 2),
    ]
    assert {each.code for each in caught.value.problems if each.severity == "warning"} == {"unknown_key"}


def test_a_typo_is_a_warning_with_the_nearest_name_and_an_error_when_strict(found: Found) -> None:
    """What the original passes over in silence is told; `strict` refuses it."""
    files = {"validation_cases.yaml": "- id: c\n  tool: look\n  coverage: negatve\n  note: x\n"}
    warned = found(files)
    assert [(each.code, each.nearest, each.line, each.column) for each in warned] == [
        ("unknown_coverage", "negative", 3, 13),
        ("unknown_key", "notes", 4, 3),
    ]
    assert [each.severity for each in found(files, strict=True)] == ["error", "error"]


def test_words_that_yaml_1_1_took_for_booleans_get_the_mend(found: Found) -> None:
    """`yes` is a text in YAML 1.2; the problem says what to write, where a number gets none of that."""
    words, number = (
        found({"validation_cases.yaml": f"- {{id: c, tool: look, reset_before: {value}}}\n"})[0]
        for value in ("no", "0")
    )
    assert (words.code, words.mend) == ("boolean_word", "Write `true` or `false`, without quotes.")
    assert number.code == "wrong_type"


@pytest.mark.parametrize(
    "name", ["manifest.yaml", "tools.json", "task_templates.yaml", "validation_cases.yaml", "fixtures.json"]
)
@pytest.mark.parametrize("text", ["", "{", "\0", "a: 1\na: 2\n"])
def test_a_file_that_is_no_document_is_told_beside_the_others(found: Found, name: str, text: str) -> None:
    """The reader's own problems come through, and the files that the manifest would name are not asked for."""
    problems = found({name: text, "backend.py": None if name == "manifest.yaml" else ""})
    assert {each.file for each in problems} == {name}
    assert all(each.line for each in problems)


def test_a_document_is_bounded(found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of a pack is read without end."""
    monkeypatch.setattr(source, "MAX_DOCUMENT_BYTES", 200)
    problems = found({"fixtures.json": {"rows": ["x" * 200]}})
    assert [each.code for each in problems] == ["document_too_large"]


def test_the_contracts_tolerances(pack_of: PackOf) -> None:
    """Labels become texts, the old name of the first turn is read, values that are no lists stay in the fixtures."""
    root = pack_of(
        {
            "manifest.yaml": "pack_id: 7\nversion: 1.5\nabsent_ids: {books: B-0, cards: [1, x], none: }\n",
            "fixtures.json": {"books": [], "hours": "9-17"},
            "task_templates.yaml": "- template_id: a\n  turn_policy: irrelevant\n  first_turn_templates: {en: Hello}\n"
            "  assistant_milestones: [{type: decline}]\n  edge_signatures: [b, a]\n",
            "validation_cases.yaml": "- {id: c, tool: look, arguments: null}\n",
        }
    )
    pack = load_pack(root)
    assert (pack.manifest.pack_id, pack.manifest.version) == ("7", "1.5")
    assert pack.manifest.absent_ids == {"books": ["B-0"], "cards": [1, "x"], "none": []}
    assert pack.fixtures == {"books": [], "hours": "9-17"}
    assert pack.templates[0].user_turn_templates == {"en": "Hello"}
    assert (pack.templates[0].category, pack.templates[0].edge_signatures) == ("a", ["a", "b"])
    assert pack.cases[0].arguments == {}


def test_a_key_of_the_loader_cant_be_set_by_a_file(found: Found, pack_of: PackOf) -> None:
    """`index` counts entries; one that is written is a key that means nothing."""
    entry = {"id": "c", "tool": "look"}
    files = {"validation_cases.yaml": [entry, {**entry, "id": "d", "index": 7}]}
    assert [(each.code, each.path) for each in found(files)] == [("unknown_key", "$[1].index")]
    assert [case.index for case in load_pack(pack_of(files)).cases] == [0, 1]


@pytest.mark.parametrize(
    ("paths", "present", "oracle"),
    [
        ({}, ["backend.py"], "backend"),
        ({}, ["endpoint_config.yaml"], "endpoint"),
        ({}, ["backend.py", "endpoint_config.yaml"], "backend"),
        ({"endpoint": "endpoint_config.yaml"}, ["backend.py", "endpoint_config.yaml"], "endpoint"),
        ({"backend": "code/oracle.py"}, ["code/oracle.py", "endpoint_config.yaml"], "backend"),
    ],
)
def test_the_oracle_is_what_the_manifest_names_else_the_backend(
    pack_of: PackOf, paths: dict[str, str], present: list[str], oracle: str
) -> None:
    """One of two files, or what `paths` says; the other is no part of the pack's files."""
    content = {"backend.py": "", "code/oracle.py": "", "endpoint_config.yaml": endpoint.EXAMPLE}
    written = {name: content[name] if name in present else None for name in content}
    pack = load_pack(pack_of({**written, "manifest.yaml": {"pack_id": "p", "version": "1", "paths": paths}}))
    assert {"backend", "endpoint"} & set(pack.files) == {oracle}
    assert (pack.endpoint is not None) is (oracle == "endpoint")


def test_the_files_of_an_endpoint_are_relative_to_its_file(pack_of: PackOf) -> None:
    """The service's certificates lie beside its configuration; a slash at the end of its URL is dropped."""
    config = (
        endpoint.EXAMPLE.replace("/library\n", "/library/\n") + "tls: {ca_bundle_path: ../certs/ca.pem}\n"
    )
    paths = {"endpoint": "remote/oracle.yaml"}
    files = {"remote/oracle.yaml": config, "certs/ca.pem": "PEM", "backend.py": None}
    pack = load_pack(pack_of({**files, "manifest.yaml": {"pack_id": "p", "version": "1", "paths": paths}}))
    assert pack.files["ca_bundle"] == "certs/ca.pem"
    assert pack.endpoint is not None
    assert pack.endpoint.base_url == "https://oracle.example.com/library"


@pytest.mark.parametrize(
    "auth",
    [
        {"bearer_token_env": "s3cret!"},
        {"bearer_token_env": 53207},
        {"bearer_token_ref": ["s3cret!"]},
        {"headers": {"x": "s3cret! 53207"}},
        {"headers": "s3cret!"},
    ],
)
def test_what_stands_for_a_secret_is_never_shown(found: Found, auth: dict[str, Any]) -> None:
    """Somebody who pastes a token where its variable's name belongs does not find it in a log."""
    config = {"protocol_version": "bfcl-oracle-http-v1", "base_url": "https://o.example"}
    expected = {"oracle_id": "o", "oracle_version": "1", "content_digest": "sha256:" + "a" * 64}
    problems = found(
        {"backend.py": None, "endpoint_config.yaml": {**config, "expected": expected, "auth": auth}}
    )
    assert problems
    assert not any("s3cret" in each.render() or "53207" in each.render() for each in problems)


@pytest.mark.parametrize(
    ("said", "prompt"),
    [
        ({"system_prompt": "Inline."}, "Inline."),
        ({"system_prompt_path": "p.txt"}, "From a file.\n"),
        ({"system_prompt": "Inline.", "system_prompt_path": "p.txt"}, "Inline."),
        ({"system_prompt": " ", "system_prompt_path": "p.txt"}, "From a file.\n"),
        ({}, None),
    ],
)
def test_an_inline_system_prompt_wins_over_a_file(
    pack_of: PackOf, said: dict[str, str], prompt: str | None
) -> None:
    """A blank one does not count."""
    root = pack_of({"manifest.yaml": {"pack_id": "p", "version": "1", **said}, "p.txt": "From a file.\n"})
    assert load_pack(root).system_prompt == prompt


def test_the_fingerprint_is_one_hash_over_names_and_bytes(pack_of: PackOf) -> None:
    """`name NUL bytes NUL` per file, by logical name; the folders that are no part of a pack don't count."""
    root = pack_of({"a/helper.py": "x", "B.md": "y"})
    before = fingerprint(root)
    whole = hashlib.sha256()
    for name in sorted(
        f"tree/{path.relative_to(root).as_posix()}" for path in root.rglob("*") if path.is_file()
    ):
        whole.update(name.encode() + b"\0" + (root / name.removeprefix("tree/")).read_bytes() + b"\0")
    assert before[0] == f"sha256:{whole.hexdigest()}"
    assert before[1]["tree/a/helper.py"] == f"sha256:{hashlib.sha256(b'x').hexdigest()}"
    for folder in ("__pycache__", ".git", ".ipynb_checkpoints", ".averment", "a/__pycache__"):
        (root / folder).mkdir()
        (root / folder / "noise").write_text("z")
    assert fingerprint(root) == before


def test_a_copy_elsewhere_has_the_same_fingerprint(pack_of: PackOf, tmp_path: Path) -> None:
    """A pack can be moved, renamed and shared; a link on the way to it changes nothing."""
    root = pack_of()
    shutil.copytree(root, tmp_path / "elsewhere" / "renamed")
    (tmp_path / "way").symlink_to(tmp_path / "elsewhere")
    loaded = load_pack(tmp_path / "way" / "renamed")
    assert (loaded.fingerprint, loaded.digests) == fingerprint(root)
    assert loaded.root == tmp_path / "elsewhere" / "renamed"


@pytest.mark.parametrize("change", ["content", "name", "new", "gone"])
def test_any_change_of_the_tree_changes_the_fingerprint_and_names_the_file(
    pack_of: PackOf, change: str
) -> None:
    """The README counts too: nothing keeps a backend from reading it."""
    root = pack_of({"README.md": "text"})
    whole, files = fingerprint(root)
    readme = root / "README.md"
    if change == "content":
        readme.write_text("texT")
    elif change == "name":
        readme.rename(root / "README2.md")
    elif change == "new":
        (root / "empty").write_text("")
    else:
        readme.unlink()
    after, others = fingerprint(root)
    assert after != whole
    drifted = {
        name.removeprefix("tree/") for name in {*files, *others} if files.get(name) != others.get(name)
    }
    expected = {
        "content": {"README.md"},
        "name": {"README.md", "README2.md"},
        "new": {"empty"},
        "gone": {"README.md"},
    }
    assert drifted == expected[change]


def test_bytes_can_move_between_name_and_content_without_a_collision(pack_of: PackOf) -> None:
    """The NULs keep names and contents apart."""
    assert fingerprint(pack_of({"ab": "c"}, "one"))[0] != fingerprint(pack_of({"a": "bc"}, "two"))[0]


def test_a_place_is_found_by_role_and_path(pack_of: PackOf) -> None:
    """Checks say where a thing stands; a file without positions has its name."""
    pack = load_pack(
        pack_of({"validation_cases.yaml": "- id: c\n  tool: look\n  expect: {result_class: success}\n"})
    )
    place = pack.place("validation_cases", (0, "expect", "result_class"))
    assert place == {
        "file": "validation_cases.yaml",
        "line": 3,
        "column": 26,
        "path": "$[0].expect.result_class",
    }
    assert pack.place("validation_cases", (0, "expect"), key=True)["column"] == 3
    assert pack.place("backend") == {"file": "backend.py", "line": None, "column": None, "path": None}
    assert pack.place("fixtures", ("books",)) == {
        "file": None,
        "line": None,
        "column": None,
        "path": "$.books",
    }


def test_the_examples_of_the_reference_are_a_pack(pack_of: PackOf) -> None:
    """What the pages of the files show loads as one pack, without a warning when strict."""
    root = pack_of(
        {
            **EXAMPLES,
            "manifest.yaml": manifest.EXAMPLE + "held_out: held_out.yaml\n",
            "held_out.yaml": held_out.EXAMPLE,
        }
    )
    pack = load_pack(root, strict=True)
    assert pack.held_out is not None
    assert pack.held_out.fixtures == {"books": ["BK-2"]}
    assert [tool.name for tool in pack.tools] == ["lend_book"]
    assert pack.tool("lend_book") is pack.tools[0]
    assert pack.tool("give_book") is None


def test_an_entry_with_a_mistake_starts_no_others(pack_of: PackOf) -> None:
    """A template that can't be read still counts as one that may be reserved."""
    files = {
        "manifest.yaml": {"pack_id": "p", "version": "1", "held_out": "h.yaml"},
        "task_templates.yaml": [{"template_id": "a", "turn_policy": "x", "assistant_milestones": []}],
        "h.yaml": {"version": "1", "templates": ["a"]},
    }
    with pytest.raises(PackError) as caught:
        load_pack(pack_of(files))
    assert [each.code for each in caught.value.problems] == ["unknown_turn_policy", "empty_value"]


def test_problems_are_the_same_under_any_hash_seed(pack_of: PackOf) -> None:
    """Same bytes in, same words out."""
    root = pack_of({"tools.json": None, "manifest.yaml": {"pack_id": "p", "version": "1", "b": 1, "a": 2}})
    code = (
        "import sys\nfrom averment.oracle.model.loading import load_pack\nfrom averment.errors import PackError\n"
        "try:\n    load_pack(sys.argv[1])\nexcept PackError as error:\n    print(error)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, str(root)],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert str(root).encode() not in said.pop()


READERS: dict[str, tuple[Callable[..., object], str]] = {
    "manifest": (manifest.read_manifest, manifest.EXAMPLE),
    "tools": (tools.read_tools, tools.EXAMPLE),
    "templates": (read_templates, templates.EXAMPLE),
    "validation_cases": (cases.read_cases, cases.EXAMPLE),
    "fixtures": (fixtures.read_fixtures, fixtures.EXAMPLE),
    "held_out": (held_out.read_held_out, held_out.EXAMPLE),
    "endpoint": (endpoint.read_endpoint, endpoint.EXAMPLE),
}
JUNK: list[Any] = [None, True, 0, -1, 1.5, "", " ", "x", [], {}, [None], {"a": None}, [[]], 10**30]


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inner:
        yield from places(item, (*path, step))


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    copied: Any = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(copied[path[0]], path[1:], new)
    return copied


@pytest.mark.parametrize("role", READERS)
def test_whatever_stands_anywhere_in_a_file_ends_in_problems_or_a_value(role: str) -> None:
    """No value at any place of any file raises anything; every problem can be shown."""
    reader, example = READERS[role]
    whole = source.read_source(example).value
    for path in places(whole):
        for junk in JUNK:
            problems = Problems()
            read = reader(source.source_of(replaced(whole, path, junk)), problems)
            assert problems or read is not None
            if problems:
                with pytest.raises(PackError) as caught:
                    problems.raise_any()
                assert str(caught.value)


def test_very_many_mistakes_are_cut(found: Found) -> None:
    """A hostile file can't make the report as long, or the loading as slow, as it likes."""
    problems = found({"task_templates.yaml": "[" + "1, " * 20_000 + "]", "tools.json": [{}] * 2_000})
    assert len(problems) == MAX_PROBLEMS
    many = {f"k{number}": 1 for number in range(3_000)}
    assert len(found({"manifest.yaml": {"pack_id": "p", "version": "1", **many}})) == MAX_PROBLEMS
