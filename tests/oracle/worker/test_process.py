from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from averment.oracle.oracles import OracleError
from averment.oracle.worker.process import Ended, WorkerProcess


class Puppet:
    """A worker that is not there: its ends of the pipes are held by the test."""

    def __init__(self, folder: Path, ended: Ended) -> None:
        requests_read, requests = os.pipe()
        answers, answers_write = os.pipe()
        self.requests, self.answers = requests_read, answers_write
        self.scratch = folder / "1"
        self.scratch.mkdir()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self.output, self.notes = (os.open(f"{self.scratch}.{name}", flags) for name in ("output", "notes"))
        self.reaped: list[bool] = []
        self.worker = WorkerProcess(
            find_pid=self._gone,
            requests=requests,
            answers=answers,
            output=self.output,
            notes=self.notes,
            most=1000,
            reap=lambda *_, **__: ended,
            shown=lambda text: text.replace("/secret", "<pack>"),
            scratch=str(self.scratch),
        )
        self.say({"ok": ["limits"]})
        self.say({"ok": None})
        self.worker.loaded(1)

    @staticmethod
    def _gone() -> int:
        """A number that no process has."""
        return 2**22 + 1

    def say(self, answer: Any) -> None:
        """Write an answer; bytes as they are."""
        data = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
        self.raw(len(data).to_bytes(4, "big") + data)

    def raw(self, data: bytes) -> None:
        """Write into the pipe of answers."""
        os.write(self.answers, data)

    def close(self) -> None:
        """Let go of everything."""
        self.worker.close()
        for descriptor in (self.requests, self.answers):
            try:
                os.close(descriptor)
            except OSError:
                continue


@pytest.fixture
def puppet(tmp_path: Path) -> Iterator[Callable[..., Puppet]]:
    made: list[Puppet] = []

    def make(status: int = 0, *, killed: bool = False) -> Puppet:
        made.append(Puppet(tmp_path, Ended(status, killed)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def _fails(puppet: Puppet, op: str = "call_tool", seconds: float = 2.0) -> OracleError:
    with pytest.raises(OracleError) as raised:
        puppet.worker.ask(op, seconds)
    return raised.value


def test_an_answer_is_the_step_s_answer(puppet: Callable[..., Puppet]) -> None:
    """What the worker says comes back as it is, large integers included."""
    one = puppet()
    one.say({"ok": {"n": 2**70}})
    assert one.worker.ask("call_tool", 1, name="x") == {"ok": {"n": 2**70}}
    assert one.worker.enforced == ["limits"]


def test_what_the_parent_asks_is_a_message_with_its_fields(puppet: Callable[..., Puppet]) -> None:
    """First the import, which is asked for before anyone waits; then each step."""
    one = puppet()
    one.say({"ok": 1})
    one.worker.ask("call_tool", 1, name="x", arguments={})
    data = os.read(one.requests, 1000)
    size = int.from_bytes(data[:4], "big")
    assert msgspec.json.decode(data[4 : 4 + size]) == {"op": "import"}
    assert msgspec.json.decode(data[8 + size :]) == {"op": "call_tool", "name": "x", "arguments": {}}


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage",
        b"[1]",
        b"7",
        b"{}",
        b'{"same": true}',
        b'{"err": 7}',
        b'{"err": {}}',
        b'{"err": {"trouble": "magic", "type": "X", "message": "", "file": null, "line": null, "frames": []}}',
        b'{"err": {"trouble": "raised", "type": "X", "message": "", "file": 5, "line": null, "frames": []}}',
        b'{"err": {"trouble": "raised", "type": "X", "message": "", "file": null, "line": "1", "frames": 3}}',
        b'{"ok": "\xff"}',
        b'{"ok": NaN}',
        b"[" * 5000,
    ],
    ids=lambda sent: sent[:40].decode("latin-1"),
)
def test_what_is_no_answer_is_a_failure_of_the_protocol(puppet: Callable[..., Puppet], sent: bytes) -> None:
    """The pack's code can write into the pipe; whatever it writes ends in this error and in no other."""
    one = puppet()
    one.say(sent)
    error = _fails(one)
    assert (error.trouble, error.op) == ("protocol", "call_tool")


def test_an_answer_that_says_it_is_too_long_is_not_waited_for(puppet: Callable[..., Puppet]) -> None:
    """Four bytes that promise four gigabytes are enough to know."""
    one = puppet()
    one.raw(b"\xff\xff\xff\xff")
    assert _fails(one).message == "the worker's answer is longer than any that it may give"


