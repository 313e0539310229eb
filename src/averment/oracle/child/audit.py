"""What a pack's code tries: noted by an audit hook, and refused where a pack has no business.

Notes are lines of JSON in a file that the parent reads when the worker has ended, however it ended:

    {"kind": "network", "what": "socket.connect", "file": "backend.py", "line": 12}

The hook refuses by raising PermissionError with a sentence. It is a guard rail: native code goes past it, and meets the
kernel's limits (`seal`) instead.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

__all__ = ["KINDS", "Audit"]

KINDS: Final = {
    "clock": "read the wall clock",
    "entropy": "drew random numbers that follow from no seed",
    "environment": "read the environment",
    "network": "tried to reach the network",
    "process": "tried to start, signal or replace a process",
    "read": "tried to read a file outside the pack",
    "write": "tried to write outside its scratch folder",
    "native": "loaded native code, which the audit can't follow",
    "thread": "started a thread",
    "running": "left a thread or an alarm running after its step",
    "patch": "replaced a part of Python or of a library",
    "hook": "tried to watch or trace the interpreter",
}
"""The kinds of notes, as the end of a sentence that starts with the pack."""

_MOST_NOTES = 200
_dumps, _write = json.dumps, os.write  # a pack may replace the module's
_DIRECT = frozenset(("clock", "environment"))
"""What counts only where the pack itself does it: that `logging` looks at the clock is no choice of the pack's."""

