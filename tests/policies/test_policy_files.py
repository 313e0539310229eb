from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from averment.errors import DocumentError
from averment.policies import (
    PolicyNotFoundError,
    PolicyShelf,
    bundled_names,
    load_policy,
    read_policy,
)
from averment.text.source import read_source

YAML = """\
name: house
version: 1.5
title: House rules
rules:
  - id: no-slang
    type: banned
    regex: '\\bslang\\b'
    role: agent
    description: Nobody uses slang.
"""


def problems(text: str) -> list[tuple[str, int | None, int | None]]:
    with pytest.raises(DocumentError) as caught:
        read_policy(read_source(text, name="house.yaml"))
    assert {problem.file for problem in caught.value.problems} == {"house.yaml"}
    return [(problem.code, problem.line, problem.column) for problem in caught.value.problems]


def rule(**fields: Any) -> dict[str, Any]:
    return {"id": "a", "type": "banned", "regex": "a", **fields}


def test_yaml_and_json_are_the_same_policy(tmp_path: Path) -> None:
    """The digest is over what a policy says, not over how it is written."""
    (tmp_path / "a.yaml").write_text(YAML)
    first = load_policy(None, "a.yaml", str(tmp_path))
    (tmp_path / "a.json").write_text(json.dumps(first.content(), indent=7))
    second = load_policy(None, "a.json", str(tmp_path))
    assert first == second
    assert first.sha256 == second.sha256
    assert (first.name, first.version, first.rules[0].role) == ("house", 1.5, "agent")


def test_a_digest_changes_with_every_part_of_a_policy() -> None:
    """A rule, a pattern or a version makes another policy of it."""
    said = [
        {"rules": [rule()]},
        {"rules": [rule(regex="b")]},
        {"rules": [rule(role="agent")]},
        {"rules": [rule()], "version": 2},
        {"rules": [rule(), rule(id="b")]},
    ]
    digests = {read_policy(read_source(json.dumps(each))).sha256 for each in said}
    assert len(digests) == len(said)


def test_the_bundled_policies_are_known_by_name() -> None:
    """Each is readable, is called what its file is called, and says what each rule is for."""
    assert bundled_names() == ["default"]
    for name in bundled_names():
        bundled = load_policy(name, None, "")
        assert bundled.name == name
        assert all(each.description for each in bundled.rules)
    assert load_policy(None, None, "") is load_policy("default", None, "")


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("Damn it", True),
        ("hellish", False),
        ("we GUARANTEE", True),
        ("guarantees", False),
        ("100% certain", True),
    ],
)
def test_the_default_policy_bans_whole_words_in_any_case(text: str, hit: bool) -> None:
    """Words within other words are no violation."""
    import re

    rules = load_policy("default", None, "").rules
    banned = [each.regex for each in rules if each.type == "banned"]
    assert any(re.search(regex, text, re.IGNORECASE) for regex in banned) is hit


def test_all_mistakes_of_a_file_are_told_with_their_places() -> None:
    """A duplicate id and a bad pattern are both found, the pattern at the character that is wrong."""
    twice = YAML + "  - {id: no-slang, type: banned, regex: 'ab('}\n"
    assert problems(twice) == [("duplicate_id", 10, 10), ("bad_pattern", 10, 44)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"rules": [rule(type="forbidden")]}, ["not_allowed"]),
        ({"rules": [rule(regex=5)]}, ["wrong_type"]),
        ({"rules": [rule(regex="")]}, ["empty_value"]),
        ({"rules": [rule(id="")]}, ["empty_value"]),
        ({"rules": [{"id": "a"}]}, ["missing_field", "missing_field"]),
        ({"rules": [rule(regx="a")]}, ["unknown_field"]),
        ({"rules": "none"}, ["wrong_type"]),
        ({}, ["missing_field"]),
        ([], ["wrong_type"]),
    ],
)
def test_a_malformed_policy_is_refused(said: Any, expected: list[str]) -> None:
    """A policy is checked like a document; the reference crashed on a pattern that was a number."""
    assert [code for code, *_ in problems(json.dumps(said))] == expected


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent.yaml", "does not exist"),
        ("folder", "is not a regular file"),
        ("pipe", "is not a regular file"),
        ("a\0b", "does not exist"),
    ],
)
def test_what_is_no_file_is_told_and_never_waited_for(tmp_path: Path, name: str, why: str) -> None:
    """A path that leads nowhere, to a folder or to a pipe is a mistake of the assertion."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PolicyNotFoundError) as caught:
        load_policy(None, name, str(tmp_path))
    assert caught.value.mistake.code == "policy_unreadable"
    assert caught.value.mistake.path == ("pack_path",)
    assert why in caught.value.mistake.message


def test_a_policy_file_has_a_size_limit(tmp_path: Path) -> None:
    """A file over the limit of documents is refused, and not read to its end."""
    (tmp_path / "a.yaml").write_text(YAML + "#" * 10 * 2**20)
    with pytest.raises(DocumentError) as caught:
        load_policy(None, "a.yaml", str(tmp_path))
    assert [problem.code for problem in caught.value.problems] == ["document_too_large"]


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    """A misspelt bundled name lists those that there are."""
    with pytest.raises(PolicyNotFoundError) as caught:
        load_policy("defualt", None, "")
    assert (caught.value.mistake.code, caught.value.mistake.nearest) == ("unknown_policy", "default")


def test_a_shelf_reads_each_file_once(tmp_path: Path) -> None:
    """A file that changes while a document is in use changes nothing for it."""
    (tmp_path / "a.yaml").write_text(YAML)
    shelf = PolicyShelf(str(tmp_path))
    first = shelf.policy(None, "a.yaml")
    (tmp_path / "a.yaml").write_text(YAML.replace("house", "other"))
    assert shelf.policy(None, "a.yaml") is first
    assert shelf.contents() == [first.content()]
