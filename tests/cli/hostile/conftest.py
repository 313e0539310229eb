"""A document and conversations with the same text in every field, and everything that the command line makes of them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from averment.cli.main import main

Text = Callable[[str], str]
"""What stands in a field: its label, and behind it what the test wants there. `D` is a document's, `E` of evidence."""

PLAIN = "plain"
HOSTILE: Mapping[str, str] = {
    "markup": "</script>]]></failure>--><img src=x onerror=alert(1)>&amp;&#0;\"'",
    "unseen": "\x1b[31m\x9b1m\x07\x08\x7f\0\u202egnp\u2066 \u200f\u061c\u200b\ufeff\ufffe\U000e0001\ue000",
    "lines": "\r\n::error file=x::stop\r##[error]y\n  ::add-mask::t\u2028::debug::x\u2029\x85\x0b\x0c",
    "Markdown": "](https://evil.example)![x](https://evil.example/p)|`` ``` @user #1 $x$ <b>\n\n# h\n---",
    "templates": "{{7*7}}{%raw%}{0}%s%1$s${{secrets.X}}$(id)`id`;[red]:smile:",
    "halves": "a\ud800b\udfff",
}
_HALF = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
MATCHED = frozenset(
    [
        "Erole",
        "Etool",
        "Earg",
        "Eres",
        "Eresp",
        "Erows",
        "Ekey",
        "Erow",
        "Ecell",
        "Echanged",
        "Efield",
        "Espan",
        "Elabel",
        "Elabelled",
    ]
)
"""Labels of what stands in both, a document and evidence."""


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    out: bytes
    err: bytes


def document(text: Text) -> dict[str, Any]:
    """Every kind, with the text in every field that takes any; most of it fails, and says so."""

    def own(label: str) -> str:
        # Documents have no halves of characters, and braces are variables there.
        return key(label).replace("{{", "{{{{")

    def key(label: str) -> str:
        return _HALF.sub("?", text(label))

    def never(label: str) -> str:
        # Nor have patterns control characters.
        return "never" + re.escape(_CONTROL.sub(" ", key(label))).replace("{{", "{{{{")

    kinds: list[dict[str, Any]] = [
        {"kind": "phrase", "regex": "(?s)Esaid.*", "absent": True},
        {"kind": "phrase", "regex": never("Dregex")},
        {"kind": "phrase", "regex": "(?s)Etext.*", "absent": True, "role": own("Erole")},
        {"kind": "pii", "detectors": ["ssn", "card_luhn", "email", "phone"], "mode": "must_not_leak"},
        {"kind": "policy"},
        {"kind": "tool_call", "name": own("Etool"), "args_subset": {key("Earg"): own("Dwant")}},
        {"kind": "tool_call", "name": own("Dtool"), "args": {key("Darg"): own("Dwant")}},
        {
            "kind": "tool_call",
            "require_order": [own("Dorder"), own("Etool")],
            "never_before": {"tool": own("Etool"), "until": own("Duntil")},
        },
        {"kind": "tool_result", "name": own("Etool"), "result_exact": {key("Eres"): own("Dresult")}},
        {"kind": "tool_error", "name": own("Etool"), "absent": True},
        {"kind": "tool_error", "name": own("Etool"), "error_matches": never("Derror")},
        {
            "kind": "http_result",
            "method": "POST",
            "url_matches": "(?s).",
            "status": 200,
            "response_subset": {key("Eresp"): own("Dresponse")},
        },
        {"kind": "http_result", "method": own("Dmethod"), "url_matches": never("Durl"), "status": 200},
        {
            "kind": "outcome",
            "all_of": [
                {"tool_called": own("Dcalled")},
                {"phrase": never("Dphrase"), "role": own("Drole")},
                {"field_present": own("Dfield")},
            ],
        },
        {
            "kind": "state",
            "resource": own("Erows"),
            "filters": {key("Ekey"): own("Erow")},
            "expect": {key("Ecell").replace(".", "_"): own("Dcell")},
        },
        {
            "kind": "state",
            "resource": own("Dresource"),
            "filters": {key("Dcolumn"): own("Dfilter")},
            "expect": {"a": 1},
        },
        {
            "kind": "state_change",
            "resource": own("Echanged"),
            "field": own("Efield"),
            "from": own("Dfrom"),
            "to": own("Dto"),
        },
        {
            "kind": "sequence",
            "steps": [{"tool": own("Etool")}, {"span_type": own("Dspan")}, {"phrase": never("Dstep")}],
        },
        {"kind": "handoff", "to": own("Dtarget")},
        {"kind": "handoff", "absent": True},
        {"kind": "dtmf", "digits": "8675309"},
        {"kind": "termination", "reason": own("Dreason"), "by": own("Dby")},
        {"kind": "latency", "tool": own("Etool"), "max_ms": 1},
        {"kind": "latency", "span_type": own("Espan"), "max_ms": 1},
        {"kind": "latency", "field": own("Dmeasure"), "max": 1},
        {"kind": "entity_accuracy", "reference": {key("Earg"): own("Dreference")}},
        {"kind": "count", "tool": own("Etool"), "count": {"min": 9}},
        {"kind": "count", "phrase": "(?s)Etext.*", "count": 0},
        {"kind": "order", "before": never("Dbefore"), "after": "(?s)Etext"},
        {
            "kind": "claim",
            "says": "(?s)(?P<n>Esaid.*)",
            "tool": own("Dclaim"),
            "matches": {"n": "arguments.x"},
        },
        {
            "kind": "claim",
            "says": "(?s)(?P<n>Esaid.*)",
            "tool": own("Etool"),
            "matches": {"n": "arguments.x"},
        },
        {"kind": "formula", "expr": "fails and passes"},
        {"kind": "phrase", "id": "passes", "regex": "Esaid", "severity": "warning"},
        {"kind": "phrase", "id": "fails", "regex": "Esaid", "severity": "note", "absent": True},
        {"kind": "phrase", "regex": "Esaid", "when": own("Did0")},
        {"kind": "phrase", "regex": "Esaid", "applies_if": {"labels": {key("Elabel"): own("Dlabel")}}},
        {"kind": "phrase", "regex": "Esaid", "applies_if": {"labels": {key("Elabel"): own("Elabelled")}}},
        {"kind": "judge_rubric", "criterion": own("Djudge")},
        {"kind": "human_rubric", "criterion": own("Dhuman")},
        {"kind": "phrase", "regex": "never{{v}}"},
        {"kind": "tool_call", "name": "{{v}}", "args": {"k": "{{v}}"}},
    ]
    common = [
        {
            "id": own(f"Did{index}"),
            "description": own(f"Ddescription{index}"),
            "owner": own(f"Downer{index}"),
            "tags": [own(f"Dtag{index}")],
        }
        for index in range(len(kinds))
    ]
    return {
        "version": 1,
        "name": own("Dname"),
        "title": own("Dtitle"),
        "description": own("Dabout"),
        "vars": {"v": _CONTROL.sub(" ", key("Dvalue")).replace("{{", "{")},  # which don't nest
        "roles": {key("Drolename"): [key("Dalias")], "agent": ["agent"]},
        "assertions": [{**each, **fields} for each, fields in zip(common, kinds, strict=True)],
    }


