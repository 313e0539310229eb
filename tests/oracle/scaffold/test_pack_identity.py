"""What a new pack is called: names become ids, and what can't is refused with what is expected."""

from __future__ import annotations

import pytest

from averment.errors import UsageError
from averment.oracle.scaffold.identity import identity, pack_id_of


@pytest.mark.parametrize(
    ("name", "pack_id"),
    [
        ("library", "library"),
        ("Library Loans", "library_loans"),
        ("  a--b..C  ", "a_b_c"),
        ("x", "x"),
        ("a1_2", "a1_2"),
        ("__init__", "init"),
        ("a" * 100, "a" * 100),
    ],
)
def test_a_name_becomes_an_id(name: str, pack_id: str) -> None:
    """Case is folded, and whatever is no letter and no digit becomes `_`."""
    assert pack_id_of(name) == pack_id


@pytest.mark.parametrize("name", ["", "   ", "9lives", "../..", "Ünion", "图书馆", "a" * 101])
def test_a_name_without_an_id_is_refused(name: str) -> None:
    """Nothing is dropped or transcribed in silence."""
    assert pack_id_of(name) is None
    with pytest.raises(UsageError, match="invalid_pack_name") as refused:
        identity(name)
    assert "letters from a to z" in str(refused.value)


@pytest.mark.parametrize("version", ["", " ", "-1", "1.0\n", '1"', "v" * 65])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    """It stands in quotes in a file, and in the ids of tasks."""
    with pytest.raises(UsageError, match="invalid_version"):
        identity("a", version=version)


@pytest.mark.parametrize("language", ["", "e", "en_GB", "en-", "en: x", "-en"])
def test_a_language_that_is_no_tag_is_refused(language: str) -> None:
    """It becomes a key of YAML mappings."""
    with pytest.raises(UsageError, match="invalid_language"):
        identity("a", language=language)


def test_everything_wrong_is_told_at_once() -> None:
    """Not the first mistake only."""
    with pytest.raises(UsageError) as refused:
        identity("9", version="", language="")
    assert [each.code for each in refused.value.problems] == [
        "invalid_pack_name",
        "invalid_version",
        "invalid_language",
    ]


@pytest.mark.parametrize(
    ("language", "is_translated"), [("en", False), ("en-GB", False), ("enm", True), ("pt-BR", True)]
)
def test_what_is_not_english_is_to_be_translated(language: str, is_translated: bool) -> None:
    """The texts are written in English."""
    assert identity("a", language=language).is_translated == is_translated
