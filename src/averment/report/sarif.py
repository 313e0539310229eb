"""Verdicts as SARIF 2.1.0 (with errata 01), for code scanning and for editors.

A kind is a rule, so that an alert keeps its rule when the assertion fails for another reason. FAIL is of kind `fail`,
its level the assertion's severity. INCONCLUSIVE is of kind `open`, which is SARIF's word for it: there was too little
information to decide; its level is then `none`, whatever the policy, as SARIF requires (3.27.10).

PASS and what is not applicable are left out and only counted, in the run's properties: GitHub shows every result as an
alert, whatever its kind. An internal error is a result like any other that is open; beside it, a notification says that
the run was not successful.

Each conversation has results of its own, with a fingerprint of ours, `avermentAssertion/v1`. GitHub itself looks at
none but `primaryLocationLineHash`, which its upload action makes of the document's line where a report has none: so
one assertion is one alert there, in however many conversations it fails. A fingerprint of ours under that name would
be an alert for each, and the action would warn of each that its own is different.

GitHub refuses more than 25,000 results and 10 MB, and shows 5,000. What is more is left out, and a notification says
how many: first those of assertions that were told in other conversations already, then the less severe.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from averment._version import __version__
from averment.assertions import KINDS, kind
from averment.assertions.base import Status
from averment.report.groups import worst_exit
from averment.report.identity import Fingerprints
from averment.report.sarif_results import (
    ROOT,
    Finding,
    Grounds,
    document_location,
    message,
    result_of,
)
from averment.report.wording import brief, headline
from averment.text.jsontext import canonical_known, pretty_known
from averment.verdicts.judged import Judged

__all__ = ["MAX_BYTES", "MAX_RESULTS", "render"]

MAX_RESULTS = 5_000
"""As many results as GitHub shows."""
MAX_BYTES = 8_000_000
"""As long as all results may be together, which keeps a report below GitHub's limit even if nothing compresses."""

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_NOTIFICATIONS = 100
_NAME = 200
_RANKS = (("FAIL", "error"), ("INCONCLUSIVE", "error"), ("FAIL", "warning"), ("FAIL", "note"))


def render(entries: Sequence[Judged]) -> str:
    """The log, ending in a newline.

    Args:
        entries: the conversations; their results stand in the log in the same order.
    """
    findings = list(_findings(entries))
    rules = _Rules(entries)
    chosen = _chosen(findings)
    results, parents = _results(chosen, findings, entries, rules)
    left_out = len(findings) - len(results)
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "averment",
                        "version": __version__,
                        "rules": rules.descriptors(),
                        "notifications": _NOTIFICATIONS,
                    }
                },
                "invocations": [_invocation(entries, findings, rules, left_out)],
                "originalUriBaseIds": {
                    ROOT: {"description": message("The folder in which averment was run.")}
                },
                "logicalLocations": [
                    {"name": label, "fullyQualifiedName": label, "kind": "conversation"} for label in parents
                ],
                "results": results,
                "columnKind": "unicodeCodePoints",
                "language": "en",
                "properties": _properties(entries, left_out),
            }
        ],
    }
    return pretty_known(log).decode("utf-8")


_NOTIFICATIONS = [
    {
        "id": "internal_error",
        "shortDescription": message("A check itself failed, which is a defect of averment."),
        "defaultConfiguration": {"level": "error"},
    },
    {
        "id": "results_left_out",
        "shortDescription": message("There are more results than code scanning takes."),
        "defaultConfiguration": {"level": "warning"},
    },
]


class _Rules:
    """The rules: the kinds that were asserted, in the order of the reference, then names that are no kinds of ours."""

    def __init__(self, entries: Sequence[Judged]) -> None:
        names = dict.fromkeys(result["kind"] for entry in entries for result in entry.results)
        known = [name for name in KINDS if name in names]
        others = dict.fromkeys(brief(name, 60) for name in names if name not in KINDS)
        self._ids = list(dict.fromkeys([*known, *others]))[:_MOST_RULES]
        self._index = {id_: index for index, id_ in enumerate(self._ids)}

    def of(self, name: str) -> tuple[str, int | None]:
        """A kind's rule, and its index; None for one that there was no room to describe."""
        id_ = brief(name, 60)
        return id_, self._index.get(id_)

    def descriptors(self) -> list[dict[str, Any]]:
        return [_rule(id_) for id_ in self._ids]


_MOST_RULES = 1_000


def _rule(name: str) -> dict[str, Any]:
    if name not in KINDS:
        text = "A kind that this version of averment does not know."
        return {"id": name, **{part: message(text) for part in _DESCRIPTIONS}}
    about = inspect.cleandoc(kind(name).__doc__ or "")
    first = about.split("\n\n")[0].replace("\n", " ").strip()
    codes = "\n".join(f"{code.value}: {code.meaning}" for code in kind(name).codes)
    more = f"{about}\n\n{codes}\n\nSee `averment kinds {name}`."
    texts = dict(zip(_DESCRIPTIONS, (first, first, more), strict=True))
    return {
        "id": name,
        "name": KINDS[name],
        **{part: message(text) for part, text in texts.items()},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["deterministic"], "precision": "very-high", "problem.severity": "error"},
    }


