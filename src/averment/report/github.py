"""Annotations for GitHub Actions: a finding at the document's line, in the pull request's list of changed files.

They are commands that a step prints, and the runner reads every line that a step prints: `::error file=...::text`
where it stands at the beginning of a line, `##[error]text` wherever in it. What stems from evidence or from a document
must not become one, here nor in what else is printed (`averment.text.shown.inert`). The rules are those of the runner's
own parser (actions/runner, `ActionCommand`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from averment.policies import POLICY
from averment.report.groups import Group, gap_how, grouped
from averment.text.shown import printable
from averment.verdicts.judged import Judged

__all__ = ["render"]

_MOST = 10
"""Annotations of each level that GitHub shows of one step; it drops the others without a word."""

_NAMES = 5
_NO_FILES = frozenset({"-", "the document"})
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render(entries: Sequence[Judged]) -> str:
    """The annotations, one a line, the gravest first; nothing where there is nothing to tell.

    A failure is an error, or what its severity says; what stayed undecided is a warning, and an error where the policy
    makes the gate say no for it. An assertion is told once for all conversations in which it has the same verdict, and
    where there are more than GitHub shows, the last annotation says how many are left out.
    """
    levels: dict[str, list[Group]] = {"error": [], "warning": [], "notice": []}
    for group in grouped(entries):
        if group.level != "none":
            levels[group.level].append(group)
    return "".join(
        line for level, groups in levels.items() for line in _of_level(level, groups, len(entries))
    )


def _of_level(level: str, groups: Sequence[Group], conversations: int) -> Iterator[str]:
    shown = groups if len(groups) <= _MOST else groups[: _MOST - 1]
    for group in shown:
        properties = {"title": f"{group.status} {printable(group.id, 100)} ({printable(group.kind, 40)})"}
        if group.file not in _NO_FILES and not group.file.startswith(POLICY):
            line = {} if group.line is None else {"line": str(group.line)}
            properties = {"file": printable(group.file, 400), **line, **properties}
        yield _command(level, properties, "\n".join(_message(group, conversations)))
    if len(shown) < len(groups):
        left = len(groups) - len(shown)
        told = "GitHub shows ten of a step; the report has them all."
        yield _command(level, {"title": f"{left} more of these"}, f"{left} more are not shown here. {told}")


def _message(group: Group, conversations: int) -> Iterator[str]:
    results = [each.result for each in group.occurrences]
    reasons = list(dict.fromkeys(_reason(result) for result in results))
    yield printable(reasons[0], 600)
    if len(reasons) > 1:
        yield f"({len(reasons) - 1} other reason{'s' if len(reasons) > 2 else ''} in other conversations)"
    how = next((how for result in results if (how := gap_how(result))), None)
    if how and how not in reasons[0]:
        yield f"To decide it: {printable(how, 300)}"
    if conversations > 1:
        names = [printable(each.entry.label, 80) for each in group.occurrences]
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        yield f"In {len(names)} of {conversations} conversations: {', '.join(names[:_NAMES])}{more}"


def _reason(result: Mapping[str, str]) -> str:
    return result.get("reason") or result.get("public_reason") or result.get("code") or "no reason is given"


def _command(name: str, properties: Mapping[str, str], data: str) -> str:
    told = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties.items())
    return f"::{name} {told}::{_escaped(data, _DATA)}\n"


def _escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