@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\0\x09{"])
def test_half_an_answer_is_waited_for_until_the_deadline(puppet: Callable[..., Puppet], sent: bytes) -> None:
    """A pipe that can be read does not mean that all has arrived."""
    one = puppet()
    one.raw(sent)
    error = _fails(one, seconds=0.2)
    assert (error.trouble, error.op) == ("timeout", "call_tool")
    assert "call_tool did not end within its deadline" in error.message


def test_an_answer_that_is_there_counts_however_late_it_is_looked_for(puppet: Callable[..., Puppet]) -> None:
    """A parent that had to wait for its turn says nothing of the worker; what is not there by then is a timeout."""
    one = puppet()
    one.say({"ok": 1})
    assert one.worker.ask("call_tool", 0) == {"ok": 1}
    assert _fails(one, seconds=0).trouble == "timeout"


def test_an_answer_in_many_pieces_arrives(puppet: Callable[..., Puppet]) -> None:
    """Byte by byte, as pipes may deliver."""
    one = puppet()
    data = b'{"ok":"piece"}'
    for byte in len(data).to_bytes(4, "big") + data:
        one.raw(bytes([byte]))
    assert one.worker.ask("call_tool", 1)["ok"] == "piece"


def test_a_worker_that_does_not_read_is_a_timeout(puppet: Callable[..., Puppet]) -> None:
    """Writing has its deadline as well: a pipe takes only so much."""
    one = puppet()
    with pytest.raises(OracleError) as raised:
        one.worker.ask("call_tool", 0.2, arguments="x" * 1_000_000)
    assert raised.value.trouble == "timeout"


@pytest.mark.parametrize(
    ("status", "killed", "how"),
    [
        (0, False, "ended itself with status 0"),
        (7, False, "ended itself with status 7"),
        (-11, False, "was ended by SIGSEGV"),
        (-9, False, "was ended by SIGKILL"),
        (-200, False, "was ended by signal 200"),
        (-9, True, "closed the pipe of its answers"),
    ],
)
def test_a_worker_that_is_gone_says_how(
    puppet: Callable[..., Puppet], status: int, killed: bool, how: str
) -> None:
    """By itself, by a signal, or only its pipe."""
    one = puppet(status, killed=killed)
    os.close(one.answers)
    error = _fails(one)
    assert error.trouble == "died"
    assert error.message == f"the worker {how} during call_tool, without an answer"


def _raised(**more: Any) -> dict[str, Any]:
    said = {
        "trouble": "raised",
        "type": "KeyError",
        "message": "'x'",
        "file": "backend.py",
        "line": 3,
        "frames": [],
    }
    return {"err": {**said, **more}}


def test_what_was_raised_is_told_in_the_pack_s_words(puppet: Callable[..., Puppet]) -> None:
    """Class, text, place and frames; addresses and the machine's paths are left out of the text."""
    one = puppet()
    message = "<X object at 0x7f1234567890> in /secret/backend.py"
    one.say(_raised(message=message, frames=["backend.py:3 in call_tool"]))
    error = _fails(one)
    shown = "<X object at 0x…> in <pack>/backend.py"
    assert error.message == f"call_tool raised KeyError: {shown}"
    assert (error.file, error.line, error.error_type) == ("backend.py", 3, "KeyError")
    assert error.traceback == f"backend.py:3 in call_tool\nKeyError: {shown}"


def test_what_is_said_of_an_error_is_bounded(puppet: Callable[..., Puppet]) -> None:
    """A forged error can be as long as an answer; what is told of it is not."""
    one = puppet()
    one.say(_raised(type="T" * 900, message="m" * 3000, file="f" * 500, frames=["x" * 40] * 9))
    error = _fails(one)
    assert len(error.message) < 2300
    assert len(error.file or "") == 200
    assert len((error.traceback or "").splitlines()) == 10


def test_what_was_printed_during_the_step_is_attached(
    puppet: Callable[..., Puppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its end only, and nothing of the steps before."""
    one = puppet()
    os.write(one.output, b"before\n")
    one.say({"ok": 1})
    one.worker.ask("reset", 1)
    os.write(one.output, b"earlier, too\n")
    one.say(_raised())
    original = one.worker._put

    def put_and_print(*args: Any) -> None:
        original(*args)
        os.write(one.output, b"x" * 5000 + b" in /secret/a \xff the end\n")

    monkeypatch.setattr(one.worker, "_put", put_and_print)
    output = _fails(one).output or ""
    assert output.endswith("in <pack>/a \ufffd the end")
    assert 1500 < len(output) <= 2000


def test_notes_of_another_shape_are_passed_over(puppet: Callable[..., Puppet]) -> None:
    """The pack can write to that file too; what is no note is nothing, and there are no more than two hundred."""
    one = puppet()
    good = b'{"kind": "clock", "what": "time.time", "file": "backend.py", "line": 3}\n'
    os.write(one.notes, b"junk\n\xff\n{}\n[]\n" + b'{"kind": 7, "what": []}\n' + good)
    assert [(note.kind, note.what, note.file, note.line) for note in one.worker.notes()] == [
        ("clock", "time.time", "backend.py", 3)
    ]
    os.write(one.notes, good * 500)
    assert len(one.worker.notes()) == 200


def test_a_worker_leaves_nothing_behind(puppet: Callable[..., Puppet]) -> None:
    """Its scratch folder goes with it, what is in it as well, and so do the files beside it; ending twice is fine."""
    one = puppet()
    (one.scratch / "kept").mkdir()
    (one.scratch / "kept" / "file").write_text("x")
    one.worker.close()
    one.worker.close()
    assert list(one.scratch.parent.iterdir()) == []
