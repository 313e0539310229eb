"""Tables for people: drawn at a terminal, and elsewhere columns that line up, one row a line, for eyes and for grep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from averment.report.look import Look, cells

__all__ = ["Cell", "Column", "table"]

_RICH = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow", "dim": "dim", "bold": "bold"}


class Column(msgspec.Struct, frozen=True):
    """A column: what stands above it, and whether it holds numbers."""

    title: str
    is_number: bool = False


class Cell(msgspec.Struct, frozen=True):
    """A text that can be shown as it is, and its style: a verdict, `dim` or `bold`."""

    text: str
    style: str | None = None


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], look: Look) -> list[str]:
    """The lines of a table, indented by two.

    Args:
        columns: the columns; the first says what a row is about.
        rows: a cell for each column.
        look: at a terminal the table is drawn, and cells that are too long for it are folded.
    """
    return list(_aligned(columns, rows, look) if look.width is None else _drawn(columns, rows, look))


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], look: Look) -> Iterator[str]:
    head = [Cell(column.title, "dim") for column in columns]
    widths = [max(cells(row[at].text) for row in (head, *rows)) for at in range(len(columns))]
    for row in (head, *rows):
        parts = []
        for cell, column, width in zip(row, columns, widths, strict=True):
            text = look.paint(cell.style, cell.text) if cell.style else cell.text
            space = " " * (width - cells(cell.text))
            parts.append(space + text if column.is_number else text + space)
        yield "  " + "  ".join(parts).rstrip()


def _drawn(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], look: Look) -> Iterator[str]:
    import io

    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        box=box.SIMPLE_HEAD, border_style="dim", header_style="bold", pad_edge=False, show_edge=False
    )
    for column in columns:
        drawn.add_column(
            Text(column.title),
            justify="right" if column.is_number else "left",
            no_wrap=column.is_number,
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*(Text(cell.text, _RICH.get(cell.style or "", "")) for cell in row))
    written = io.StringIO()
    Console(
        file=written,
        width=look.width,
        force_terminal=True,
        force_jupyter=False,
        color_system="standard" if look.color else None,
        no_color=not look.color,
        legacy_windows=False,
        _environ={},
    ).print(Padding(drawn, (0, 0, 0, 2)))
    yield from (line.rstrip() for line in written.getvalue().splitlines())