def evidence(text: Text, *, number: int = 0) -> dict[str, Any]:
    """A conversation with the text in every field that takes any."""
    numbers = count()

    def call(**fields: Any) -> dict[str, Any]:
        index = next(numbers)
        return {
            "type": "tool_call",
            "span_id": text(f"Ecall{index}"),
            "name": text("Etool"),
            "start_sec": index,
            **fields,
        }

    return {
        "conversation_id": text(f"Econversation{number}"),
        "transcript": [
            {"role": text("Erole"), "text": text("Etext"), "start": 0, "end": 1},
            {"role": "agent", "text": text("Esaid"), "start": 1, "end": 2},
            {"speaker": text("Espeaker"), "text": text("Etext"), "start": 2, "end": 3},
            {"role": "agent", "text": text("Esaid again"), "start": 3, "end": 4},
        ],
        "spans": [
            call(
                end_sec=1,
                arguments={text("Earg"): text("Evalue"), "x": {text("Einner"): [text("Edeep")]}},
                result={text("Eres"): text("Eanswer")},
            ),
            call(arguments={text("Earg"): text("Eother")}, error=text("Eerror"), status="error"),
            call(
                arguments=f"{{{text('Ebroken')}",
                error={text("Eerrorkey"): text("Eerrors")},
                status=text("Estatus"),
            ),
            {
                "type": "http_exchange",
                "span_id": text("Eexchange"),
                "method": "POST",
                "url": text("Eurl"),
                "status_code": 500,
                "response": {text("Eresp"): text("Eresponse")},
                "start_sec": 2,
            },
            {
                "type": text("Espan"),
                "span_id": text("Espanid"),
                "name": text("Espanname"),
                "start_sec": 2,
                "end_sec": 4,
                "attributes": {text("Eattribute"): text("Eattributed")},
                text("Eextra"): text("Eextras"),
            },
            {"type": "handoff", "span_id": text("Ehandoff"), "to": text("Eto"), "start_sec": 3},
            {"type": "dtmf", "span_id": text("Edtmf"), "digits": "90817263", "start_sec": 3},
            {
                "type": "termination",
                "span_id": text("Eend"),
                "reason": text("Ereason"),
                "by": text("Eby"),
                "start_sec": 4,
            },
        ],
        "timing": [{text("Etiming"): text("Etimed")}],
        "state": {
            text("Erows"): [{text("Ekey"): text("Erow"), text("Ecell").replace(".", "_"): text("Ecelled")}],
            text("Echanged"): {
                "before": [{text("Efield"): text("Ebefore")}],
                "after": [{text("Efield"): text("Eafter")}],
            },
        },
        "metadata": {text("Emeta"): text("Emetadata")},
        "labels": {text("Elabel"): text("Elabelled")},
    }


