"""Two runs compared, in Markdown for a comment on a pull request or a step's summary; size capped, everything escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from averment.report.comparison import (
    Told,
    facts,
    gaps,
    many,
    reason,
    sections,
    severity,
    side_text,
    tally,
    verdict,
    words,
)
from averment.report.gfm import code, prose, table
from averment.verdicts.changes import Change
from averment.verdicts.comparison import Comparison, Difference

__all__ = ["MARKER", "as_markdown"]

MARKER = "<!-- averment diff -->"
"""The first line, by which a bot finds its own comment."""

_GRAVE = (Change.BROKEN, Change.NEWLY_FAILING, Change.FLAKY, Change.NEWLY_INCONCLUSIVE)
_ROWS = 20
_LEFT_OUT = 300
"""Bytes that the sentence on what is left out may take."""


def as_markdown(comparison: Comparison, told: Told, *, limit: int = 60_000) -> str:
    """The comparison for a comment on a pull request, or a step's summary.

    Args:
        comparison: the comparison.
        told: what is to be told of it.
        limit: how many bytes of UTF-8 it may have; what does not fit is left out by whole assertions, and counted.
    """
    grave = [(each, text) for each, text in tally(comparison.counts) if each in _GRAVE]
    says = verdict(comparison, told)
    head = [
        MARKER,
        f"## averment diff: {', '.join(text for _, text in grave) or 'nothing fails that did not before'}",
        "",
        f"{code(told.old)} to {code(told.new)}, {many(comparison.cases, 'case')} in both. {says[0].upper()}{says[1:]}.",
        "",
        *(f"- {prose(fact)}" for fact in facts(comparison)),
        "",
        table(
            ["change", "assertions", "warnings and notes"],
            ["---", "---:", "---:"],
            [
                [
                    f"**{words(each)}**: {each.meaning}",
                    str(comparison.counts[each]),
                    str(comparison.lesser[each]),
                ]
                for each in Change
                if comparison.counts[each] or comparison.lesser[each]
            ],
        ),
    ]
    parts = ["\n".join(head)]
    room = limit - _size(parts[0]) - _LEFT_OUT
    left = 0
    for heading, block, count in _blocks(comparison, told):
        added = [part for part in (heading, block) if part]
        size = sum(_size(part) for part in added)
        if left or size > room:
            left += count
            continue
        parts += added
        room -= size
    if left:
        parts += [f"**Left out here, for there was not enough room:** {many(left, 'line')}."]
    return "\n\n".join(parts) + "\n"


def _blocks(comparison: Comparison, told: Told) -> Iterator[tuple[str, str, int]]:
    """A heading where a section begins, a block that stands or falls alone, and how many lines are in it."""
    for change, groups in sections(comparison, told):
        heading = f"### {words(change).capitalize()}"
        for group in groups:
            yield heading, _group(group), len(group)
            heading = ""
    for name, cases in gaps(comparison, told):
        lines = [f"- {code(where.label)}" for where in cases[:_ROWS]]
        lines += [f"- ... and {len(cases) - _ROWS} more"] * (len(cases) > _ROWS)
        yield f"### {name.capitalize()}", "\n".join(lines), len(cases)


def _group(group: Sequence[Difference]) -> str:
    first = group[0]
    place = first.file if first.line is None else f"{first.file}:{first.line}"
    about = [code(first.kind, 60), code(place, 200), *([lesser] if (lesser := severity(first)) else [])]
    rows = [
        [code(each.where.label, 120), side_text(each.old), side_text(each.new), _chance(each), _why(each)]
        for each in group[:_ROWS]
    ]
    head = ["case", "before", "now", "by chance alone", "why"]
    kept = [index for index in range(len(head)) if head[index] != head[3] or any(row[index] for row in rows)]
    shown = table(
        [head[index] for index in kept],
        ["---:" if index == 3 else "---" for index in kept],
        ([row[index] for index in kept] for row in rows),
    )
    more = f"\n\n... and {many(len(group) - _ROWS, 'more case')}." if len(group) > _ROWS else ""
    return f"#### {code(first.id, 120)}\n\n{' · '.join(about)}\n\n{shown}{more}"


def _chance(each: Difference) -> str:
    return "" if each.chance is None else f"{each.chance:.6f}"


def _why(each: Difference) -> str:
    """Why it is not PASS now; where it is, why it was not."""
    side = each.new if each.new is not None and each.new.code is not None else each.old
    return "" if side is None or side.code is None else prose(reason(side, 200), 300)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace")) + 2
