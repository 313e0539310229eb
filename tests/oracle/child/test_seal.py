from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_workers import Live, live
from worker_attempts import IN_PYTHON, PAST_PYTHON, SYSTEM_CALLS, attempt_all, prepared

from averment.oracle.child import seal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's limits are those of Linux")

HERE = Path(__file__).parent
NOBODY = 65534


def _tree(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything below a folder that an attempt could change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        text = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (
            about.st_mode,
            about.st_uid,
            about.st_gid,
            about.st_mtime_ns,
            about.st_nlink,
            text,
        )
    return found


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of every attempt as the user of the tests; `changed` is what it has changed."""
    folder = tmp_path_factory.mktemp("attempts")
    given = prepared(folder)
    with live(folder / "pack"):
        before = _tree(folder)
    found = attempt_all(folder, given)
    after = _tree(folder)
    return {**found, "changed": [name for name in {*before, *after} if before.get(name) != after.get(name)]}


@pytest.fixture(scope="module")
def as_nobody(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of every attempt as a user without rights, who owns the files in question."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = Path(tmp_path_factory.mktemp("nobody"))
    for above in (folder, *folder.parents):
        if above.stat().st_mode & 0o001 == 0 and above.stat().st_uid == 0:
            above.chmod(above.stat().st_mode | 0o011)
    prepared(folder)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    import averment

    source = str(Path(averment.__file__).parent.parent)
    code = [sys.executable, str(HERE.parent / "worker" / "worker_attempts.py"), str(folder)]
    try:
        done = subprocess.run(
            code,
            env={
                "PYTHONPATH": source,
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd=folder,
            timeout=300,
            check=False,
        )
    except PermissionError:
        pytest.skip("this interpreter may not be used by other users")
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _refused_in_python(found: dict[str, Any], name: str) -> None:
    kind, _ = IN_PYTHON[name]
    trouble, error_type, message, file, notes = found[name]
    if name == "another audit hook":  # Python swallows the refusal, and adds none
        assert trouble == "nothing"
    else:
        assert (trouble, error_type) in {("raised", "PermissionError"), ("raised", "ValueError")}, message
        assert file == "backend.py"
    kinds = {note[0] for note in notes} - {"native", "entropy"}
    assert kinds == ({kind} if kind else set()), notes
    assert all(note[2] == "backend.py" for note in notes)
    assert not any(" /" in note[1] for note in notes)


@pytest.mark.parametrize("name", IN_PYTHON)
def test_what_python_tries_is_refused_and_noted(attempts: dict[str, Any], name: str) -> None:
    """Code in Python gets an exception at its line, and the audit log says what it tried, without the machine's paths."""
    _refused_in_python(attempts, name)


@pytest.mark.parametrize("name", PAST_PYTHON)
def test_what_native_code_tries_is_refused_by_the_kernel(attempts: dict[str, Any], name: str) -> None:
    """C calls go past the audit hook, and get EPERM or EACCES; calls that no filter knows don't exist."""
    result, errno = attempts[f"C: {name}"]
    assert result == -1
    by_number = "x86(" in PAST_PYTHON[name] and os.uname().machine != "x86_64"
    expected = {38} if by_number else {SYSTEM_CALLS[name]} if name in SYSTEM_CALLS else {1, 13}
    assert errno in expected


def test_no_attempt_has_changed_anything(attempts: dict[str, Any]) -> None:
    """The pack, the file beside it and the folder outside are what they were, their modes, owners and times too."""
    assert attempts["changed"] == []


def test_everything_is_enforced_here(attempts: dict[str, Any]) -> None:
    """This platform has all that the strongest level promises, or the tests above would prove nothing."""
    assert attempts["enforced"] == ["filesystem", "limits", "system_calls"]


def test_another_user_is_refused_the_same(as_nobody: dict[str, Any]) -> None:
    """None of it depends on root: a user who owns the files in question gets the same refusals."""
    for name in IN_PYTHON:
        _refused_in_python(as_nobody, name)
    for name in PAST_PYTHON:
        result, errno = as_nobody[f"C: {name}"]
        assert result == -1, name
        assert errno in {1, 13, 18, 38}, name
    assert as_nobody["enforced"] == ["filesystem", "limits", "system_calls"]


ORDINARY: dict[str, tuple[str, Any]] = {
    "json": ("import json; value = json.loads(json.dumps({'a': [1, 2.5, None]}))", {"a": [1, 2.5, None]}),
    "decimal": ("from decimal import Decimal; value = str(Decimal('0.1') + Decimal('0.2'))", "0.3"),
    "time zones": (
        """
        from datetime import datetime
        from zoneinfo import ZoneInfo
        value = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")).isoformat()
        """,
        "2026-07-01T12:00:00+02:00",
    ),
    "sqlite in memory": (
        """
        import sqlite3
        base = sqlite3.connect(":memory:")
        base.execute("create table t (a)")
        base.execute("insert into t values (7)")
        value = base.execute("select a from t").fetchone()[0]
        """,
        7,
    ),
    "sqlite in a file": (
        """
        import os, sqlite3
        base = sqlite3.connect("x.db")
        base.execute("create table t (a)")
        base.commit()
        base.close()
        value = os.path.getsize("x.db") > 0
        """,
        True,
    ),
    "threads": (
        """
        import threading
        value = []
        thread = threading.Thread(target=value.append, args=(3,))
        thread.start()
        thread.join()
        """,
        [3],
    ),
    "thread pools": (
        """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(3) as pool:
            value = list(pool.map(abs, [-1, -2]))
        """,
        [1, 2],
    ),
    "asyncio": (
        """
        import asyncio
        async def f():
            await asyncio.sleep(0.001)
            return await asyncio.to_thread(abs, -4)
        value = asyncio.run(f())
        """,
        4,
    ),
    "temporary files": (
        """
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/a", "w") as file:
                file.write("hi")
            value = open(folder + "/a").read()
        """,
        "hi",
    ),
    "files in the scratch folder": (
        """
        import os
        open("a", "w").close()
        os.rename("a", "b")
        os.mkdir("d")
        value = sorted(os.listdir("."))
        """,
        ["b", "d"],
    ),
    "files of the pack": ("value = open(pack + '/data/prices.txt').read()", "7\n"),
    "its own signals": (
        """
        import signal
        value = []
        signal.signal(signal.SIGUSR1, lambda *_: value.append(1))
        signal.raise_signal(signal.SIGUSR1)
        """,
        [1],
    ),
    "memory files": ("import os; value = os.write(os.memfd_create('a'), b'abc')", 3),
    "pairs of sockets": (
        "import socket; a, b = socket.socketpair(); a.send(b'x'); value = b.recv(1).decode()",
        "x",
    ),
    "logging": ("import logging; logging.warning('careful'); value = True", True),
    "tls": ("import ssl, hashlib; value = hashlib.sha256(b'').hexdigest()[:6]", "e3b0c4"),
    "text": ("value = 'ä 漢 🙂 \\x00 \\u2028'", "ä 漢 🙂 \x00 \u2028"),
    "large integers": ("value = 10 ** 400", 10**400),
    "limits can be read": ("import resource as r; value = r.getrlimit(r.RLIMIT_NOFILE)[0]", 64),
}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """An obedient pack."""
    with live(tmp_path_factory.mktemp("pack"), {"data/prices.txt": "7\n"}) as found:
        yield found


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_code_works(pack: Live, name: str) -> None:
    """What packs do in earnest is not in the way of the limits, and is noted as nothing that would fail them."""
    code, expected = ORDINARY[name]
    assert pack.do(code, given={"pack": str(pack.root)}) == expected
    assert {each.kind for each in pack.tried()} <= {"thread", "entropy"}


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("address space", "x = bytearray(2 << 30)"),
        ("open files", "import os\nfor _ in range(100):\n    os.dup(0)"),
        ("size of files", "open('x', 'wb').write(bytes(17 << 20))"),
    ],
)
def test_resources_are_limited(pack: Live, what: str, code: str) -> None:
    """Memory, descriptors and files have their limits, met as errors at the line."""
    error = pack.fails(code)
    assert error.error_type in ("MemoryError", "OSError"), what
    assert error.file == "backend.py"