_PROCESSES = frozenset(
    {
        *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn"),
        *("os.kill", "os.killpg", "pty.spawn", "os.startfile", "signal.pthread_kill"),
    }
)
_WRITES: Final = {
    "os.mkdir": 1,
    "os.rmdir": 1,
    "os.remove": 1,
    "os.unlink": 1,
    "os.truncate": 1,
    "os.utime": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.setxattr": 1,
    "os.removexattr": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
}
"""Events that change files, and how many of their first arguments are paths."""

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_AF_UNIX = 1  # pairs of sockets inside the process, which event loops wake themselves by
_WATCHING = frozenset(
    ("sys.settrace", "sys.setprofile", "sys.addaudithook", "gc.get_objects", "gc.get_referrers")
)
_FREQUENT = frozenset(("builtins.id", "import", "sys._getframe"))
"""Events that mean nothing here and come by the thousand: every `copy.deepcopy` asks for the `id` of each part."""
_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Audit:
    """The notes of one worker.

    Args:
        root: the pack's folder; frames of its files are the culprits named.
        readable: folders and files that may be read, with all below them, without links in their paths; of the pack's
            folder, what is certified.
    """

    def __init__(self, root: str, readable: Sequence[str]) -> None:
        self._root = root + os.sep
        self._readable = (*readable, os.devnull)
        self._scratch = ""
        self._descriptor = -1
        self._seen: set[tuple[str, str, str, int]] = set()
        self._busy = False
        self.armed = False

    def arm(self, scratch: str, descriptor: int) -> None:
        """Begin: `scratch` is the folder that may be written to, `descriptor` where notes go, open for appending."""
        self._scratch = scratch
        self._readable = (*self._readable, scratch)
        self._descriptor = descriptor
        self.armed = True

    def note(self, kind: str, what: str, *, everywhere: bool = False) -> None:
        """Write that the pack did something, once for each place in its files.

        What has no place there is the interpreter's own affair and not noted, but for what `everywhere` says.
        """
        if not self.armed or self._busy or len(self._seen) >= _MOST_NOTES:
            return
        self._busy = True
        try:
            file, line = self._culprit(direct=kind in _DIRECT)
            entry = (kind, what, file, line)
            if entry in self._seen or not (file or everywhere):
                return
            self._seen.add(entry)
            text = _dumps({"kind": kind, "what": what, "file": file or None, "line": line or None})
            _write(self._descriptor, text.encode() + b"\n")
        finally:
            self._busy = False

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        """The audit hook: `sys.addaudithook(audit.hook)`."""
        if event in _FREQUENT or self._busy or not self.armed:
            return
        handler = _HANDLERS.get(event)
        if handler is not None:
            handler(self, event, args)
        elif event.startswith("socket."):
            if event != "socket.gethostname" and (event != "socket.__new__" or args[1] != _AF_UNIX):
                self._refuse("network", event, "a pack can't reach the network")
        elif event in _PROCESSES:
            self._refuse("process", event, "a pack can't start or signal processes")
        elif event.startswith("ctypes.dlopen"):
            self.note("native", f"{event} {os.path.basename(str(args[0]))[:80]}".strip())
        elif event in _WATCHING:
            self._refuse("hook", event, "a pack can't watch the interpreter")

    def _refuse(self, kind: str, what: str, why: str) -> NoReturn:
        self.note(kind, what, everywhere=True)
        raise PermissionError(f"{why} ({what})")

    def opened(self, _event: str, args: tuple[Any, ...]) -> None:
        """`open`: reading is for the pack and the interpreter, writing for the scratch folder."""
        path, mode, flags = args
        if isinstance(path, int) or path is None:
            return
        writes = bool(flags & _WRITING_FLAGS) if isinstance(flags, int) else False
        if isinstance(mode, str):
            writes = writes or any(letter in mode for letter in "wax+")
        if writes:
            self._judge_write("open", path)
        else:
            self._judge_read("open", path)

    def listed(self, event: str, args: tuple[Any, ...]) -> None:
        """`os.listdir` and the like."""
        path = args[0] if args else None
        if path is None or isinstance(path, int):
            return
        if not (self._resolved(path) + os.sep).startswith(self._root):
            self._judge_read(event, path)

    def changed(self, event: str, args: tuple[Any, ...]) -> None:
        """Events that change files without opening them."""
        for path in args[: _WRITES[event]]:
            if isinstance(path, (str, bytes, os.PathLike)):
                self._judge_write(event, path)

    def connected(self, event: str, args: tuple[Any, ...]) -> None:
        """`sqlite3.connect`: a database in memory, or a file in the scratch folder."""
        path = args[0] if args else ""
        if isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path) not in ("", ":memory:"):
            self._judge_write(event, os.fsdecode(path).removeprefix("file:").partition("?")[0])

    def assigned(self, _event: str, args: tuple[Any, ...]) -> None:
        """An attribute that the interpreter guards is set: other code for a function of somebody else's."""
        owner, name, code = args
        if name != "__code__":
            return
        file = getattr(owner.__code__, "co_filename", "")
        # `types.coroutine` only marks the code that the function had.
        if getattr(code, "co_filename", "") != file and not file.startswith(self._root):
            module, function = getattr(owner, "__module__", "?"), getattr(owner, "__qualname__", "?")
            self.note("patch", f"{module}.{function}.{name}"[:200], everywhere=True)

    def threaded(self, event: str, _args: tuple[Any, ...]) -> None:
        """A thread is started."""
        self.note("thread", event)

    def _judge_read(self, event: str, path: Any) -> None:
        place = self._resolved(path)
        if not _is_below(place, self._readable):
            self._refuse("read", f"{event} {self._shown(place)}", "a pack can't read files outside it")

    def _judge_write(self, event: str, path: Any) -> None:
        place = self._resolved(path)
        if place != "/dev/null" and not _is_below(place, (self._scratch,)):
            self._refuse(
                "write", f"{event} {self._shown(place)}", "a pack can't write outside its scratch folder"
            )

    def _resolved(self, path: Any) -> str:
        self._busy = True
        try:
            return os.path.realpath(os.fsdecode(path))
        except ValueError:  # a null byte: it will fail by itself
            return ""
        finally:
            self._busy = False

    def _shown(self, place: str) -> str:
        """A path without what differs between machines: inside the pack, else its last part."""
        if (place + os.sep).startswith(self._root):
            return place[len(self._root) :] or "."
        return f".../{os.path.basename(place)[:80]}"

    def _culprit(self, *, direct: bool) -> tuple[str, int]:
        """The innermost frame of a file of the pack; with `direct`, only where it is the innermost but for ours."""
        frame: Any = sys._getframe()  # noqa: SLF001 - the way to the caller
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self._root):
                return file[len(self._root) :].replace(os.sep, "/"), frame.f_lineno or 0
            # `os.environ.get` goes through frozen code, and what `exec` runs is the affair of who runs it.
            if direct and not file.startswith((_OWN_FOLDER, "<")):
                break
            frame = frame.f_back
        return "", 0


def _is_below(place: str, folders: Sequence[str]) -> bool:
    return any(place == folder or place.startswith(folder + os.sep) for folder in folders)


_Handler = Callable[[Audit, str, tuple[Any, ...]], None]
_HANDLERS: dict[str, _Handler] = {
    "open": Audit.opened,
    "os.listdir": Audit.listed,
    "os.scandir": Audit.listed,
    "_thread.start_new_thread": Audit.threaded,
    "sqlite3.connect": Audit.connected,
    "object.__setattr__": Audit.assigned,
    **dict.fromkeys(_WRITES, Audit.changed),
}
