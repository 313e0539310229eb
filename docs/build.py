# ruff: noqa: INP001 - a script, not part of a package
"""Write the reference pages from the code: one for every kind of assertion, and one for the command line.

`make docs` runs it before the site is built. What it writes lies in `docs/reference/` and is not kept in the
repository, so it can't fall behind the code.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from averment.assertions import KINDS
from averment.cli.main import COMMANDS, command_parser, overview
from averment.report.kinds import as_markdown, headline

__all__ = ["pages", "write"]


def pages() -> dict[str, str]:
    """The Markdown of every reference page, by its path below `docs/reference/`."""
    kinds = {f"kinds/{name}.md": as_markdown(name) for name in KINDS}
    return {"kinds/index.md": _index(), **kinds, "cli.md": _command_line()}


def write(folder: Path) -> None:
    """Write every page below `folder`, which is emptied first: a kind may be gone."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages().items():
        page = folder / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def _index() -> str:
    rows = [f"| [`{name}`]({name}.md) | {headline(name)} |" for name in KINDS]
    return "\n".join(
        [
            "# Kinds of assertions",
            "",
            "`averment kinds` prints this list, `averment kinds NAME` one of these pages.",
            "",
            "| kind | it says |",
            "|---|---|",
            *rows,
        ]
    )


def _command_line() -> str:
    lines = ["# Command line", "", "What `--help` says, for each command.", "", *_block(overview())]
    for name in COMMANDS:
        lines += [f"## averment {name}", "", *_block(command_parser(name).format_help())]
    return "\n".join(lines)


def _block(text: str) -> list[str]:
    return ["```text", text.rstrip("\n"), "```", ""]


if __name__ == "__main__":
    write(Path(__file__).parent / "reference")