_DESCRIPTIONS = ("shortDescription", "fullDescription", "help")


def _findings(entries: Sequence[Judged]) -> Iterator[Finding]:
    """What is neither PASS nor not applicable."""
    fingerprint = Fingerprints()
    for index, entry in enumerate(entries):
        for file, result in zip(entry.files, entry.results, strict=True):
            digest = fingerprint(entry, result, file)
            if result["status"] != "PASS" and result.get("code") != "not_applicable":
                yield Finding(index, result, file, digest)


def _chosen(findings: Sequence[Finding]) -> list[int]:
    """Indexes of those that are told, most important first."""
    told: Counter[tuple[str, str, str | None]] = Counter()
    order = []
    for index, finding in enumerate(findings):
        same = (finding.file, finding.result["id"], finding.result.get("code"))
        order.append((told[same], _rank(finding.result), index))
        told[same] += 1
    return [index for *_, index in sorted(order)[:MAX_RESULTS]]


def _rank(result: Mapping[str, Any]) -> int:
    found = (result["status"], result.get("severity", "error"))
    return _RANKS.index(found) if found in _RANKS else len(_RANKS)


def _results(
    chosen: Sequence[int], findings: Sequence[Finding], entries: Sequence[Judged], rules: _Rules
) -> tuple[list[dict[str, Any]], list[str]]:
    """The results that there is room for, in the order of findings, and the conversations that they name."""
    labels = {
        index: brief(entries[index].label, _NAME)
        for index in sorted({findings[each].entry for each in chosen})
    }
    parents = {label: index for index, label in enumerate(dict.fromkeys(labels.values()))}
    grounds = {index: Grounds(entries[index]) for index in labels}
    made: dict[int, dict[str, Any]] = {}
    room = MAX_BYTES
    for each in chosen:
        finding = findings[each]
        entry = finding.entry
        result = result_of(
            finding,
            entries[entry],
            grounds[entry],
            rule=rules.of(finding.result["kind"]),
            parent=parents[labels[entry]],
        )
        room -= len(canonical_known(result))
        if room < 0:
            break
        made[each] = result
    return [made[each] for each in sorted(made)], list(parents)


def _invocation(
    entries: Sequence[Judged], findings: Sequence[Finding], rules: _Rules, left_out: int
) -> dict[str, Any]:
    broken = [each for each in findings if each.result.get("code") == "internal_error"]
    told = [_broken(each, entries[each.entry], rules) for each in broken[:_MOST_NOTIFICATIONS]]
    if len(broken) > len(told):
        text = f"{len(broken) - len(told):,} more checks failed themselves."
        told.append(_notification("internal_error", "error", text))
    if left_out:
        text = (
            f"{left_out:,} results of {len(findings):,} are left out, because code scanning takes no more. They are "
            "of assertions that stand here with results of other conversations, as far as there is room. Lines of "
            "results (`averment run --results`) have all."
        )
        told.append(_notification("results_left_out", "warning", text))
    return {
        "executionSuccessful": not broken,
        "exitCode": worst_exit(entries),
        **({"toolExecutionNotifications": told} if told else {}),
    }


def _broken(finding: Finding, entry: Judged, rules: _Rules) -> dict[str, Any]:
    result = finding.result
    label = brief(entry.label, _NAME)
    text = f"{brief(result['id'], _NAME)}: {headline(result)}\nIn {label}."
    id_, index = rules.of(result["kind"])
    return {
        **_notification("internal_error", "error", text),
        "associatedRule": {"id": id_, **({} if index is None else {"index": index})},
        "locations": [document_location(result, finding.file)],
    }


def _notification(id_: str, level: str, text: str) -> dict[str, Any]:
    index = next(index for index, each in enumerate(_NOTIFICATIONS) if each["id"] == id_)
    return {"descriptor": {"id": id_, "index": index}, "level": level, "message": message(text)}


def _properties(entries: Sequence[Judged], left_out: int) -> dict[str, Any]:
    """What the envelopes count, and what is not among the results; verdicts are never added up to one number."""
    summaries = [entry.envelope["summary"] for entry in entries]
    return {
        "conversations": len(entries),
        "deterministic": _added(summary["deterministic"] for summary in summaries),
        "warnings": _added(summary["warnings"] for summary in summaries),
        "notApplicable": sum(summary["not_applicable"] for summary in summaries),
        "judge": {"pass": 0, "fail": 0},
        "leftOut": left_out,
        "note": (
            "Results are what is FAIL or INCONCLUSIVE; what is PASS or not applicable is only counted here. "
            "No judge-scored assertions ran."
        ),
    }


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = {status.value.lower(): 0 for status in Status}
    for each in counts:
        for name in total:
            total[name] += each.get(name, 0)
    return total