def test_processor_time_is_limited(tmp_path: Path) -> None:
    """A worker that spends its processor time is ended by the kernel, before its deadline."""
    with live(tmp_path, limits={"cpu_seconds": 1}) as found:
        error = found.fails("while True: pass")
    assert error.trouble == "died"
    assert "was ended by SIGKILL" in error.message or "was ended by SIGXCPU" in error.message


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("forks", [False, True])
def test_the_filter_is_a_legal_program(machine: str, *, forks: bool) -> None:
    """Every jump lands inside the program, every path ends in a return, and it is no longer than the kernel takes."""
    code = seal._program(machine, forks=forks)
    steps = list(struct.iter_unpack("=HBBI", code))
    assert 0 < len(steps) <= 4096
    for index, (kind, true, false, _) in enumerate(steps):
        if kind & 7 == 5:
            assert max(index + 1 + true, index + 1 + false) < len(steps)
    assert steps[-1][0] == 6


def _run(code: bytes, number: int, *arguments: int, architecture: int = 0xC000003E) -> int:
    """What the filter returns for a system call, by an interpreter of the few instructions that it uses."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    steps = list(struct.iter_unpack("=HBBI", code))
    loaded, at = 0, 0
    while True:
        kind, true, false, value = steps[at]
        at += 1
        if kind == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif kind == 0x06:
            return int(value)
        else:
            holds = {
                0x15: loaded == value,
                0x25: loaded > value,
                0x35: loaded >= value,
                0x45: bool(loaded & value),
            }
            at += true if holds[kind] else false


ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026


def test_the_filter_refuses_what_the_table_lists_and_allows_the_rest() -> None:
    """Every number of the table is refused, and every other known one allowed, but for those judged by arguments."""
    from averment.oracle.child.syscalls import NEWEST, REFUSED

    code = seal._program("x86_64")
    refused = {numbers[0] for numbers in REFUSED.values()}
    judged = {56, 62, 234, 157, 72, 16, 302, 435}
    for number in range(NEWEST + 1):
        if number not in judged:
            assert _run(code, number) == (EPERM if number in refused else ALLOW), number
    assert _run(code, NEWEST + 1) == ENOSYS
    assert _run(code, 0x40000000) == ENOSYS
    assert _run(code, 0, architecture=0x40000003) == EPERM  # 32-bit calls of the same machine


@pytest.mark.parametrize(
    ("number", "arguments", "outcome"),
    [
        (56, (0x00010000,), ALLOW),  # a thread
        (56, (17,), EPERM),
        (435, (), ENOSYS),
        (62, (seal._OWN_PID, 9), ALLOW),
        (62, (1, 9), EPERM),
        (62, (0xFFFFFFFF, 9), EPERM),
        (234, (seal._OWN_PID, 9), ALLOW),
        (234, (1, 9), EPERM),
        (157, (1,), EPERM),
        (157, (15,), ALLOW),
        (72, (0, 8), EPERM),
        (72, (0, 1), ALLOW),
        (16, (0, 0x8902), EPERM),
        (16, (0, 0x5413), ALLOW),
        (302, (0, 7, 0, 1), ALLOW),
        (302, (0, 7, 1, 0), EPERM),
        (302, (0, 7, 1 << 32, 0), EPERM),
    ],
)
def test_some_calls_are_judged_by_their_arguments(
    number: int, arguments: tuple[int, ...], outcome: int
) -> None:
    """Threads, signals to itself and reading limits are allowed; what else the calls can do is not."""
    assert _run(seal._program("x86_64"), number, *arguments) == outcome


def test_an_unknown_machine_has_no_filter() -> None:
    """Where numbers of calls are not known none is refused by number, and workers say that they are not confined."""
    assert seal._program("vax") == b""
