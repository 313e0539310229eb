"""Where workers come from: for each ambient condition a process that knows the pack's code, and forks on demand.

A fork takes a few milliseconds where a new interpreter takes a few hundred, and is as fresh: nothing of the pack has
run in the process that it is forked from (`child.zygote`).
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from averment.oracle.child import RECORD
from averment.oracle.model.tree import SKIPPED
from averment.oracle.oracles import Condition, OracleError
from averment.oracle.worker.process import Ended, WorkerProcess

__all__ = ["MOST_BYTES", "Nursery"]

_PATIENCE_S = 20
"""How long one of the two processes may take to answer; it answers at once, unless it starts."""

MOST_BYTES = 10 << 20
"""The longest result or state, in bytes of JSON; the limit of endpoint answers as well."""

_START = "import sys; sys.path.insert(0, sys.argv[1]); from averment.oracle.child.zygote import main; main(int(sys.argv[2]))"
_PACKAGE = str(Path(__file__).resolve().parents[3])
_SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/dev/urandom",
)
"""Where shared libraries and time zones lie; a worker may read them."""
_HOUR_NS = 3600 * 10**9
_NEW_YEAR_2026_NS = 1_767_225_600 * 10**9

_CONDITIONS: dict[Condition, dict[str, Any]] = {
    "plain": {
        "environment": {"PYTHONHASHSEED": "1", "TZ": "UTC0", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
        "start_ns": _NEW_YEAR_2026_NS,
        "folder": "w",
    },
    "shifted": {
        # No table of time zones is needed for this one, and no other is 9 3/4 hours behind.
        "environment": {
            "PYTHONHASHSEED": "2026",
            "TZ": "AVR9:45",
            "LANG": "tr_TR.UTF-8",
            "LC_ALL": "tr_TR.UTF-8",
        },
        "start_ns": _NEW_YEAR_2026_NS + 28_061 * _HOUR_NS,  # another year, month, day, weekday and hour
        "folder": "elsewhere/w",
    },
}


class Nursery:
    """Starts workers for one pack.

    Args:
        root: the pack's folder.
        fixtures: the text of the fixtures, given to every reset; None where there are none.
        limits: limits of a worker; `child.seal.LIMITS` where None.
    """

    def __init__(
        self,
        root: Path,
        *,
        fixtures: str | None = None,
        limits: dict[str, int] | None = None,
    ) -> None:
        self._root = os.path.realpath(root)
        self._fixtures = fixtures
        self._limits = limits
        self._scratch = os.path.realpath(tempfile.mkdtemp(prefix="averment-"))
        self._zygotes: dict[Condition, _Zygote] = {}
        self._lock = threading.Lock()
        self._count = 0
        self._known: set[tuple[str | None, Condition]] = set()
        self._ready: dict[tuple[str | None, Condition], WorkerProcess] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the processes of both conditions, side by side, without waiting for them."""
        for condition in _CONDITIONS:
            self._zygote(condition)

    def worker(self, module: str | None, condition: Condition) -> WorkerProcess:
        """A worker that has begun to load `module`, a path inside the pack.

        Whoever asks for a second one of a kind is likely to ask for a third: it is made while others work.
        """
        kind = (module, condition)
        with self._lock:
            worker = self._ready.pop(kind, None)
            is_known = kind in self._known
            self._known.add(kind)
        if worker is None:
            worker = self._spawn(module, condition)
        if is_known and module is not None:
            self._prepare(module, condition)
        return worker

    def _prepare(self, module: str, condition: Condition) -> None:
        try:
            worker = self._spawn(module, condition)
        except (OracleError, OSError):  # who asks for the next one is told
            return
        with self._lock:
            surplus = self._ready.get((module, condition))
            self._ready[module, condition] = worker
        if surplus is not None:
            surplus.close()

    def _spawn(self, module: str | None, condition: Condition) -> WorkerProcess:
        with self._lock:
            self._count += 1
            number = str(self._count)
        zygote = self._zygote(condition)
        return zygote.spawn(module, self._folder(condition), number, self.shown)

    def _folder(self, condition: Condition) -> str:
        return os.path.join(self._scratch, _CONDITIONS[condition]["folder"])

    def shown(self, text: str) -> str:
        """The text without the names of folders that only this machine has."""
        return (
            text.replace(self._root + os.sep, "")
            .replace(self._root, "<pack>")
            .replace(self._scratch, "<scratch>")
        )

    def close(self) -> None:
        """End every process and remove the scratch folders."""
        for worker in self._ready.values():
            worker.close()
        self._ready.clear()
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes.clear()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _zygote(self, condition: Condition) -> _Zygote:
        with self._lock:
            zygote = self._zygotes.get(condition)
            if zygote is None:
                os.makedirs(self._folder(condition))
                zygote = self._zygotes[condition] = _Zygote(self._boot(condition), condition)
            return zygote

    def _boot(self, condition: Condition) -> dict[str, Any]:
        from averment.oracle.child.seal import LIMITS

        libraries = [
            entry for entry in sys.path if os.path.basename(entry) in ("site-packages", "dist-packages")
        ]
        prefixes = [
            os.path.join(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix, sys.base_exec_prefix)
        ]
        return {
            "root": self._root,
            "scratch": self._folder(condition),
            "forget": [_PACKAGE],
            "path": libraries,
            "readable": [*_certified(self._root), *_outermost([*libraries, *prefixes, *_SYSTEM])],
            "fixtures": self._fixtures,
            "limits": {**LIMITS, **(self._limits or {})},
            "most": MOST_BYTES,
            "start_ns": _CONDITIONS[condition]["start_ns"],
            "key": condition,
        }


