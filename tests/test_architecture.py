"""The shape of the code: which way imports run, who may search text, what is public, what start-up loads."""

from __future__ import annotations

import ast
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import averment

SOURCE = Path(averment.__file__).parent
ORDER = (
    *(
        "_version",
        "errors",
        "text",
        "evidence",
        "sdk",
        "state",
        "policies",
        "assertions",
        "documents",
        "engine",
        "oracle",
        "verdicts",
        "suites",
        "report",
    ),
    *("assert_v1", "demo", "cli", "__main__", "pytesting", "pytest_plugin"),
)
"""The entries of the package; a module imports only from entries above its own, or its own."""
EXCEPTIONS = {("evidence/view.py", "state"): "the view answers questions about the system of record"}
CLOCKS = {
    "oracle/worker/deadline.py": "a deadline is no verdict",
    "oracle/child/ambient.py": "it replaces the clock and the randomness that a pack's code could see",
    "oracle/child/episode.py": "`ctx.clock` is a datetime, made of the text in the run's options",
    "oracle/child/integrity.py": "it looks whether a pack's code has replaced them",
}
ROOMS = (
    *("child", "model", "catalog", "compile", "tasks", "lint"),
    *("scaffold", "worker", "endpoint", "replay", "gold", "checks", "build", "grade"),
)
"""The rooms of `oracle`, in the order in which they may import one another; what stands beside them may import all."""


def _modules() -> list[Path]:
    return sorted(
        path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE
    )


def _imports(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, at any depth, `TYPE_CHECKING` included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _entry(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_from_entries_above_its_own(path: Path) -> None:
    """Dependencies run one way, in the order of the house."""
    own = ORDER.index(_entry(path))
    for name in _imports(path):
        parts = name.split(".")
        if parts[0] != "averment" or len(parts) < 2 or parts[1] not in ORDER:
            continue
        if (path.relative_to(SOURCE).as_posix(), parts[1]) in EXCEPTIONS:
            continue
        assert ORDER.index(parts[1]) <= own, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", sorted((SOURCE / "oracle").rglob("*.py")), ids=lambda path: path.name)
def test_a_room_of_oracle_packs_imports_only_from_rooms_before_it(path: Path) -> None:
    """Files know nothing of tasks, tasks nothing of workers, workers nothing of checks."""
    room = path.relative_to(SOURCE / "oracle").parts[0]
    if room not in ROOMS:
        return
    for name in _imports(path):
        parts = name.split(".")
        if parts[:2] == ["averment", "oracle"] and len(parts) > 2 and parts[2] in ROOMS:
            assert ROOMS.index(parts[2]) <= ROOMS.index(room), f"{path.name} imports {name}"


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "oracle" / "child").glob("*.py")), ids=lambda path: path.name
)
def test_a_worker_imports_the_standard_library_only(path: Path) -> None:
    """What runs beside a pack's code is small: Python's own modules, and those of its own room."""
    for name in _imports(path):
        known = name.partition(".")[0] in sys.stdlib_module_names
        assert known or name.startswith("averment.oracle.child"), name


@pytest.mark.parametrize("path", sorted((SOURCE / "assertions").glob("*.py")), ids=lambda path: path.name)
def test_no_kind_searches_text_itself(path: Path) -> None:
    """Patterns are searched by the engine, all of a document's in one pass; no kind imports `re` or an engine."""
    assert {"re", "regex", "re2"}.isdisjoint(_imports(path))


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_is_short_enough_to_find_ones_way_in(path: Path) -> None:
    """No module has more than 500 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_evaluated(path: Path) -> None:
    """No module calls eval, exec or compile, or unpickles."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called.isdisjoint({"eval", "exec", "compile", "__import__"})
    assert {"pickle", "marshal", "shelve"}.isdisjoint(_imports(path))


def test_the_clock_is_never_read() -> None:
    """No module imports a clock or a source of randomness, so that no verdict can depend on one."""
    clocks = {"time", "datetime", "random", "secrets", "uuid"}
    found = {
        path.relative_to(SOURCE).as_posix(): names
        for path in _modules()
        if (names := clocks & set(_imports(path)))
    }
    assert found.keys() <= CLOCKS.keys(), found