class Folder:
    """A working folder in which commands are run, and what they wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ran: dict[str, Ran] = {}

    def write(self, name: str, content: Any) -> str:
        """A file, as JSON where it is no text; its name may have folders in it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline=""
        )
        return name

    def run(self, name: str, *args: str, **environment: str) -> Ran:
        """Runs averment in this process, as if in this folder; the result is kept under the name."""
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.path)
            for variable in ("GITHUB_ACTIONS", "FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR"):
                patch.delenv(variable, raising=False)
            for variable, value in environment.items():
                patch.setenv(variable, value)
            with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
                try:
                    main([*args])
                except SystemExit as done:
                    code = int(done.code or 0)
        out, err = (stream.buffer.getvalue() for stream in streams)
        self.ran[name] = Ran(code, out, err)
        return self.ran[name]

    def outputs(self) -> Iterator[tuple[str, bytes]]:
        """Everything that was written: by each command, and each report."""
        for name, ran in self.ran.items():
            yield f"{name}.out", ran.out
            yield f"{name}.err", ran.err
        for path in sorted(self.path.glob("*.made.*")):
            yield path.name, path.read_bytes()


REPORTS = ("html", "markdown", "junit", "sarif")


def reports(name: str) -> list[str]:
    """The options that write each report to a file of its own."""
    return [part for report in REPORTS for part in (f"--{report}", f"{name}.made.{report}")]


class Everything(NamedTuple):
    """What the command line made of one text."""

    text: str
    folder: Folder
    codes: Mapping[str, int]
    outputs: Mapping[str, bytes]


def file_name(text: str) -> str:
    """The text as it may stand in the name of a file; what is no character is a byte there that is no UTF-8."""
    return text.replace("\0", "").replace("\ud800", "\udcff").replace("\udfff", "\udcfe")


def everything(
    path: Path, text: str | Text, recorded: Text | None = None, in_suite: Text | None = None
) -> Everything:
    """Runs everything over the text in every field, or over what `recorded` has in fields of evidence."""

    def own(label: str) -> str:
        return f"{label} {text} Q" if isinstance(text, str) else text(label)

    def same(label: str) -> str:
        return _HALF.sub("?", own(label)) if label in MATCHED else own(label)

    def name(label: str) -> str:
        return file_name(f"{label} {text}") if isinstance(text, str) else own(label)[:200]

    folder = Folder(path)
    run_everything(folder, own, recorded or same, name, in_suite)
    codes = {name: ran.code for name, ran in folder.ran.items()}
    return Everything(text if isinstance(text, str) else "", folder, codes, dict(folder.outputs()))


@pytest.fixture(scope="session")
def run_over(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Everything]:
    """`run_over(text, recorded=None, in_suite=None)`: everything that the command line makes of the text in every field."""

    def run(text: str | Text, recorded: Text | None = None, in_suite: Text | None = None) -> Everything:
        return everything(tmp_path_factory.mktemp("hostile"), text, recorded, in_suite)

    return run


@pytest.fixture(scope="module")
def twin(run_over: Callable[..., Everything]) -> Everything:
    """Everything over a plain word."""
    return run_over(PLAIN)


@pytest.fixture(scope="module", params=HOSTILE)
def hostile(request: pytest.FixtureRequest, run_over: Callable[..., Everything]) -> Everything:
    """Everything over one hostile text."""
    return run_over(HOSTILE[request.param])


