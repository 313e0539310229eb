"""One command: started without a shell, in a process group of its own, and ended with all that it has started.

What it prints goes to a log of bounded size, and what it writes is watched, so that a command which never stops writing
fills no disk. No clock is read: a timer ends the command, and no verdict hangs on how long it took.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Self

from averment.evidence.model import MAX_BYTES
from averment.text.shown import printable

__all__ = ["MAX_LOG", "Commands"]

MAX_LOG = 2**20
"""Bytes of a log that are kept of its beginning; of its end, a few lines."""

_GRACE = 2.0
"""Seconds between being asked to end and being killed."""
_GONE = 0.5
"""Seconds to wait for killed processes."""
_SLICE = 0.1
_CHUNK = 2**16
_MAX_SHOWN = 200


class Commands:
    """Runs commands, several at once from several threads, and ends all of them on request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[_Command] = set()
        self._is_stopped = False

    def run(
        self,
        words: Sequence[str],
        *,
        folder: str,
        environment: Mapping[str, str],
        output: str,
        log: str,
        timeout: float,
        limit: int = MAX_BYTES,
    ) -> str | None:
        """Runs a command to its end.

        Args:
            words: the program and its arguments.
            folder: its working folder; empty for ours.
            environment: its environment.
            output: the file that it is to write, watched for its size.
            log: the file to keep what it prints in, both streams as they come.
            timeout: seconds after which it is ended.
            limit: bytes that the output may have.

        Returns:
            None when it ended by itself with exit status 0; else what became of it, in a sentence without a full stop.
            Whether it has written anything is the caller's to see.
        """
        with self._lock:  # either stopped before it starts, or started and known
            if self._is_stopped:
                return "the run was stopped"
            try:
                process = subprocess.Popen(  # noqa: S603 - what the suite says, and never a shell
                    words,
                    cwd=folder or None,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    bufsize=0,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                return f"the command can't be started ({_why(error)})"
            command = _Command(process)
            self._running.add(command)
        try:
            return command.followed(output, log, timeout, limit)
        finally:
            with self._lock:
                self._running.discard(command)

    def stop(self) -> None:
        """Ends all commands that are running, and starts no more."""
        with self._lock:
            self._is_stopped = True
            for command in self._running:
                command.signal(signal.SIGKILL)


class _Command:
    """A command that was started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._is_over = False
        self._is_late = False

    def followed(self, output: str, log: str, timeout: float, limit: int) -> str | None:
        """Waits for its end, reading what it prints; returns what became of it, if anything."""
        late = threading.Timer(timeout, self._expire)
        late.daemon = True
        late.start()
        with _Log(log) as kept:
            try:
                is_too_large = not self._watch(kept, output, limit)
            finally:
                late.cancel()
                self.end()  # and all that it has left running
            self._rest(kept)
        status = self._process.wait()
        if is_too_large:
            return f"the command wrote more than {limit:,} bytes"
        last = kept.last_line()
        last = f"; the last line of its log is: {last}" if last else ""
        if self._is_late:
            return f"the command did not end within {timeout:g} seconds{last}"
        if status < 0:
            return f"the command was killed by {_signal(-status)}{last}"
        return f"the command ended with exit status {status}{last}" if status else None

    def end(self) -> None:
        """Kills it and all that it has started, for good: from now on its number may be another's."""
        self.signal(signal.SIGKILL)
        with self._lock:
            self._is_over = True

    def signal(self, number: int) -> None:
        """Signals it, and all that it has started and not put into a session of its own."""
        with self._lock, suppress(ProcessLookupError, PermissionError):
            if not self._is_over:
                os.killpg(self._process.pid, number)

    def _expire(self) -> None:
        self._is_late = True
        self.signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self.signal(signal.SIGKILL)

    def _watch(self, log: _Log, output: str, limit: int) -> bool:
        """Reads what it prints until it ends; False when it was ended for what it wrote."""
        stream = self._stream
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while self._process.poll() is None:
                if not selector.get_map():  # it prints no more, and goes on
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_SLICE)
                elif selector.select(_SLICE) and not log.take(os.read(stream.fileno(), _CHUNK)):
                    selector.unregister(stream)
                if _size(output) > limit:
                    return False
        return _size(output) <= limit

    def _rest(self, log: _Log) -> None:
        """Reads what it printed last, until all that were killed are gone.

        Who left the session may still hold the other end, and is not waited for.
        """
        with self._stream as stream, selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            for _ in range(MAX_LOG // _CHUNK):  # a pipe holds less
                if not selector.select(_GONE) or not log.take(os.read(stream.fileno(), _CHUNK)):
                    break

    @property
    def _stream(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 - it was started with a pipe
        return self._process.stdout


class _Log:
    """The log of a command: its beginning, and its end."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "xb")  # noqa: SIM115 - closed by `__exit__`
        self._count = 0
        self._end = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        beyond = self._count - MAX_LOG
        with self._file:
            if beyond > len(self._end):
                left_out = beyond - len(self._end)
                self._file.write(f"\n[averment left out {left_out:,} bytes here]\n".encode())
            if beyond > 0:
                self._file.write(self._end[-beyond:])

    def take(self, data: bytes) -> bool:
        """Takes what was printed; whether it was anything."""
        if self._count < MAX_LOG:
            self._file.write(data[: MAX_LOG - self._count])
        self._count += len(data)
        self._end = (self._end + data)[-_CHUNK:]
        return bool(data)

    def last_line(self) -> str:
        """The last line that says anything, redacted and cut; empty where there is none."""
        lines = (line.strip() for line in reversed(self._end.decode("utf-8", "replace").splitlines()))
        return printable(next(filter(None, lines), ""), _MAX_SHOWN)


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _why(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return errno.errorcode.get(number or 0, type(error).__name__)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
