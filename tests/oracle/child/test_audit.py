from __future__ import annotations

from collections.abc import Iterator

import pytest
from live_workers import Live, live

from averment.oracle.checks.gold_isolation import REASONS
from averment.oracle.child.audit import KINDS, Audit
from averment.oracle.worker.backend import Attempt

HELPER = """
import os, random, time

def clock():
    return time.time()

def passwd():
    open("/etc/passwd")
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """An obedient pack with a helper."""
    with live(
        tmp_path_factory.mktemp("pack"), {"lib/helper.py": HELPER, "__pycache__/old.pyc": "x"}
    ) as found:
        yield found


@pytest.fixture
def pack(shared: Live) -> Live:
    """The pack, of which nothing is noted yet."""
    shared.tried()
    return shared


def test_a_note_names_the_innermost_line_of_the_pack(pack: Live) -> None:
    """Not who called the helper, but the helper."""
    pack.do("from lib import helper; helper.clock()")
    assert pack.tried() == [Attempt("clock", "time.time", "lib/helper.py", 5)]


def test_what_is_refused_raises_at_the_line_and_says_why(pack: Live) -> None:
    """The pack's author sees the attempt as an exception with a sentence."""
    error = pack.fails("from lib import helper; helper.passwd()")
    assert (
        error.message
        == "call_tool raised PermissionError: a pack can't read files outside it (open .../passwd)"
    )
    assert (error.file, error.line) == ("lib/helper.py", 8)
    assert pack.tried() == [Attempt("read", "open .../passwd", "lib/helper.py", 8)]


def test_an_attempt_that_is_caught_is_noted_all_the_same(pack: Live) -> None:
    """A pack can swallow the exception, and not the note."""
    code = "import socket\ntry:\n    socket.socket()\nexcept OSError:\n    value = 1"
    assert pack.do(code) == 1
    assert [(each.kind, each.what) for each in pack.tried()] == [("network", "socket.__new__")]


def test_notes_survive_a_worker_that_is_killed(pack: Live) -> None:
    """They lie in a file that the parent holds open."""
    pack.fails("import os, time; time.time(); os._exit(1)")
    assert [each.what for each in pack.tried()] == ["time.time"]


def test_each_place_is_noted_once(pack: Live) -> None:
    """A loop that reads the clock is one note."""
    pack.do("import time\nfor _ in range(1000):\n    time.time()")
    assert len(pack.tried()) == 1


def test_notes_are_bounded(pack: Live) -> None:
    """Ten thousand different attempts end at two hundred."""
    code = "import os\nfor i in range(10_000):\n    os.environ.get(f'X{i}')"
    pack.do(code)
    assert len(pack.tried()) == 200


def test_what_libraries_read_for_themselves_is_not_the_packs(pack: Live) -> None:
    """`logging` looks at the clock and `tempfile` at the environment; the pack chose neither."""
    pack.do("import logging, tempfile; logging.warning('x'); tempfile.gettempdir()")
    assert {"clock", "environment"}.isdisjoint(each.kind for each in pack.tried())


@pytest.mark.parametrize(
    "code", ["exec('import time; time.time()')", "(lambda: __import__('time').time())()"]
)
def test_code_that_is_evaluated_is_its_callers(pack: Live, code: str) -> None:
    """`exec` hides nothing: the line is the one that evaluates."""
    pack.do(code)
    assert [(each.kind, each.file) for each in pack.tried()] == [("clock", "backend.py")]


def test_files_that_are_not_certified_are_not_read(pack: Live) -> None:
    """What the fingerprint leaves out is no place to keep code or data in; its names may be seen."""
    assert pack.do("import os; value = sorted(os.listdir(pack))", given={"pack": str(pack.root)}) == [
        "__pycache__",
        "backend.py",
        "lib",
    ]
    pack.tried()
    error = pack.fails("open(pack + '/__pycache__/old.pyc')", given={"pack": str(pack.root)})
    assert error.error_type == "PermissionError"
    assert [each.kind for each in pack.tried()] == ["read"]


def test_they_are_not_read_past_python_either(pack: Live) -> None:
    """The kernel refuses it too, and still lets the rest be read."""
    code = """
        import ctypes
        c = ctypes.CDLL(None)
        value = [c.open((pack + name).encode(), 0) >= 0 for name in ("/backend.py", "/lib/helper.py", "/__pycache__/old.pyc")]
    """
    assert pack.do(code, given={"pack": str(pack.root)}) == [True, True, False]


def test_replacing_the_code_of_a_function_is_noted(pack: Live) -> None:
    """A function that keeps its name and does something else."""
    pack.do("import json\ndef f(*a, **k): return '{}'\njson.dumps.__code__ = f.__code__")
    assert [(each.kind, each.what) for each in pack.tried()] == [("patch", "json.dumps.__code__")]


def test_a_path_that_is_none_fails_by_itself(pack: Live) -> None:
    """A null byte in a path is Python's error, and no attempt at anything."""
    assert pack.fails("open('a\\0b')").error_type == "ValueError"
    assert {each.kind for each in pack.tried()} <= {"read"}


def test_every_kind_of_note_has_a_meaning_and_those_that_fail_a_reason() -> None:
    """The kinds end sentences about the pack; what leaves the process is a reason of check I1."""
    from averment.oracle.checks.gold_isolation import _REASON_OF

    assert KINDS.keys() >= _REASON_OF.keys()
    assert REASONS.keys() >= set(_REASON_OF.values())
    assert all(meaning.islower() or meaning[0].islower() for meaning in KINDS.values())


def test_nothing_is_noted_or_refused_before_it_is_armed(tmp_path: object) -> None:
    """The origin of workers opens files, and its hook stays silent."""
    audit = Audit(str(tmp_path), [])
    audit.hook("open", ("/etc/passwd", "r", 0))
    audit.hook("os.fork", ())
    audit.note("clock", "time.time", everywhere=True)
    assert not audit.armed
