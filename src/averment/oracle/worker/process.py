"""One worker, seen from its parent: steps go in, answers come out, each within a deadline."""

from __future__ import annotations

import os
import re
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from averment.oracle.oracles import OracleError
from averment.oracle.worker.deadline import Deadline

__all__ = ["WorkerProcess"]

_TAIL = 2000
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
# What a reply may hold beyond the value itself.
_ENVELOPE = 4096


class WorkerProcess:
    """A worker that has been forked and seals itself; it ends with this object.

    Attributes:
        enforced: what it says that the kernel enforces, known after the first answer.
    """

    def __init__(
        self,
        *,
        find_pid: Callable[[], int],
        requests: int,
        answers: int,
        output: int,
        notes: int,
        most: int,
        reap: Callable[..., int],
        shown: Callable[[str], str],
    ) -> None:
        self._find_pid = find_pid
        self.enforced: list[str] = []
        self._requests, self._answers, self._output, self._notes = requests, answers, output, notes
        self._most = most
        self._reap = reap
        self._shown = shown
        self._printed = 0
        self._ended = False
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)
        self._is_ready = False
        self._put("import", {}, Deadline(1))  # begun at once: who waits for the worker finds it done

    def loaded(self, seconds: float) -> None:
        """Wait until the worker has loaded its module.

        Raises:
            OracleError: it can't be loaded, or not within `seconds`.
        """
        self._step("import", Deadline(seconds))

    def ask(self, op: str, seconds: float, **fields: Any) -> dict[str, Any]:
        """Let the worker take a step.

        Args:
            op: the step.
            seconds: how long it may take.
            fields: what the step needs.

        Returns:
            The answer: `ok`, or `same` for a state that did not change.

        Raises:
            OracleError: there is no answer, or it is an error; the worker has been ended.
        """
        deadline = Deadline(seconds)
        self._printed = os.fstat(self._output).st_size
        try:
            self._put(op, fields, deadline)
        except OracleError:
            self.end()
            raise
        return self._step(op, deadline)

    def _step(self, op: str, deadline: Deadline) -> dict[str, Any]:
        """The answer to a step that was sent."""
        try:
            if not self._is_ready:
                self.enforced = self._receive(op, deadline)["ok"]
                self._is_ready = True
            answer = self._receive(op, deadline)
        except OracleError:
            self.end()
            raise
        if "err" in answer:
            error = self._raised(op, answer["err"])
            self.end()
            raise error
        return answer

    def end(self, *, wanted: bool = False) -> int:
        """Kill the worker and everything in its group; its exit status where it is wanted, negative for a signal."""
        if self._ended:
            return 0
        self._ended = True
        try:
            pid = self._find_pid()
        except OracleError:  # the process that it is a child of has ended, and it too
            status = 0
        else:
            if not wanted:  # one that has ended by itself keeps its status
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            status = self._reap(pid, wanted=wanted)
        os.close(self._requests)
        os.close(self._answers)
        return status

    def notes(self) -> list[dict[str, Any]]:
        """What it tried, as it noted; each note a mapping of `kind`, `what`, `file` and `line`."""
        size = os.fstat(self._notes).st_size
        notes = []
        for line in os.pread(self._notes, min(size, 1 << 20), 0).splitlines():
            with suppress(msgspec.DecodeError, ValueError):
                notes.append(msgspec.json.decode(line, type=dict[str, Any]))
        return notes

    def close(self) -> None:
        """End the worker and let go of what it printed and noted."""
        self.end()
        for descriptor in (self._output, self._notes):
            with suppress(OSError):
                os.close(descriptor)

    def printed(self) -> str | None:
        """The end of what was printed since the last step began."""
        size = os.fstat(self._output).st_size
        if size <= self._printed:
            return None
        start = max(self._printed, size - _TAIL)
        text = os.pread(self._output, _TAIL, start).decode("utf-8", "replace")
        return self._shown(text).strip() or None

    def _put(self, op: str, fields: dict[str, Any], deadline: Deadline) -> None:
        data = msgspec.json.encode({"op": op, **fields})
        view = memoryview(len(data).to_bytes(4, "big") + data)
        while view:
            self._wait(op, deadline, writing=True)
            try:
                view = view[os.write(self._requests, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._died(op) from None

    def _receive(self, op: str, deadline: Deadline) -> dict[str, Any]:
        size = int.from_bytes(self._exactly(4, op, deadline), "big")
        if size > self._most + _ENVELOPE:
            raise self._error("protocol", op, "the worker's answer is longer than any that it may give")
        data = self._exactly(size, op, deadline)
        try:
            answer = msgspec.json.decode(data, type=dict[str, Any])
        except (msgspec.DecodeError, ValueError, RecursionError):
            raise self._error("protocol", op, "the worker's answer is no message") from None
        return answer

    def _exactly(self, size: int, op: str, deadline: Deadline) -> bytes:
        parts: list[bytes] = []
        while size:
            self._wait(op, deadline, writing=False)
            try:
                part = os.read(self._answers, min(size, 1 << 20))
            except BlockingIOError:
                continue
            if not part:
                raise self._died(op)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, op: str, deadline: Deadline, *, writing: bool) -> None:
        left = deadline.remaining()
        descriptor = self._requests if writing else self._answers
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT if writing else select.POLLIN)
        if left <= 0 or not poll.poll(left * 1000):
            raise self._error("timeout", op, f"{op} did not end within its deadline, and was killed")

    def _died(self, op: str) -> OracleError:
        status = self.end(wanted=True)
        how = f"was ended by {_signal_name(-status)}" if status < 0 else f"ended itself with status {status}"
        return self._error("died", op, f"the worker {how} during {op}, without an answer")

    def _raised(self, op: str, error: dict[str, Any]) -> OracleError:
        """The error that the worker described; it may say anything, and is believed in nothing but its own words."""
        kind, text = str(error.get("type")), _ADDRESS.sub("0x…", self._shown(str(error.get("message"))))
        trouble: Any = error.get("trouble")
        frames = [str(frame) for frame in error.get("frames") or ()]
        line = error.get("line")
        if trouble == "missing_symbol":
            message = text
        elif trouble == "result_not_json":
            message = f"what {op} gave is not JSON: {text}"
        elif trouble == "result_too_large":
            message = f"what {op} gave is too large: {text}"
        else:
            trouble, message = "raised", f"{op} raised {kind}: {text}" if text else f"{op} raised {kind}"
        return OracleError(
            trouble,
            op,
            message,
            error_type=kind,
            traceback="\n".join([*frames, f"{kind}: {text}"]) if frames else None,
            output=self.printed(),
            file=error.get("file") if isinstance(error.get("file"), str) else None,
            line=line if isinstance(line, int) else None,
        )

    def _error(self, trouble: Any, op: str, message: str) -> OracleError:
        return OracleError(trouble, op, message, output=self.printed())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