def test_every_public_name_is_there_and_sorted() -> None:
    """`averment.__all__` is sorted, each name resolves, and nothing else is offered."""
    assert list(averment.__all__) == sorted(averment.__all__)
    assert dir(averment) == list(averment.__all__)
    for name in averment.__all__:
        assert getattr(averment, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = averment.nonsense


def test_importing_the_package_loads_nothing_else() -> None:
    """`import averment` costs nothing: names are loaded on first use."""
    code = "import sys; before = set(sys.modules); import averment; print(sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert ast.literal_eval(loaded.strip()) == ["averment", "averment._version"]


def test_a_run_loads_no_library_that_it_does_not_need(tmp_path: Path) -> None:
    """`averment run` on JSON imports no YAML, no schema library, no reporter for formats that are not asked for."""
    (tmp_path / "d.json").write_text(
        '{"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "hello"}]}'
    )
    (tmp_path / "c.json").write_text('[{"role": "agent", "text": "hello"}]')
    code = (
        "import sys\n"
        "from averment.cli.main import main\n"
        "try:\n    main(['run', 'd.json', 'c.json', '--format', 'json'])\n"
        "except SystemExit as done:\n    assert done.code == 0\n"
        "print(sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = set(ast.literal_eval(done.stderr.strip()))
    unwanted = {
        "shtab",
        "yaml",
        "re2",
        "jinja2",
        "rich",
        "dataclasses",
        "asyncio",
        "sqlite3",
        "tempfile",
        "difflib",
        "socket",
    }
    assert loaded.isdisjoint(unwanted | {"averment.report.terminal", "averment.assertions.sequence"})


@pytest.mark.parametrize("at_terminal", [False, True], ids=["into a pipe", "at a terminal"])
def test_a_run_for_people_loads_no_report_that_is_not_asked_for(tmp_path: Path, *, at_terminal: bool) -> None:
    """`averment run` on one conversation loads the terminal's reporter alone: no template, no table, no XML, no suite."""
    (tmp_path / "d.yaml").write_text(
        "version: 1\nassertions:\n- {id: a, kind: phrase, regex: hello}\n- {id: b, kind: tool_call, name: t}\n"
    )
    (tmp_path / "c.json").write_text('{"transcript": [{"role": "agent", "text": "hello"}], "spans": []}')
    code = (
        "import sys\n"
        "from averment.cli.main import main\n"
        "try:\n    main(['run', 'd.yaml', 'c.json', '--verbose'])\n"
        "except SystemExit as done:\n    assert done.code == 1\n"
        "open('loaded', 'w').write(repr(sorted(sys.modules)))\n"
    )
    asked = ("GITHUB_ACTIONS", "FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in asked}
    ours, theirs = pty.openpty() if at_terminal else os.pipe()
    try:
        subprocess.run(
            [sys.executable, "-c", code],
            stdout=theirs,
            stderr=theirs,
            check=True,
            cwd=tmp_path,
            env={**environment, "TERM": "xterm-256color"},
        )
        printed = os.read(ours, 4096)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (b"\x1b[" in printed) is at_terminal
    loaded = set(ast.literal_eval((tmp_path / "loaded").read_text()))
    assert "averment.report.terminal" in loaded
    unwanted = {"jinja2", "markupsafe", "rich", "xml", "xml.etree", "averment.suites", "averment.verdicts"}
    assert loaded.isdisjoint(unwanted)
    ours_of_reports = {name for name in loaded if name.startswith("averment.report.")}
    assert ours_of_reports == {"averment.report.look", "averment.report.terminal"}


def test_a_native_record_loads_no_reader_of_another_format() -> None:
    """Formats are told apart by keys first: the readers of forty formats would take as long as a whole run."""
    code = (
        "import sys\n"
        "from averment import Evidence\n"
        'Evidence.from_bytes(b\'{"conversation_id": "c", "transcript": [{"role": "agent", "text": "a"}], "state": {},\'\n'
        '    b\' "spans": [{"type": "dtmf", "time_sec": 1}], "timing": [], "metadata": {}, "labels": {}}\')\n'
        "print(sorted(name for name in sys.modules if name.startswith('averment.evidence.readers.')))\n"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    native = "calls conversation evidence_json state_json state_sqlite timing transcript voice_trace"
    assert {name.rpartition(".")[2] for name in ast.literal_eval(loaded.strip())} <= set(native.split())
