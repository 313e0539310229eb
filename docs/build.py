# ruff: noqa: INP001 - a script, not part of a package
"""Write the reference pages from the code: every kind of assertion, every format of evidence, the command line, packs.

`make docs` runs it before the site is built. What it writes lies in `docs/reference/` and is not kept in the
repository, so it can't fall behind the code. What a format can prove is read off the samples made by hand that stand in
`tests/samples/`. So is the table in `docs/from-your-platform.md`, which is kept in the repository: it is written anew
here, and a test says when it is out of date.
"""

from __future__ import annotations

import inspect
import re
import runpy
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from averment.assertions import KINDS
from averment.cli.main import COMMANDS, command_parser, overview
from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.formats import FORMATS, NATIVE, Format
from averment.evidence.model import EvidenceModel
from averment.report.kinds import as_markdown, headline

__all__ = ["SAMPLES", "Source", "pages", "refreshed", "sources", "write"]

SAMPLES = Path(__file__).parents[1] / "tests" / "samples"


def pages() -> dict[str, str]:
    """The Markdown of every reference page, by its path below `docs/reference/`."""
    kinds = {f"kinds/{name}.md": as_markdown(name) for name in KINDS}
    scripts = ("pack_reference.py", "code_reference.py", "grade_reference.py")
    packs = {name: text for script in scripts for name, text in _written_by(script).items()}
    return {
        "kinds/index.md": _index(),
        **kinds,
        "formats.md": _formats(),
        "cli.md": _command_line(),
        **{f"packs/{name}": text for name, text in packs.items()},
    }


def _written_by(script: str) -> dict[str, str]:
    written: dict[str, str] = runpy.run_path(str(Path(__file__).with_name(script)))["pages"]()
    return written


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


# What a source can prove.

_CHANNELS = {
    "said": "transcript",
    "by whom": "speakers",
    "asked": "requests",
    "done": "executions",
    "arguments": "arguments",
    "results": "results",
    "failures": "errors",
    "HTTP": "http",
    "handoff": "handoff",
    "keys": "dtmf",
    "end": "termination",
}
_TIMES = ("when said", "when done")
_COLUMNS = (*list(_CHANNELS)[:7], *_TIMES, *list(_CHANNELS)[7:])
_WHOLE, _PARTLY, _NOTHING = "✓", "~", "–"  # noqa: RUF001 - the dash stands for nothing in a table
_RANKS = (_NOTHING, _PARTLY, _WHOLE)


def _proved(model: EvidenceModel) -> dict[str, str]:
    """By column, whether a conversation's evidence can show what happened and what did not, a part of it, or nothing."""
    states = {column: getattr(model.coverage, channel).state for column, channel in _CHANNELS.items()}
    proved = {column: _rank_of(state) for column, state in states.items()}
    # Of these two, coverage speaks only where something is missing.
    for column, of in (("by whom", ("said",)), ("arguments", ("asked", "done"))):
        shown = any(proved[each] != _NOTHING for each in of)
        proved[column] = _NOTHING if not shown else _PARTLY if states[column] != "absent" else _WHOLE
    spoken = [turn for turn in model.turns or () if turn.said and turn.final]
    proved["when said"] = _timed([(turn.start_ns, turn.end_ns) for turn in spoken])
    proved["when done"] = _timed(
        [(call.start_ns, call.latency_ms or call.end_ns) for call in model.calls or ()]
    )
    return proved


def _rank_of(state: str) -> str:
    if state in ("present", "empty"):
        return _WHOLE
    return _NOTHING if state in ("absent", "redacted", "unreadable") else _PARTLY


def _timed(times: Sequence[tuple[float | None, float | None]]) -> str:
    """Whether everything has a start and an end, or a duration; a part of that; or nothing."""
    if times and all(start is not None and end is not None for start, end in times):
        return _WHOLE
    return _PARTLY if any(start is not None or end is not None for start, end in times) else _NOTHING


def _best(evidences: Iterable[Evidence]) -> list[str]:
    """What the best of several conversations proves, in the order of the columns."""
    each = [_proved(evidence.model) for evidence in evidences]
    return [max((proved[column] for proved in each), key=_RANKS.index) for column in _COLUMNS]


def _table(first: str, rows: Iterable[tuple[str, list[str]]]) -> list[str]:
    lines = [f"| {first} | {' | '.join(_COLUMNS)} |", "|---|" + ":-:|" * len(_COLUMNS)]
    return [*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows)]


