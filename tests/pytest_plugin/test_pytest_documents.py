"""`x.averment.yaml` beside `x/`: what is collected, by which ids, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Lay = Callable[..., None]


def _ids(pytester: pytest.Pytester, *args: str) -> list[str]:
    """The ids that pytest collects."""
    done = pytester.runpytest_inprocess("--collect-only", "-q", *args)
    return [line for line in done.outlines if "::" in line]


def test_there_is_a_test_for_every_assertion_and_conversation(pytester: pytest.Pytester, lay: Lay) -> None:
    """Ids name the document, the recording and the assertion; recordings come by name, assertions as written."""
    lay("good", "bad")
    assert _ids(pytester) == [
        f"refunds.averment.yaml::{recording}.json::{assertion}"
        for recording in ("bad", "good")
        for assertion in ("refund-issued", "polite", "told")
    ]


def test_conversations_of_one_file_stand_in_brackets(
    pytester: pytest.Pytester, lay: Lay, several: str
) -> None:
    """A file with several conversations has their ids as parameters; one without an id is called by its place."""
    lay(files={"refunds/calls.jsonl": several})
    assert _ids(pytester)[::3] == [
        "refunds.averment.yaml::calls.jsonl::refund-issued[good]",
        "refunds.averment.yaml::calls.jsonl::refund-issued[bad]",
        "refunds.averment.yaml::calls.jsonl::refund-issued[#2]",
    ]


def test_conversations_of_the_same_id_are_told_apart(pytester: pytest.Pytester, lay: Lay) -> None:
    """No two tests have the same id."""
    line = '{"conversation_id": "c", "transcript": [], "metadata": {"n": %d}}\n'
    lay(files={"refunds/calls.jsonl": line % 1 + line % 2})
    assert _ids(pytester)[::3] == [
        "refunds.averment.yaml::calls.jsonl::refund-issued[c]",
        "refunds.averment.yaml::calls.jsonl::refund-issued[c~2]",
    ]


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        ("refunds.averment.yaml::good.json::told", 1),
        ("refunds.averment.yaml::calls.jsonl::told", 3),
        ("refunds.averment.yaml::calls.jsonl::told[#2]", 1),
        ("refunds.averment.yaml::sub folder/a(1).json~2", 3),
        ("-k=refund-issued", 6),
        ("-k=money and good", 2),
    ],
)
def test_every_test_can_be_selected(
    pytester: pytest.Pytester, lay: Lay, several: str, selection: str, count: int
) -> None:
    """By id, by the id of a file or of all conversations in it, and with -k, which knows tags as well."""
    odd = ("a(1).json", "a[1].json")  # a bracket would begin a parameter
    lay(
        "good", files={"refunds/calls.jsonl": several, **{f"refunds/sub folder/{name}": "[]" for name in odd}}
    )
    assert len(_ids(pytester, selection)) == count


def test_files_that_are_no_recordings_are_left_out(pytester: pytest.Pytester, lay: Lay) -> None:
    """What is hidden, Python's and a README is no recording; folders within are looked through."""
    others = ("README.md", ".hidden.json", "record.py", "__pycache__/x.json", ".git/x.json")
    lay("good", files={f"refunds/{name}": "[]" for name in (*others, "deep/er/c.json")})
    assert [name.split("::")[1] for name in _ids(pytester)[::3]] == ["deep/er/c.json", "good.json"]


@pytest.mark.parametrize("ending", ["yaml", "yml", "json"])
def test_a_document_is_known_by_its_ending(pytester: pytest.Pytester, lay: Lay, ending: str) -> None:
    """YAML and JSON are collected, hidden files and others are not."""
    document = '{"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "x"}]}'
    lay(
        "good",
        files={f"x.averment.{ending}": document, ".y.averment.yaml": "", "z.yaml": "", "x/a.json": "[]"},
    )
    (pytester.path / "refunds.averment.yaml").unlink()
    assert _ids(pytester) == [f"x.averment.{ending}::a.json::a"]


def test_without_its_folder_a_document_is_refused(pytester: pytest.Pytester, lay: Lay) -> None:
    """The folder that is expected is named, and the one that was likely meant."""
    lay(files={"refund/a.json": "[]"})
    done = pytester.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(
        [
            "refunds.averment.yaml: error[[]no_recordings]: there is no folder of recordings beside the document",
            "    expected the folder `refunds/`, with a file for each recording",
            "    did you mean `refund`?",
            "    Make it, or rename the document so that pytest does not collect it.",
            "ERROR refunds.averment.yaml - error[[]no_recordings]: there is no folder*",
        ]
    )


@pytest.mark.parametrize("others", [{}, {"refunds/README.md": "", "refunds/record.py": ""}])
def test_a_folder_without_recordings_is_refused(
    pytester: pytest.Pytester, lay: Lay, others: dict[str, str]
) -> None:
    """Nothing to judge is no success."""
    lay(files=others)
    (pytester.path / "refunds").mkdir(exist_ok=True)
    done = pytester.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(
        ["*holds no recordings", "    expected a file for each recording in `refunds/`"]
    )


def test_all_mistakes_of_a_document_are_told_without_a_traceback(pytester: pytest.Pytester, lay: Lay) -> None:
    """The collection error has every problem, with its line, and the first in the summary."""
    lay(
        "good",
        document="version: 1\nassertions:\n  - {id: a, kind: phrase, regexp: x}\n  - {id: b, kind: phrse}\n",
    )
    done = pytester.runpytest_inprocess()
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(
        [
            "refunds.averment.yaml:3:*error[[]unknown_field]*",
            "    did you mean `regex`?",
            "refunds.averment.yaml:4:*error[[]unknown_kind]*",
            "ERROR refunds.averment.yaml - error[[]*(and 2 more)",
        ]
    )
    assert "Traceback" not in done.stdout.str()
    assert ".py" not in done.stdout.str().partition("ERRORS")[2]


def test_the_place_of_a_mistake_is_its_line(
    pytester: pytest.Pytester, lay: Lay, failed_reports: Callable[[], list[Any]]
) -> None:
    """Plugins that annotate reports get the document's line, of an included document as well."""
    lay(
        "good",
        document="version: 1\ninclude: [{path: inner.yaml}]\nassertions: []\n",
        files={"inner.yaml": "version: 1\nassertions:\n  - {id: a, kind: phrse}\n"},
    )
    (report,) = failed_reports()
    crash = report.longrepr.reprcrash
    assert (crash.path, crash.lineno) == (str(pytester.path / "inner.yaml"), 3)
    assert crash.message.startswith("error[unknown_kind]: ")
