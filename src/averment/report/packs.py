"""A certification for a person at a terminal: a line for each check, then what failed and what to do, then the tier.

What a pack says is shown as text from anywhere is: redacted, made printable, cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from averment.errors import Problem
from averment.oracle.certify import Certification
from averment.oracle.findings import Failure, Row
from averment.text.shown import printable

__all__ = ["render_certification"]

_CODES = {"pass": "32", "FAIL": "31;1", "skipped": "33", "gold": "32;1", "silver": "33", "prototype": "31"}
_CODES |= {"dim": "2", "bold": "1"}
_STATUS = {"pass": "pass", "fail": "FAIL", "skipped": "skipped"}
_MOST = 20
_LONG = 400
_LINES = 6
_MORE = ("replay_reason", "drop_reason", "code")
"""Facts that say more exactly what the reason says."""

_Paint = Callable[[str, str], str]


def render_certification(found: Certification, *, color: bool = False) -> str:
    """The text, ending in a newline."""

    def paint(code: str, text: str) -> str:
        return f"\x1b[{_CODES[code]}m{text}\x1b[0m" if color else text

    blocks = [list(_heading(found, paint))]
    blocks += [_table(found.rows, paint)] if found.rows else []
    blocks += [list(_failed(row, paint)) for row in found.rows if row.status == "fail"]
    blocks += [list(_warnings(found.warnings, paint))] if found.warnings else []
    blocks += [list(_verdict(found, paint))]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _heading(found: Certification, paint: _Paint) -> Iterator[str]:
    manifest = found.pack.manifest
    yield paint("bold", f"{printable(manifest.pack_id)} {printable(manifest.version)}")
    if found.isolation is not None:
        yield paint("dim", f"workers are {found.isolation.level}")
        for what in found.isolation.not_enforced:
            yield f"  not enforced here: {what}"


def _table(rows: Sequence[Row], paint: _Paint) -> list[str]:
    width = max(len(row.name) for row in rows)
    lines = []
    for row in rows:
        more = ""
        if row.status == "fail":
            more = f"  {_counted(len(row.failures), 'failure')}"
        elif row.status == "skipped":
            more = f": {row.failures[0].message}"
        status = _STATUS[row.status]
        lines.append(f"  {row.id:>2}  {row.name:<{width}}  {paint(status, status)}{more}")
    return lines


def _failed(row: Row, paint: _Paint) -> Iterator[str]:
    """The failures of a row; what to do is said once for all that stand together and share it."""
    yield f"{paint('FAIL', row.id)} {paint('bold', row.name)}"
    shown = row.failures[:_MOST]
    for failure, following in zip(shown, (*shown[1:], None), strict=True):
        yield from _failure(failure, paint)
        what_to_do = _what_to_do(failure)
        if following is None or what_to_do != _what_to_do(following):
            yield from what_to_do
    yield from _left_out(len(row.failures))


def _failure(failure: Failure, paint: _Paint) -> Iterator[str]:
    place = ":".join(str(part) for part in (failure.file, failure.line, failure.column) if part is not None)
    case = failure.facts.get("case")
    about = f", in the probe `{printable(str(case), 60)}`" if case is not None else ""
    more = next((failure.facts[name] for name in _MORE if name in failure.facts), None)
    about += f" ({printable(more)})" if isinstance(more, str) else ""
    where = paint("bold", printable(place)) + ": " if place else ""
    yield f"  {where}{failure.reason}{about}"
    yield f"    {printable(failure.message, _LONG)}"
    if failure.path is not None and failure.line is None:
        yield f"    at {printable(failure.path)}"
    frames = (failure.traceback or "").splitlines()[:-1]  # its last line is the message
    for name, lines in (("from", frames[:-1]), ("printed", (failure.output or "").splitlines())):
        yield from (paint("dim", f"    {name}: {printable(line)}") for line in lines[-_LINES:])


def _what_to_do(failure: Failure) -> list[str]:
    suspects = failure.facts.get("suspects") or ()
    lines = [f"    reads the world: {printable(suspect)}" for suspect in suspects[:_LINES]]
    return lines if failure.mend is None else [*lines, f"    -> {printable(failure.mend, _LONG)}"]


def _warnings(warnings: Sequence[Problem], paint: _Paint) -> Iterator[str]:
    yield paint("skipped", _counted(len(warnings), "warning"))
    for warning in warnings[:_MOST]:
        yield from (f"  {printable(line, _LONG)}" for line in warning.render().splitlines())
    yield from _left_out(len(warnings))


def _left_out(number: int) -> Iterator[str]:
    if number > _MOST:
        yield f"  and {number - _MOST} more; the report has them all"


def _verdict(found: Certification, paint: _Paint) -> Iterator[str]:
    if found.only is not None:
        yield f"{found.only}: {paint('pass', 'nothing wrong') if found.passed else paint('FAIL', 'not right')}"
        return
    missing = _in_the_way(found)
    yield f"tier: {paint(found.tier, found.tier)}{f'; in the way of gold: {missing}' if missing else ''}"


def _in_the_way(found: Certification) -> str:
    """What keeps a pack from gold."""
    open_rows = [row.id if row.status == "fail" else f"{row.id} ({row.status})" for row in found.rows]
    missing = [shown for shown, row in zip(open_rows, found.rows, strict=True) if row.status != "pass"]
    missing += [] if found.pack.templates else ["there is no template"]
    missing += [] if found.assertions else ["no assertion is exported"]
    return ", ".join(missing)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
