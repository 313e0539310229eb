"""Hostile texts in every field of documents, suites and evidence are text in everything that the command line writes."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from averment.text.shown import visible

COLOR = re.compile("\x1b\\[[0-9;]*m")
COLORED = ("color.out", "many color.out", "suite again.out", "diff color.out")
COMMANDED = ("github.out", "many.out", "suite.out", "whole.out")
"""What has annotations for GitHub in it."""

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
"""What stands in documents as well."""

CUT = frozenset(
    [
        "Edeep",
        "Einner",
        "Eafter",
        "Ecelled",
        "Dto",
        "Espanname",
        "Espeaker",
        "Elog",
        "Drole",
        "Erole",
        "Econversation",
        "Econversation0",
        "Econversation1",
    ]
)
"""What stands so far back in a line that a long text before it may leave no room."""

CAPPED = ("diff", "suite.made.markdown")
"""What has no room for all of a suite if texts are longer."""


def is_json(name: str) -> bool:
    return name in {"json.out", "show json.out", "diff json.out"}


def is_text(name: str) -> bool:
    """Whether it is printed for people."""
    return name.endswith((".out", ".err")) and not is_json(name) and name != "diff markdown.out"


class Page(HTMLParser):
    """A page, as a reader sees it: its texts, its elements with their attributes, and what it would load or run."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.shape: set[tuple[str, str | None]] = set()
        self.addresses: set[str] = set()
        self.code: list[str] = []
        self._tag = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        self.shape |= {(tag, None), *((tag, name) for name, _ in attrs)}
        self.texts += [f" {value} " for _, value in attrs if value]
        self.addresses |= {value or "" for name, value in attrs if name in {"href", "src", "action", "data"}}

    def handle_endtag(self, tag: str) -> None:
        self.shape.add((f"/{tag}", None))
        self._tag = ""

    def handle_data(self, data: str) -> None:
        (self.code if self._tag in {"script", "style"} else self.texts).append(data)

    def handle_comment(self, data: str) -> None:
        self.shape.add(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.shape.add(("declaration", decl))

    def unknown_decl(self, data: str) -> None:
        self.shape.add(("unknown declaration", data))

    def handle_pi(self, data: str) -> None:
        self.shape.add(("instruction", data))


def strings(value: Any) -> Iterator[str]:
    """All strings of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (key, *strings(each))
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def values(data: bytes) -> list[Any]:
    """The JSON values of a file: one, or one in each line."""
    try:
        return [json.loads(data)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in data.split(b"\n") if line]


class Command(NamedTuple):
    """A command as GitHub's runner understands it (actions/runner, `ActionCommand`)."""

    name: str
    properties: Mapping[str, str]
    data: str


def commands(printed: str) -> Iterator[Command]:
    """What the runner takes for commands in what a step prints; names that it does not know are taken all the same."""
    for line in re.split("[\r\n]", printed):
        text = line.strip()
        if text.startswith("::") and (end := text.find("::", 2)) >= 0:
            name, _, rest = text[2:end].partition(" ")
            pairs = (part.partition("=") for part in rest.split(",") if part)
            yield Command(name, {key: unquote(value) for key, _, value in pairs}, unquote(text[end + 2 :]))
        elif "##[" in line:
            yield Command("##[", {}, line)


@cache
def markdown(text: str) -> tuple[str, frozenset[str]]:
    """What a reader sees of Markdown with addresses made links, and of which parts and tags it is."""
    reader = MarkdownIt("gfm-like", {"html": True})
    tokens = [each for token in reader.parse(text) for each in (token, *(token.children or ()))]
    shown = "".join(each.content for each in tokens if each.type in {"text", "code_inline", "fence"})
    folded = [each.content for each in tokens if each.type in {"html_block", "html_inline"}]
    parts = {each.type for each in tokens} | {tag for html in folded for tag in re.findall("<[^>]*>?", html)}
    return shown + unescape(re.sub("<[^>]*>", "", "".join(folded))), frozenset(parts)


def read(name: str, data: bytes) -> str:
    """All that a reader sees of an output, read with the reader that fits it."""
    text = data.decode("utf-8")
    if name.endswith("html"):
        return "".join(Page(text).texts)
    if name.endswith("junit"):
        return "\n".join(
            part for each in _elements(data) for part in (*each.attrib.values(), each.text or "")
        )
    if is_json(name) or name.endswith(("sarif", "envelope", "results")):
        return "\n".join(part for value in values(data) for part in strings(value))
    if name.endswith("markdown") or name == "diff markdown.out":
        return markdown(text)[0]
    told = (part for each in commands(text) for part in (*each.properties.values(), each.data))
    return "\n".join([COLOR.sub("", text), *told])


def _elements(data: bytes) -> list[ET.Element]:
    return list(ET.fromstring(data).iter())  # noqa: S314 - it is our own


def outputs(made: Any, *names: str) -> Iterator[tuple[str, bytes]]:
    """The outputs whose names end so."""
    found = [(name, data) for name, data in made.outputs.items() if name.endswith(names)]
    assert found
    return iter(found)


def test_exit_codes_are_those_of_the_twin(hostile: Any, twin: Any) -> None:
    """A hostile text changes no verdict; nothing fails inside, and no text is an error where another is none."""
    assert hostile.codes == twin.codes
    assert set(twin.codes.values()) == {0, 1, 2}
    assert hostile.outputs.keys() == twin.outputs.keys()
    for name, data in outputs(hostile, ".err"):
        assert b"internal_error" not in data, name
        assert b"Traceback" not in data, name


def test_what_is_printed_commands_no_terminal(hostile: Any) -> None:
    """Only our own colours and ends of lines are not to be seen, in text and in JSON; all is UTF-8."""
    for name, data in hostile.outputs.items():
        text = data.decode("utf-8")
        if name.endswith((".out", ".err", "html", "markdown", "junit", "sarif")):
            bare = COLOR.sub("", text) if name in COLORED else text
            assert {char for char in bare if not char.isprintable()} <= {"\n"}, name


def test_what_is_printed_commands_no_runner(hostile: Any, twin: Any) -> None:
    """In a step of GitHub Actions there are as many annotations as of the twin, with our properties, and no others."""
    for name, data in outputs(hostile, ".out", ".err"):
        found = list(commands(data.decode("utf-8")))
        if name not in COMMANDED:
            assert found == [], name
            continue
        assert len(found) == len(list(commands(twin.outputs[name].decode()))), name
        for command in found:
            assert command.name in {"error", "warning", "notice"}, name
            assert command.properties.keys() <= {"file", "line", "title"}, name


def test_pages_are_made_of_what_the_twins_are(hostile: Any, twin: Any) -> None:
    """No element, attribute, comment or script is there that the page over a plain word has not; nothing is loaded."""
    for name, data in outputs(hostile, ".html"):
        page, plain = Page(data.decode("utf-8")), Page(twin.outputs[name].decode("utf-8"))
        assert page.shape - plain.shape == set(), name
        assert not {attribute for _, attribute in page.shape if (attribute or "").startswith("on")}, name
        assert all(address.startswith("#") for address in page.addresses), name
        assert page.code == plain.code, name


def test_xml_is_made_of_what_the_twins_is(hostile: Any, twin: Any) -> None:
    """The same elements with the same attributes, in the same order."""
    for name, data in outputs(hostile, ".junit"):
        shapes = [
            [(each.tag, list(each.attrib)) for each in _elements(xml)] for xml in (data, twin.outputs[name])
        ]
        assert shapes[0] == shapes[1], name


def test_markdown_is_made_of_what_the_twins_is(hostile: Any, twin: Any) -> None:
    """No link, image, mention or tag is there that the report over a plain word has not."""
    for name, data in outputs(hostile, ".markdown", "diff markdown.out"):
        parts, plain = (markdown(each.decode("utf-8"))[1] for each in (data, twin.outputs[name]))
        assert parts <= plain, name
        assert not {"link_open", "image"} & parts, name


def test_json_has_the_keys_that_the_twins_has(hostile: Any, twin: Any) -> None:
    """Texts are values, and never become keys of ours."""
    for name, data in outputs(hostile, ".sarif", "diff json.out", ".envelope", ".results", "json.out"):
        assert len(values(data)) == len(values(twin.outputs[name])), name


def test_hostile_texts_are_shown_as_what_they_are(hostile: Any, twin: Any) -> None:
    """Whatever field is shown of the twin is shown, and behind its name begins the text, with escapes to be seen."""
    forms = _forms(hostile.text)
    for name, data in twin.outputs.items():
        labels = set(re.findall(r"\b([CDEFS][a-z]+\d*) plain Q", read(name, data)))
        shown = _squeezed(read(name, hostile.outputs[name]))
        found = {label for label in labels if any(label + form in shown for form in forms)}
        if name.startswith(CAPPED):
            assert len(found) >= min(len(labels), 10), (name, sorted(found))
        else:
            assert labels - found <= CUT, name


def _forms(text: str) -> set[str]:
    """How a text may begin where it is shown, without what is no letter and no digit."""
    texts = {text, re.sub("[\ud800-\udfff]", "?", text), text.replace("\0", "")}
    texts.add(re.sub("[\x00-\x1f\x7f-\x9f]", " ", text))  # as patterns have it
    shown = {each for text in texts for each in (visible(text), visible(text, keep="\n\t"), text)}
    shown |= {visible(json.dumps(text, ensure_ascii=False)) for text in texts}
    shown |= {ascii(text)[1:-1] for text in texts}
    # YAML, in which documents are shown on the page, has short escapes of its own.
    shown |= {
        re.sub("\x1b", "e", re.sub("[\x80-\x9f]", lambda found: f"x{ord(found[0]):X}", text))
        for text in texts
    }
    return {_squeezed(each)[:8] for each in shown}


def _squeezed(text: str) -> str:
    return re.sub("[^A-Za-z0-9]", "", text)


LARGE = frozenset(["Ddescription0", "Downer0", "Dtag0", "Did0", "Dtool", "Sproduced", "Ccase0"]) | frozenset(
    [
        "Etext",
        "Esaid",
        "Evalue",
        "Eanswer",
        "Eerror",
        "Eurl",
        "Ecall0",
        "Econversation0",
        "Espanname",
        "Eto",
        "Ereason",
        "Emetadata",
    ]
)
PATTERNS = frozenset(["Dregex", "Derror", "Durl", "Dphrase", "Dstep", "Dbefore", "Dvalue", "Cvalue"])
ENVELOPES = (".envelope", ".results", "json.out")
"""What holds texts whole, because programs read it."""


def test_a_megabyte_in_a_field_is_cut(run_over: Callable[..., Any], twin: Any) -> None:
    """Words that fill a field are cut in whatever people read; the verdicts are those of the twin."""

    def large(label: str) -> str:
        return f"{label} {'w' * (2**20 if label in LARGE else 500 if label in PATTERNS else 2**12)}"[: 2**20]

    made = run_over(large, in_suite=lambda label: large(label)[: 2**12])
    assert made.codes == twin.codes
    assert sum(len(data) for _, data in outputs(made, ".envelope")) > 2**20
    for name, data in made.outputs.items():
        if not name.endswith(ENVELOPES):
            assert b"w" * 5_000 not in data, name
            assert len(data) < 2 * len(twin.outputs[name]) + 600_000, name


SECRETS = "jane.roe@example.com 4111 1111 1111 1111 123-45-6789 (415) 555-0123"
FOUND = re.compile(r"jane\.?roe|@example|4111|1111|123-?45-?6789|555-?0123|4155550123", re.IGNORECASE)


@pytest.mark.parametrize("names", ["names too", "names plain"])
def test_personal_data_of_evidence_appears_nowhere(
    names: str, run_over: Callable[..., Any], twin: Any
) -> None:
    """An address, a card, a number of social security and one of a telephone in every field are in no output."""

    def recorded(label: str) -> str:
        return f"{label} plain Q" if names == "names plain" and label in MATCHED else f"{label} {SECRETS} Q"

    made = run_over("plain", recorded)
    assert set(made.codes.values()) == {0, 1, 2}
    assert made.codes == twin.codes
    for name, data in made.outputs.items():
        for text in (data.decode("utf-8"), unquote(read(name, data))):
            assert not FOUND.findall(re.sub("[0-9a-f]{64}", "", text)), name
    assert sum(b"[REDACTED]" in data for data in made.outputs.values()) > 20
