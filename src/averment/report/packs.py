"""A certification for a person at a terminal: a line for each check, its failures below it, warnings, the tier."""

from __future__ import annotations

from collections.abc import Iterator

from averment.errors import Problem
from averment.oracle.certify import CHECKS_ABSENT, Certification
from averment.oracle.findings import Failure, Row
from averment.text.shown import printable

__all__ = ["render_certification"]

_COLORS = {"pass": "32", "FAIL": "31;1", "skipped": "33", "gold": "32;1", "silver": "33", "prototype": "31"}
_MOST_FAILURES = 20
_STATUS = {"pass": "pass", "fail": "FAIL", "skipped": "skipped"}


def render_certification(found: Certification, *, color: bool = False) -> str:
    """The text, ending in a newline."""

    def paint(word: str) -> str:
        return f"\x1b[{_COLORS[word]}m{word}\x1b[0m" if color and word in _COLORS else word

    manifest = found.pack.manifest
    lines = [f"{printable(manifest.pack_id)} {printable(manifest.version)}"]
    if found.isolation is not None:
        lines.append(f"workers are {found.isolation.level}")
        lines += [f"    not enforced here: {what}" for what in found.isolation.not_enforced]
    lines.append("")
    width = max((len(row.name) for row in found.rows), default=0)
    for row in found.rows:
        status = _STATUS[row.status]
        lines.append(f"  {row.id:>2}  {row.name:<{width}}  {paint(status)}".rstrip())
        lines += _failures(row)
    if found.warnings:
        lines += ["", f"{_counted(len(found.warnings), 'warning')}:"]
        lines += [f"  {line}" for warning in found.warnings for line in _warning(warning)]
    if found.only is not None:
        verdict = "nothing wrong" if found.passed else "not right"
        return "\n".join([*lines, "", f"{found.only}: {verdict}"]) + "\n"
    absent = ", ".join(str(number) for number in CHECKS_ABSENT)
    lines += ["", f"checks that this version does not make: {absent}", f"tier: {paint(found.tier)}"]
    return "\n".join(lines) + "\n"


def _failures(row: Row) -> Iterator[str]:
    for failure in row.failures[:_MOST_FAILURES]:
        yield from (f"      {line}" for line in _failure(failure))
    if len(row.failures) > _MOST_FAILURES:
        yield f"      and {len(row.failures) - _MOST_FAILURES} more; the report has them all"


def _failure(failure: Failure) -> Iterator[str]:
    place = ":".join(str(part) for part in (failure.file, failure.line, failure.column) if part is not None)
    yield f"{place + ': ' if place else ''}{failure.reason}: {printable(failure.message)}"
    if failure.path is not None:
        yield f"    at {printable(failure.path)}"
    suspects = failure.facts.get("suspects")
    if suspects:
        yield f"    reads the world: {printable('; '.join(suspects[:5]))}"
    for name, text in (("raised", failure.traceback), ("printed", failure.output)):
        if text:
            shown = text.splitlines()[-6:]
            yield from (f"    {name}: {printable(line)[:200]}" for line in shown)
    if failure.mend is not None:
        yield f"    {failure.mend}"


def _warning(warning: Problem) -> list[str]:
    return [printable(line) for line in warning.render().splitlines()]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
