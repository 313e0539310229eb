"""The README and the pages under `docs/`, checked against the tool they describe.

A fenced block says by its first line how it is checked:

    ```yaml title="refunds.yaml"   a file, written beside the others of its page; documents among them must be right
    ```yaml                        assertions that must be right: a whole document, or items of its list
    ```python                      run, in order, sharing names with the earlier ones of its page
    ```console                     each `$ averment ...` and `$ python ...` is run, and the lines below it must appear, in
                                   order, in what it prints; `...` stands for anything. `$ make ...` must be a verb of the
                                   Makefile
    ```diff title="desk/tools.json" an edit of a file, made between the commands that stand above it and below it

A file whose name begins with `wrong` shows mistakes, so it is not validated; neither is YAML on pages about oracle
packs, which is of another kind. Other blocks are not checked. A comment
`<!-- call.json is tests/samples/vapi/report.json -->` lays a copy of a sample beside the files of its page.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import averment
from averment.assertions import KINDS, values
from averment.assertions.codes import Code
from averment.evidence.formats import FORMATS, NATIVE, Format
from averment.text.source import read_source

_ROOT = Path(__file__).parents[2]
_DOCS = _ROOT / "docs"
_PACKS = _DOCS / "packs"
_PAGES = sorted([*_ROOT.glob("*.md"), *_DOCS.glob("*.md"), *_PACKS.glob("*.md")])
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SAMPLE = re.compile(r"^<!-- (\S+) is (tests/samples/\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


class Fence(NamedTuple):
    """One fenced block: its language, the file it is, and its text."""

    language: str
    title: str | None
    text: str


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _fences(page: Path) -> list[Fence]:
    return [Fence(language, title or None, text) for language, title, text in _FENCE.findall(_text(page))]


def _pages(pattern: str) -> pytest.MarkDecorator:
    """Runs a test for each page in which the pattern is found."""
    found = [page for page in _PAGES if re.search(pattern, _text(page), re.MULTILINE)]
    return pytest.mark.parametrize("page", found, ids=lambda page: page.relative_to(_ROOT).as_posix())


@pytest.fixture
def folder(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that holds the files that the page names."""
    for fence in _fences(page):
        if fence.title is not None and fence.language != "diff":
            (tmp_path / fence.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / fence.title).write_text(fence.text, encoding="utf-8")
    for name, sample in _samples(page).items():
        shutil.copy(sample, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _samples(page: Path) -> dict[str, Path]:
    """The samples that a page names, by the names that it has for them."""
    named = dict(_SAMPLE.findall(_text(page)))
    assert len(named) == len(set(_SAMPLE.findall(_text(page)))), "two samples have one name"
    return {name: _ROOT / sample for name, sample in named.items()}


def _as_document(text: str) -> str:
    if not text.startswith("- "):
        return text
    return "version: 1\nassertions:\n" + "".join(f"  {line}\n" if line else "\n" for line in text.split("\n"))


@_pages("^```yaml")
def test_documents_are_right(page: Path, folder: Path) -> None:
    """Every assertion shown is a right one."""
    for language, title, text in _fences(page):
        if page.parent == _PACKS or language != "yaml":
            continue
        if text.startswith("- ") or re.search("^assertions:", text, re.MULTILINE):
            if title is None:
                averment.Document.parse(_as_document(text), name=f"a block of {page.name}")
            elif not title.startswith("wrong"):
                averment.Document.load(folder / title)


@_pages("^```python")
@pytest.mark.usefixtures("folder")
def test_python_runs(page: Path) -> None:
    """Every Python block runs, after those above it."""
    names: dict[str, Any] = {}
    for fence in _fences(page):
        if fence.language == "python":
            exec(compile(fence.text, page.name, "exec"), names)  # noqa: S102 - our own pages


@_pages("^```console")
@pytest.mark.usefixtures("folder")
def test_commands_print_what_is_shown(page: Path) -> None:
    """Every command shown prints what is shown below it."""
    verbs = set(re.findall(r"^(\w+):", _text(_ROOT / "Makefile"), re.MULTILINE))
    for fence in _fences(page):
        if fence.language == "diff" and fence.title is not None:
            _edit(Path(fence.title), fence.text)
        if fence.language != "console":
            continue
        for block in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
            command, _, shown = block.partition("\n")
            if command.startswith("make "):
                assert command.removeprefix("make ") in verbs, command
            elif command.startswith(("averment ", "python ")):
                _assert_shows(command, _run(command), shown)


def _edit(file: Path, diff: str) -> None:
    """Make an edit: the lines that begin with a space or `-` stand in the file, once, and those with `+` come instead."""
    lines = [line or " " for line in diff.removesuffix("\n").split("\n")]
    old, new = ("\n".join(line[1:] for line in lines if line[0] in f" {sign}") + "\n" for sign in ("-", "+"))
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} has not once\n{old}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def _run(command: str) -> str:
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(  # noqa: S602 - our own pages, which show pipes and `echo $?`
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PATH": paths, "NO_COLOR": "1"},
        check=False,
    )
    return done.stdout


def _assert_shows(command: str, printed: str, shown: str) -> None:
    assert shown.strip(), f"$ {command}\nshows nothing"
    lines = iter(printed.split("\n"))
    for line in shown.split("\n"):
        wanted = line.strip()
        if wanted not in {"", "..."}:
            assert any(wanted == got.strip() for got in lines), (
                f"$ {command}\nshows no {line!r} in\n{printed}"
            )


