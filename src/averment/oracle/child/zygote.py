"""The process that workers are forked from: it knows the pack's code and runs none of it.

It is started once for each ambient condition, makes the world of that condition up (`ambient`), imports what packs
usually import, compiles the pack's files, and then answers its parent over a socket:

    {"op": "spawn", "module": "backend.py", "folder": "7"} + 4 descriptors  ->  {"pid": 123}, or 0 if it can't fork
    {"op": "reap", "pid": 123}                                      ->  {"status": -9, "killed": true}
    {"op": "forget", "pid": 123}                                             (no answer)

A worker is a fork of it: it joins a process group of its own, seals itself, loads the module, and serves one episode.
That all of a pack's code runs in sealed forks, its imports included, is why this process may still fork: a process
that has run a pack's code could no longer be trusted with it. What it does run are the libraries that the pack names
(`loading`); it has sealed itself before, but for its right to fork. When the parent goes, so do this process and its
workers.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from averment.oracle.child import RECORD, ambient, frames, loading
from averment.oracle.child.audit import Audit
from averment.oracle.child.episode import Worker
from averment.oracle.child.integrity import Integrity, is_alarm_left, is_thread_left
from averment.oracle.child.seal import Seal

__all__ = ["main"]

_USUAL = (
    "collections",
    "copy",
    "dataclasses",
    "decimal",
    "enum",
    "functools",
    "itertools",
    "math",
    "pathlib",
    "re",
    "typing",
)
"""What packs import, found loaded by every worker."""


def main(descriptor: int) -> NoReturn:
    """Serve the parent at the other end of the socket `descriptor` until it goes."""
    control = socket.socket(fileno=descriptor)
    boot = json.load(sys.stdin)
    for path in boot["forget"]:
        sys.path.remove(path)
    sys.path += [path for path in boot["path"] if path not in sys.path]
    zygote = _Zygote(control, boot)
    os._exit(zygote.serve())


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """The next message and the descriptors that came with it; empty when the parent has gone.

    Messages have one size, so that a stream needs no other mark of where one ends.
    """
    data, descriptors, _, _ = socket.recv_fds(control, RECORD, 4)
    while data and len(data) < RECORD:
        more = control.recv(RECORD - len(data))
        if not more:
            return b"", descriptors
        data += more
    return data, descriptors


class _Zygote:
    def __init__(self, control: socket.socket, boot: dict[str, Any]) -> None:
        self._control = control
        self._boot = boot
        self._workers: set[int] = set()
        self._audit = Audit(boot["root"], boot["readable"])
        self._seal = Seal(boot["root"], boot["readable"], boot["limits"])
        self._rewind = ambient.install(start_ns=boot["start_ns"], key=boot["key"], note=self._audit.note)
        sys.addaudithook(self._audit.hook)
        for name in _USUAL:
            import_module(name)
        self._seal.lay_on_origin(boot["scratch"])
        loading.prepare(boot["root"], self._seal.limit)
        self._integrity = Integrity()
        for name in [name for name in sys.modules if name.partition(".")[0] == "averment"]:
            del sys.modules[name]  # packs have no business with it
        gc.collect()
        gc.freeze()  # what workers share stays shared: a collection would write to all of it

    def serve(self) -> int:
        self._say({"ready": True})
        while True:
            data, descriptors = _receive(self._control)
            if not data:
                return self._end()
            message = json.loads(data)
            if message["op"] == "reap":
                answer = self._reap(message["pid"])
            elif message["op"] == "forget":
                self._workers.discard(message["pid"])
                os.waitpid(message["pid"], 0)
                continue
            else:
                answer = {"pid": self._spawn(message, descriptors)}
            self._say(answer)

    def _spawn(self, message: dict[str, Any], descriptors: list[int]) -> int:
        try:
            pid = os.fork()
        except OSError:  # the machine has no room for another process
            pid = 0
        else:
            if not pid:
                self._control.close()
                self._live(message, descriptors)
            self._workers.add(pid)
        for descriptor in descriptors:
            os.close(descriptor)
        return pid

    def _say(self, answer: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(answer).encode().ljust(RECORD))

    def _reap(self, pid: int) -> dict[str, Any]:
        """How a worker ended that will answer no more; one that still runs after a moment is killed."""
        self._workers.discard(pid)
        killed = not _has_ended(pid)
        _kill(pid)  # and the rest of its group
        return {"status": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), "killed": killed}

    def _end(self) -> int:
        for pid in self._workers:
            _kill(pid)
        for pid in self._workers:
            os.waitpid(pid, 0)
        return 0

    def _live(self, message: dict[str, Any], descriptors: list[int]) -> NoReturn:
        """The whole life of a worker, in the forked child."""
        code = 70
        try:
            self._serve_episode(message, descriptors)
            code = 0
        finally:
            os._exit(code)

    def _serve_episode(self, message: dict[str, Any], descriptors: list[int]) -> None:
        requests, answers, output, notes = descriptors
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((null, output, output)):
            os.dup2(descriptor, number)
        os.close(null)
        os.close(output)
        root, module = self._boot["root"], message["module"]
        scratch = os.path.join(self._boot["scratch"], message["folder"])
        os.chdir(scratch)
        for name in ("TMPDIR", "TEMP", "TMP", "HOME"):
            os.environ[name] = scratch
        printed = [stream for stream in (sys.stdout, sys.stderr) if isinstance(stream, io.TextIOWrapper)]
        for stream in printed:
            stream.reconfigure(line_buffering=True)  # what was printed is known, however the worker ends
        enforced = self._seal.lay_on(scratch)
        self._rewind()
        self._audit.arm(scratch, notes)
        worker = Worker(
            root, module and os.path.join(root, module), self._boot["fixtures"], self._boot["most"]
        )
        frames.send(answers, json.dumps({"ok": enforced}).encode())
        is_alone = True
        while (step := frames.receive(requests)) is not None:
            answer = worker.answer(step)
            if is_alarm_left():
                self._audit.note("running", "an alarm", everywhere=True)
            for name in self._integrity.replaced():
                self._audit.note("patch", name, everywhere=True)
            if is_alone and is_thread_left():
                is_alone = False
                self._audit.note("running", "a thread", everywhere=True)
            for stream in printed:
                with suppress(Exception):  # closed, or the file is full
                    stream.flush()
            frames.send(answers, answer)


def _has_ended(pid: int) -> bool:
    """Whether it ends by itself within a second; its number stays its own until it is waited for.

    It takes no more than a moment, unless the machine gives others their turn first. Looks are counted and not time, so
    that a machine that stands still takes nothing away from it.
    """
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return False
    for _ in range(200):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return True
        select.select((), (), (), 0.005)
    return False


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
