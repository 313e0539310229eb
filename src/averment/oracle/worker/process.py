"""One worker, seen from its parent: steps go in, answers come out, each within a deadline."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from averment.oracle.oracles import OracleError, Trouble
from averment.oracle.worker.answers import Note, Raised
from averment.oracle.worker.deadline import Deadline

__all__ = ["Ended", "WorkerProcess"]

_TAIL = 2000
_MOST_TEXT, _MOST_NAME, _MOST_FRAMES, _MOST_NOTES = 2000, 200, 20, 200
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
# What a reply may hold beyond the value itself.
_ENVELOPE = 4096


class Ended(NamedTuple):
    """How a worker has ended.

    Attributes:
        status: its exit status, negative for a signal.
        killed: it had not ended by itself, soon after it was clear that no answer would come.
    """

    status: int
    killed: bool


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
        reap: Callable[..., Ended],
        shown: Callable[[str], str],
        scratch: str,
    ) -> None:
        self._find_pid = find_pid
        self.enforced: list[str] = []
        self._requests, self._answers, self._output, self._notes = requests, answers, output, notes
        self._most = most
        self._reap = reap
        self._shown = shown
        self._scratch = scratch
        self._printed = 0
        self._ended = False
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)
        self._is_ready = False
        with suppress(OracleError):  # it is gone already: who waits for it is told
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
        if self._ended:  # its descriptors may be somebody else's by now
            raise OracleError("died", op, f"{op} came after a step without an answer, which ended the worker")
        deadline = Deadline(seconds)
        self._printed = os.fstat(self._output).st_size
        try:
            self._put(op, fields, deadline)
        except OracleError:
            self.end()
            raise
        return self._step(op, deadline)

    def refuse(self, op: str) -> OracleError:
        """End the worker because of the shape of its answer to a step; the error to raise."""
        self.end()
        return self._error("protocol", op, f"what answered {op} is no answer that a worker gives")

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
            try:
                error = self._raised(op, msgspec.convert(answer["err"], Raised))
            except msgspec.ValidationError:
                raise self.refuse(op) from None
            self.end()
            raise error
        if "ok" not in answer and not (op == "get_state" and "same" in answer):
            raise self.refuse(op)
        return answer

    def end(self) -> None:
        """Kill the worker and everything in its group."""
        if self._ended:
            return
        self._ended = True
        with suppress(OracleError):  # the process that it is a child of has ended, and it too
            pid = self._find_pid()
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            self._reap(pid, wanted=False)
        self._let_go()

    def _end_by_itself(self) -> Ended:
        """End the worker, which will answer no more, and say how it ended."""
        self._ended = True
        try:
            return self._reap(self._find_pid(), wanted=True)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        os.close(self._requests)
        os.close(self._answers)

    def notes(self) -> list[Note]:
        """What it tried, as it noted; the pack's code can write such notes too, but about nobody else."""
        size = os.fstat(self._notes).st_size
        notes: list[Note] = []
        for line in os.pread(self._notes, min(size, 1 << 20), 0).splitlines():
            with suppress(msgspec.DecodeError, ValueError):
                notes.append(msgspec.json.decode(line, type=Note))
            if len(notes) == _MOST_NOTES:
                break
        return notes

    def close(self) -> None:
        """End the worker, let go of what it printed and noted, and remove its scratch folder."""
        self.end()
        for descriptor in (self._output, self._notes):
            with suppress(OSError):
                os.close(descriptor)
        for name in ("output", "notes"):
            with suppress(OSError):
                os.unlink(f"{self._scratch}.{name}")
        try:
            os.rmdir(self._scratch)
        except OSError:
            shutil.rmtree(self._scratch, ignore_errors=True)

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
        descriptor = self._requests if writing else self._answers
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT if writing else select.POLLIN)
        # What is there counts, however late this process comes to look: it may have been the one that was slow.
        if not poll.poll(deadline.remaining() * 1000):
            raise self._error("timeout", op, f"{op} did not end within its deadline, and was killed")

    def _died(self, op: str) -> OracleError:
        try:
            ended = self._end_by_itself()
        except OracleError as error:
            return error
        if ended.killed:
            how = "closed the pipe of its answers"
        elif ended.status < 0:
            how = f"was ended by {_signal_name(-ended.status)}"
        else:
            how = f"ended itself with status {ended.status}"
        return self._error("died", op, f"the worker {how} during {op}, without an answer")

    def _raised(self, op: str, error: Raised) -> OracleError:
        """The error that the worker described; it may say anything, and is believed in nothing but its own words."""
        kind = error.type[:_MOST_NAME]
        text = _ADDRESS.sub("0x…", self._shown(error.message[:_MOST_TEXT]))
        frames = [frame[:_MOST_NAME] for frame in error.frames[-_MOST_FRAMES:]]
        if error.trouble == "missing_symbol":
            message = text
        elif error.trouble == "result_not_json":
            message = f"what {op} gave is not JSON: {text}"
        elif error.trouble == "result_too_large":
            message = f"what {op} gave is too large: {text}"
        else:
            message = f"{op} raised {kind}: {text}" if text else f"{op} raised {kind}"
        return OracleError(
            error.trouble,
            op,
            message,
            error_type=kind,
            traceback="\n".join([*frames, f"{kind}: {text}"]) if frames else None,
            output=self.printed(),
            file=error.file[:_MOST_NAME] if error.file else None,
            line=error.line,
        )

    def _error(self, trouble: Trouble, op: str, message: str) -> OracleError:
        return OracleError(trouble, op, message, output=self.printed())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