@_pages(_LINK.pattern)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link to a page of ours, and to a heading in it, leads to one."""
    for path, anchor in _LINK.findall(_text(page)):
        target = (page.parent / path).resolve() if path else page
        inside = target.relative_to(_DOCS).as_posix() if target.is_relative_to(_DOCS) else ""
        if inside.startswith("reference/"):
            assert inside.removeprefix("reference/") in _REFERENCE, path
            text = _REFERENCE[inside.removeprefix("reference/")]
        else:
            assert target.exists(), path
            text = _text(target) if anchor else ""
        if anchor:
            assert anchor in {_slug(heading) for heading in _HEADING.findall(text)}, f"{path}#{anchor}"


def _slug(heading: str) -> str:
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())


_BUILD = runpy.run_path(str(_DOCS / "build.py"))
_REFERENCE: Mapping[str, str] = _BUILD["pages"]()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page_and_a_place_in_the_menu(kind: str) -> None:
    """A kind has a reference page, and the menu leads to it."""
    assert _REFERENCE[f"kinds/{kind}.md"].startswith(f"# `{kind}`\n")
    assert f'"reference/kinds/{kind}.md"' in _text(_ROOT / "zensical.toml")


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_format_is_explained(form: Format) -> None:
    """The page on formats has a section for each, of what its reader says, and what its samples come to."""
    page = _REFERENCE["formats.md"]
    section = page.partition(f"\n## {form.name}\n")[2].partition("\n## ")[0]
    assert f"| [`{form.name}`](#{form.name}) |" in page
    if form not in NATIVE:
        assert "**Known gaps.** " in section
        assert "| sample | said |" in section


_PLATFORMS = _DOCS / "from-your-platform.md"


def test_every_format_has_a_source_to_get_it_from() -> None:
    """The page on platforms shows a recording in every format that is not averment's own."""
    pytest.importorskip("google.protobuf", reason="one of them needs the extra `otel`")
    shown = {
        source.format
        for each in _BUILD["sources"](_text(_PLATFORMS))
        for evidence in each.load()
        for source in evidence.model.sources
    }
    assert shown == {form.name for form in FORMATS} - {form.name for form in NATIVE}


def test_what_a_source_can_prove_is_what_its_samples_come_to() -> None:
    """The table is that of the readers; when one of them changes, `make docs` writes it anew."""
    pytest.importorskip("google.protobuf", reason="one of the samples needs the extra `otel`")
    page = _text(_PLATFORMS)
    assert _BUILD["refreshed"](page) == page


def test_every_source_has_a_command() -> None:
    """A section with a sample runs it."""
    assert [each.name for each in _BUILD["sources"](_text(_PLATFORMS)) if not each.command] == []


def test_every_page_is_in_the_menu() -> None:
    """The menu leads to every page."""
    menu = _text(_ROOT / "zensical.toml")
    named = [page.relative_to(_DOCS).as_posix() for page in _PAGES if page.is_relative_to(_DOCS)]
    assert [name for name in named if f'"{name}"' not in menu] == []
    assert [name for name in _REFERENCE if f'"reference/{name}"' not in menu] == []


def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    """The site builds without a warning, and no page of it asks another host for anything."""
    pytest.importorskip("zensical", reason="the site's builder comes with requirements-docs.txt")
    shutil.copy(_ROOT / "zensical.toml", tmp_path)
    shutil.copytree(_DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("reference"))
    _BUILD["write"](tmp_path / "docs" / "reference")
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) > len(_REFERENCE)
    outside = re.compile(r"""<(?!a\b)[^>]*\b(?:src|href)=["'](?:https?:)?//""")
    assert [page.name for page in built if outside.search(_text(page))] == []


def test_every_code_is_explained() -> None:
    """The page on verdicts has a row for every code that a result can carry, and for no other."""
    section = _text(_DOCS / "read-a-verdict.md").partition("\n## Codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert sorted(rows) == sorted(Code)


def test_every_public_name_is_explained() -> None:
    """The page on Python mentions every public name."""
    text = _text(_DOCS / "from-python.md")
    assert [name for name in averment.__all__ if f"`{name}" not in text] == []


_ROW = re.compile(r"^\| `(\$?\w+)` \| `(.+?)` \| `(.+?)` \| `(.+?)` \|", re.MULTILINE)


def _examples() -> list[tuple[str, str, str, str]]:
    return _ROW.findall(_text(_DOCS / "expected-values.md"))


def test_every_operator_has_an_example() -> None:
    """The page on expected values has an example for every operator that the code's own table lists."""
    listed = {
        name
        for line in re.findall(r"^    (\$.+)$", values.__doc__ or "", re.MULTILINE)
        for name in re.findall(r"\$\w+", line.split("  ")[0].split(":")[0])
    }
    assert listed <= {name for name, *_ in _examples()}


@pytest.mark.parametrize(("name", "expected", "right", "wrong"), _examples())
def test_examples_of_expected_values_hold(name: str, expected: str, right: str, wrong: str) -> None:
    """What an example says matches does, and what it says does not match does not."""
    matcher = values.matcher({"key": _value(expected)})
    assert name in expected or not name.startswith("$")
    assert matcher.matches(_under_key(right))
    assert not matcher.matches(_under_key(wrong))


def _value(text: str) -> Any:
    return read_source(f"key: {text}").value["key"]


def _under_key(text: str) -> dict[str, Any]:
    return {} if text == "no key" else {"key": _value(text)}