def _certified(folder: str) -> list[str]:
    """What a pack may read of a folder of its own: all of it, or where something is not part of the pack, the rest."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    parts: list[str] = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            parts += [] if entry.name in SKIPPED else _certified(entry.path)
        elif not entry.is_symlink():
            parts.append(entry.path)
    return [folder] if parts == [entry.path for entry in entries] else parts


def _outermost(paths: Sequence[str]) -> list[str]:
    """The paths that exist, without links and without those inside another."""
    real = {os.path.realpath(path) for path in paths if os.path.exists(path)}
    return sorted(path for path in real if not any(path.startswith(other + os.sep) for other in real))


class _Zygote:
    """One of the two processes. Questions may be sent ahead; answers come in their order."""

    def __init__(self, boot: dict[str, Any], condition: Condition) -> None:
        ours, theirs = socket.socketpair()
        self._control = ours
        self._lock = threading.Lock()
        self._most = boot["most"]
        self._asked = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._answered = -1  # the first record says that it is ready
        interpreter = [sys.executable, "-s", "-P", "-S", "-B", "-X", "utf8", "-c", _START]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
            [*interpreter, _PACKAGE, str(theirs.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(_CONDITIONS[condition]["environment"]),
            cwd="/",
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        stdin = self._process.stdin
        with suppress(BrokenPipeError):
            if stdin is not None:
                stdin.write(msgspec.json.encode(boot))
                stdin.close()

    def spawn(
        self, module: str | None, folder: str, number: str, shown: Callable[[str], str]
    ) -> WorkerProcess:
        scratch = os.path.join(folder, number)
        os.mkdir(scratch)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
        with ExitStack() as theirs, ExitStack() as ours:
            requests_read, requests = _pipe(theirs, ours)
            answers, answers_write = _pipe(ours, theirs)
            files = []
            for name in ("output", "notes"):
                files.append(os.open(f"{scratch}.{name}", flags, 0o600))
                ours.callback(os.close, files[-1])
            ticket = self._ask(
                {"op": "spawn", "module": module, "folder": number}, [requests_read, answers_write, *files]
            )
            ours.pop_all()  # the worker's from here on
        output, notes = files
        return WorkerProcess(
            find_pid=lambda: self._pid(ticket),
            requests=requests,
            answers=answers,
            output=output,
            notes=notes,
            most=self._most,
            reap=self._reap,
            shown=shown,
            scratch=scratch,
        )

    def close(self) -> None:
        self._control.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _pid(self, ticket: int) -> int:
        pid = int(self._answer(ticket)["pid"])
        if not pid:
            raise OracleError(
                "died", "import", "no process could be made for a worker: the machine has no room for it"
            )
        return pid

    def _reap(self, pid: int, *, wanted: bool) -> Ended:
        """Let the process be forgotten, so that its number may be used again; how it ended where that is wanted.

        Raises:
            OracleError: the zygote is gone, and its workers with it.
        """
        if not wanted:
            self._send({"op": "forget", "pid": pid}, [])
            return Ended(0, killed=True)
        answer = self._answer(self._ask({"op": "reap", "pid": pid}, []))
        return Ended(int(answer["status"]), bool(answer["killed"]))

    def _ask(self, message: dict[str, Any], descriptors: list[int]) -> int:
        """Send a question; the number by which its answer is had."""
        with self._lock:
            self._put(message, descriptors)
            self._asked += 1
            return self._asked - 1

    def _send(self, message: dict[str, Any], descriptors: list[int]) -> None:
        with self._lock:
            self._put(message, descriptors)

    def _put(self, message: dict[str, Any], descriptors: list[int]) -> None:
        try:
            socket.send_fds(self._control, [msgspec.json.encode(message).ljust(RECORD)], descriptors)
        except OSError:
            raise _gone() from None

    def _answer(self, ticket: int) -> dict[str, Any]:
        with self._lock:
            while self._answered <= ticket:
                answer = self._next()
                if self._answered >= 0:
                    self._answers[self._answered] = answer
                self._answered += 1
            return self._answers.pop(ticket)

    def _next(self) -> dict[str, Any]:
        data = b""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while len(data) < RECORD:
            if not poll.poll(_PATIENCE_S * 1000):
                self._process.kill()  # a library that the pack names can't be loaded in any time
            try:
                part = self._control.recv(RECORD - len(data))
            except OSError:
                part = b""
            if not part:
                raise _gone()
            data += part
        answer: dict[str, Any] = msgspec.json.decode(data)
        return answer


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe, whose ends are closed with the two stacks."""
    reads, writes = os.pipe()
    reader.callback(os.close, reads)
    writer.callback(os.close, writes)
    return reads, writes


def _gone() -> OracleError:
    return OracleError("died", "import", "the process that workers are forked from has ended")