def run_everything(
    folder: Folder, own: Text, recorded: Text, file_name: Text, in_suite: Text | None = None
) -> None:
    """Runs every command that shows verdicts or evidence.

    Args:
        folder: where.
        own: the texts of the document and of the suite.
        recorded: the texts of evidence.
        file_name: names of files.
        in_suite: the texts of the suite's document and evidence, where they are others.
    """
    doc = folder.write(f"{file_name('Fdocument')}.json", document(own))
    one = folder.write(f"{file_name('Fcall')}.json", evidence(recorded))
    two = [json.dumps(evidence(recorded, number=number)) for number in range(2)]
    many = folder.write(f"{file_name('Fcalls')}.jsonl", "".join(f"{line}\n" for line in two))
    kept = ["--output", "one.made.envelope", "--results", "one.made.results"]
    folder.run("one", "run", doc, one)
    folder.run("color", "run", doc, one, "--verbose", FORCE_COLOR="1")
    folder.run("json", "run", doc, one, "--format", "json", *kept, *reports("one"))
    folder.run("github", "run", doc, one, "--github")
    folder.run("check", "check", doc)
    folder.run("cards", "report", "one.made.envelope", *reports("cards"))
    folder.run("whole", "report", "one.made.results", "-e", one, "-d", doc, *reports("whole"), "--github")
    folder.run("many", "run", "-d", doc, many, "--all", "--github", *reports("many"))
    folder.run("many color", "run", "-d", doc, many, "--all", "--verbose", FORCE_COLOR="1")
    folder.run("show", "evidence", "show", one)
    folder.run("show json", "evidence", "show", one, "--format", "json")
    folder.run("list", "evidence", "show", many)
    folder.run("absent", "run", doc, one, "--conversation", own("Econversation"))
    _run_suite(folder, own, in_suite or own, in_suite or recorded)


def _run_suite(folder: Folder, own: Text, in_document: Text, recorded: Text) -> None:
    own_text = {label: _HALF.sub("?", own(label).replace("\0", "")) for label in _OF_SUITES}
    rows = [
        {"case": own_text[f"Ccase{n}"], "v": _CONTROL.sub(" ", own_text["Cvalue"]).replace("{{", "{")}
        for n in range(2)
    ]
    cases = folder.write("suite/cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    table = io.StringIO()
    writer = csv.DictWriter(table, ["case", "v"])
    writer.writeheader()
    writer.writerows(rows)
    folder.write("suite/cases.csv", table.getvalue())
    folder.write("suite/d.json", document(in_document))
    folder.write("suite/calls/a.json", evidence(recorded))
    made = folder.write("suite/made.json", evidence(recorded))
    folder.write("suite/says.sh", 'printf "%s\\n" "$2" | tee /dev/stderr; cat said >&2; exit 7\n')
    folder.write("suite/said", recorded("Elog").encode("utf-8", "backslashreplace").decode())
    entry = {"document": "d.json", "cases": os.path.basename(cases)}
    folder.write(
        "suite/averment.yaml",
        {
            "version": 1,
            "suite": [
                {
                    **entry,
                    "name": own_text["Sproduced"],
                    "produce": ["cp", "made.json", "{out}"],
                    "repeat": 2,
                },
                {
                    **entry,
                    "name": own_text["Sfailing"],
                    "produce": [
                        "sh",
                        "says.sh",
                        "{out}",
                        own_text["Scommand"].replace("{", "{{").replace("}", "}}"),
                    ],
                },
                {
                    **entry,
                    "name": own_text["Stable"],
                    "produce": ["cp", "made.json", "{out}"],
                    "cases": "cases.csv",
                },
                {"name": own_text["Srecorded"], "document": "d.json", "conversations": "calls/*.json"},
            ],
        },
    )
    suite = ["run", "--suite", "suite/averment.yaml", "-j", "2"]
    folder.run("suite", *suite, "--results", "old.made.results", "--github", *reports("suite"))
    folder.write(made, evidence(lambda label: recorded(label.replace("said", "").replace("text", "said"))))
    folder.run("suite again", *suite, "--verbose", "--results", "new.made.results", FORCE_COLOR="1")
    both = ["old.made.results", "new.made.results"]
    folder.run("diff", "diff", *both, GITHUB_ACTIONS="true")
    folder.run("diff color", "diff", *both, "--verbose", FORCE_COLOR="1", GITHUB_ACTIONS="true")
    folder.run("diff json", "diff", *both, "--format", "json")
    folder.run("diff markdown", "diff", *both, "--format", "markdown", GITHUB_ACTIONS="true")


_OF_SUITES = ("Ccase0", "Ccase1", "Cvalue", "Sproduced", "Sfailing", "Scommand", "Stable", "Srecorded")
