from __future__ import annotations

import re

from averment.report.look import PLAIN, Look
from averment.report.tables import Cell, Column, table

COLUMNS = [Column("name"), Column("fail", is_number=True), Column("where")]
ROWS = [
    [Cell("first"), Cell("3", "FAIL"), Cell("a.yaml:1")],
    [Cell("日本"), Cell("12", "dim"), Cell("")],
]


def plain(lines: list[str]) -> list[str]:
    return [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines]


def test_a_table_elsewhere_is_columns_that_line_up() -> None:
    """One row a line, numbers to the right, no boxes, nothing at the ends of lines."""
    assert table(COLUMNS, ROWS, PLAIN) == [
        "  name   fail  where",
        "  first     3  a.yaml:1",
        "  日本     12",
    ]


def test_colours_do_not_move_columns() -> None:
    """Where they are asked for without a terminal, as in CI."""
    colored = table(COLUMNS, ROWS, Look(color=True))
    assert "\x1b[31;1m3\x1b[0m" in colored[1]
    assert [line.rstrip() for line in plain(colored)] == table(COLUMNS, ROWS, PLAIN)


def test_a_table_at_a_terminal_is_drawn() -> None:
    """With a line below its head, as wide as it must be."""
    lines = [line for line in table(COLUMNS, ROWS, Look(width=60)) if line]
    assert lines[0].split() == ["name", "fail", "where"]
    assert set(lines[1].strip()) == {"─"}
    assert len(lines) == 4
    assert all(len(line) <= 60 and "\x1b" not in line for line in lines)
    colored = table(COLUMNS, ROWS, Look(width=60, color=True))
    assert any("\x1b[1;31m" in line for line in colored)
    assert [line.rstrip() for line in plain(colored) if line.strip()] == lines


def test_a_drawn_table_shows_text_as_it_is() -> None:
    """Neither rich's markup nor names of emoji mean anything in cells, and long ones are folded, not cut."""
    rows = [[Cell("[red]x[/red] :smile: " + "y" * 100), Cell("1"), Cell("z")]]
    text = "\n".join(table(COLUMNS, rows, Look(width=50)))
    assert "[red]x[/red] :smile:" in re.sub(r"\s+", " ", text)
    assert text.count("y") == 100
    assert all(len(line) <= 50 for line in text.splitlines())