class Source:
    """A section of `docs/from-your-platform.md`: a heading, the samples that it names, and its commands.

    Attributes:
        name: the heading.
        files: the sample for each file that its commands are run on.
        command: its first command.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.files = {file: SAMPLES / sample for file, sample in _FILE.findall(text)}
        commands = _COMMAND.findall(text)
        self.command = commands[0] if commands else ""

    def load(self) -> list[Evidence]:
        """The conversations in its samples, read as its command reads them."""
        asked = re.search(r"--from (\w+)", self.command)
        form = asked[1] if asked else None
        return [each for path in self.files.values() for each in Evidence.load_all(path, from_format=form)]


_FILE = re.compile(r"^<!-- (\S+) is tests/samples/(\S+) -->$", re.MULTILINE)
_COMMAND = re.compile(r"^\$ (averment .+)$", re.MULTILINE)
_SECTION = re.compile(r"^### (.+)$", re.MULTILINE)


def sources(page: str) -> list[Source]:
    """The sources that the page has a section with samples for."""
    _, *parts = _SECTION.split(page)
    found = [Source(name, text) for name, text in zip(parts[::2], parts[1::2], strict=True)]
    return [source for source in found if source.files]


def proof_table(page: str) -> str:
    """The table of what each source on that page can prove."""
    rows = [(f"[{source.name}](#{_slug(source.name)})", _best(source.load())) for source in sources(page)]
    return "\n".join(_table("source", rows))


def refreshed(page: str) -> str:
    """The page with its table as it must be."""
    return _TABLE.sub(lambda _: proof_table(page) + "\n", page, count=1)


_TABLE = re.compile(r"^\| source \|.*\n(?:\|.*\n)*", re.MULTILINE)


def _slug(heading: str) -> str:
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


# The page on formats.

_ABOUT_FORMATS = f"""\
# Formats of evidence

`averment evidence formats` prints this list. Which format a file has is decided by what it holds;
[From your platform to a verdict](../from-your-platform.md) says where to get one.

In the tables, {_WHOLE} means that the sample shows what happened and what did not, {_PARTLY} that what it shows counts and
what it doesn't show decides nothing, and {_NOTHING} that it shows nothing, so that whatever needs it is INCONCLUSIVE.
The samples are made by hand, some with gaps on purpose: they stand in `tests/samples/`.
"""


def _formats() -> str:
    lines = [_ABOUT_FORMATS, "| format | what it is |", "|---|---|"]
    lines += [f"| [`{form.name}`](#{form.name}) | {_cell(form.title)} |" for form in FORMATS]
    for form in FORMATS:
        lines += ["", f"## {form.name}", "", *_described(form), *_of_samples(form)]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"\{[^}]*\}", r"`\g<0>`", text)


def _described(form: Format) -> list[str]:
    """What the reader says of its format, with what it does not read set off."""
    if form in NATIVE:
        page, title = "conversation-record", "The conversation record"
        if form.name == "evidence":
            page, title = "bring-evidence", "Bring evidence"
        return [f"averment's own: see [{title}](../{page}.md)."]
    text = inspect.cleandoc(import_module(form.module).__doc__ or "")
    paragraphs = [" ".join(part.split("\n")) for part in text.split("\n\n")]
    gaps = "Known gaps: "
    return [
        line
        for part in paragraphs
        for line in (
            f"**Known gaps.** {part[len(gaps) :][0].upper()}{part[len(gaps) + 1 :]}"
            if part.startswith(gaps)
            else part,
            "",
        )
    ]


def _of_samples(form: Format) -> list[str]:
    """What the samples of a format come to, and what would fill their gaps."""
    found = {path.name: evidences for path in _sample_files(form) if (evidences := _load(path, form))}
    if form in NATIVE or not found:
        return []
    gaps: dict[tuple[str | None, str | None], list[str]] = {}
    for evidences in found.values():
        for evidence in evidences:
            for column, channel in _CHANNELS.items():
                entry = getattr(evidence.model.coverage, channel)
                names = gaps.setdefault((entry.reason, entry.how), [])
                if column not in names:
                    names.append(column)
    rows = [(f"`{name}`", _best(evidences)) for name, evidences in found.items()]
    told = [
        textwrap.fill(f"- {', '.join(names)}: {reason}. {how or ''}", width=10**6)
        for (reason, how), names in gaps.items()
        if reason is not None
    ]
    return [
        *_table("sample", rows),
        *(["", "Where a sample shows less, it says why, and what to do:", "", *told] if told else []),
    ]


def _sample_files(form: Format) -> list[Path]:
    folder = SAMPLES / form.name
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def _load(path: Path, form: Format) -> list[Evidence]:
    """The conversations in a sample; none where an extra is missing that it takes."""
    try:
        found = Evidence.load_all(path)
        if any(evidence.model.sources[0].format != form.name for evidence in found):
            found = Evidence.load_all(path, from_format=form.name)
    except EvidenceError as error:
        if error.problems[0].code == "missing_extra":
            return []
        raise
    return found


if __name__ == "__main__":
    write(Path(__file__).parent / "reference")
    platforms = Path(__file__).parent / "from-your-platform.md"
    platforms.write_text(refreshed(platforms.read_text(encoding="utf-8")), encoding="utf-8")
