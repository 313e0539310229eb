"""Verdicts as JUnit XML, for the tab of tests that GitHub's actions, GitLab and Jenkins have.

There is no one schema. Reports fit both that are in use: the xunit plugin's for Jenkins (`junit-10.xsd`), and Apache
Ant's, but for its `timestamp` and `hostname`: nothing of a report depends on a clock or on a machine, and made-up ones
would be shown as if they were true. For the same reason every `time` is 0, which both schemas let a report say: what
takes time is the conversation, not the verdict, and that was had before.

A conversation is a suite of tests, an assertion over it is a test. CIs know a test again by `classname` and `name`:
the document without its extension, with dots for slashes; and the assertion's id with the conversation in brackets,
as pytest has it (GitLab shows nothing else of a test). Neither has a line or the number of repetitions in it.

What a test came to follows what a gate would say, so that a report has failures or errors exactly where the exit code
is not 0:

* FAIL is a failure. Where its severity is warning or note, which never gate, it is skipped, and says so: a test tab
  has no third colour, and `system-out` of a test that passed is read by nobody.
* INCONCLUSIVE is skipped; an error where it gates (under `fail` and `refuse`).
* An internal error is an error, whatever the severity.
* What is not applicable is skipped under every policy.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from averment.report.identity import file_path
from averment.report.wording import brief, calls_of, details, gates, headline, place
from averment.verdicts.judged import Judged, shown_file

__all__ = ["render"]

_NAME = 300
_ID = 200
_EXTENSIONS = (".yaml", ".yml", ".json")


def render(entries: Sequence[Judged]) -> str:
    """The report, ending in a newline.

    Args:
        entries: the conversations, in the order in which their suites stand in the report.
    """
    root = ET.Element("testsuites")
    names = _Names()
    for index, entry in enumerate(entries):
        root.append(_suite(entry, index, names))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


class _Names:
    """Keeps names apart that would be the same: those of conversations, and those that were cut."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, str]] = set()

    def of(self, within: str, name: str) -> str:
        found, number = name, 1
        while (within, found) in self._taken:
            number += 1
            found = f"{name} ({number})"
        self._taken.add((within, found))
        return found


def _suite(entry: Judged, index: int, names: _Names) -> ET.Element:
    label = brief(entry.label, _NAME) or "the conversation"
    classname = _classname(entry.document)
    policy = entry.envelope["inconclusive_policy"]
    cases = []
    outcomes: Counter[str] = Counter()
    for file, result in zip(entry.files, entry.results, strict=True):
        name = names.of(classname, f"{brief(result['id'], _ID)} [{label}]")
        case = ET.Element("testcase", {"classname": classname, "name": name, "time": "0"})
        outcome = _outcome(result, file, policy)
        if outcome is not None:
            outcomes[outcome.tag] += 1
            case.append(outcome)
        cases.append(case)
    suite = ET.Element(
        "testsuite",
        {
            "name": names.of("", label),
            "id": str(index),
            "package": classname,
            "tests": str(len(cases)),
            "failures": str(outcomes["failure"]),
            "errors": str(outcomes["error"]),
            "skipped": str(outcomes["skipped"]),
            "time": "0",
        },
    )
    suite.append(_properties(entry))
    suite.extend(cases)
    _add(suite, "system-out", "".join(f"{line}\n" for line in _said(entry)))
    _add(suite, "system-err", "")
    return suite


def _classname(document: str) -> str:
    """`evals/refunds.yaml` as `evals.refunds`: Jenkins takes what stands before the last dot for a package."""
    found = " + ".join(_without_extension(file_path(part)) for part in document.split(" + "))
    return brief(found.replace("/", "."), _NAME) or "the document"


def _without_extension(path: str) -> str:
    return next((path.removesuffix(end) for end in _EXTENSIONS if path.endswith(end)), path)


def _outcome(result: Mapping[str, Any], file: str, policy: str) -> ET.Element | None:
    """What is said of a test beside that it ran; None for PASS."""
    if result["status"] == "PASS":
        return None
    why = headline(result)
    code = result.get("code")
    severity = result.get("severity", "error")
    if gates(result, policy) and result["status"] == "FAIL":
        tag = "failure"
    elif gates(result, policy):
        tag, why = "error", f"INCONCLUSIVE: {why}"
    else:
        tag = "skipped"
        if code == "not_applicable":
            why = f"not applicable: {why}"
        elif severity != "error":
            why = f"{result['status']}, but a {severity} never gates: {why}"
        else:
            why = f"INCONCLUSIVE: {why}"
    outcome = ET.Element(tag, {"type": brief(code or result["status"].lower(), _ID), "message": why})
    if code != "not_applicable":  # a suite with many cases has thousands of them, and nothing to explain
        outcome.text = "\n".join(_explained(result, file))
    return outcome


def _explained(result: Mapping[str, Any], file: str) -> Iterator[str]:
    yield f"{result['status']} at {place(result, file)}"
    if result.get("description"):
        yield brief(result["description"], 1_000)
    yield from details(result)
    for name, grounds in (
        ("turns", result.get("turns")),
        ("calls", calls_of(result)),
        ("spans", result.get("span_ids")),
    ):
        if grounds:
            more = f" and {len(grounds) - 20} more" if len(grounds) > 20 else ""
            yield f"{name}: {', '.join(brief(str(each), 100) for each in grounds[:20])}{more}"


def _properties(entry: Judged) -> ET.Element:
    envelope, case = entry.envelope, entry.case
    told = {
        "document": " + ".join(shown_file(part) for part in entry.document.split(" + ")),
        "document_sha256": envelope["document"]["sha256"],
        "conversation": shown_file(entry.conversation),
        "evidence_sha256": envelope["evidence_sha256"],
        "suite": None if case is None else case.suite,
        "case": None if case is None else case.name,
        "repeat": None if case is None else f"{case.repeat} of {case.repeats}",
        "inconclusive_policy": envelope["inconclusive_policy"],
        "exit_code": str(envelope["exit_code"]),
    }
    properties = ET.Element("properties")
    for name, value in told.items():
        if value is not None:
            ET.SubElement(properties, "property", {"name": name, "value": brief(value, 1_000)})
    return properties


def _said(entry: Judged) -> Iterator[str]:
    """What holds of the conversation as a whole: counts, and what was not looked at."""
    yield brief(entry.envelope["summary"]["note"], 1_000)
    for result in entry.results:
        parts = result.get("not_scanned")
        if isinstance(parts, Sequence) and not isinstance(parts, str) and parts:
            listed = ", ".join(str(part).replace("_", " ") for part in parts[:20])
            yield f"{brief(result['id'], _ID)} did not look at: {brief(listed, 1_000)}"


def _add(parent: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(parent, tag).text = text
