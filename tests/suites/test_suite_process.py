from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.suites import process
from averment.suites.process import Commands

Run = Callable[..., str | None]
PATIENCE = (0.5, 5, 50)
"""How long a command that never ends is waited for: longer, where a slow machine has not even begun by then."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run(words, **options)`: what became of a command."""

    def ran(*words: str, commands: Commands | None = None, **options: Any) -> str | None:
        options = {"timeout": 300, "environment": os.environ, "log": str(tmp_path / "log"), **options}
        return (commands or Commands()).run(
            words, folder=str(tmp_path), output=str(tmp_path / "out"), **options
        )

    return ran


def _python(code: str) -> tuple[str, ...]:
    return sys.executable, "-S", "-E", "-c", code


def _is_gone(pid: int) -> bool:
    """Whether a process that was killed ends; one that has ended, and that nobody asks about any more, has."""
    for _ in range(6000):
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8"):
                return True
        except OSError:
            return True
        threading.Event().wait(0.01)
    return False


def test_a_command_that_ends_well_is_nothing_to_tell(run: Run, tmp_path: Path) -> None:
    """Both streams are in the log, in the order they came; the working folder is the one that was named."""
    code = "import os; os.write(2, b'one\\n'); os.write(1, b'two\\n'); print(os.getcwd())"
    assert run(*_python(code)) is None
    assert (tmp_path / "log").read_text(encoding="utf-8") == f"one\ntwo\n{tmp_path}\n"


def test_standard_input_is_empty_whatever_ours_is(run: Run, tmp_path: Path) -> None:
    """One that asks a person gets an end of file, not what somebody types into the run."""
    ours, theirs = os.pipe()
    os.write(theirs, b"typed\n")
    saved = os.dup(0)
    os.dup2(ours, 0)
    try:
        assert run(*_python("import sys; print(repr(sys.stdin.read()))")) is None
    finally:
        os.dup2(saved, 0)
        for descriptor in (ours, theirs, saved):
            os.close(descriptor)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "''\n"


def test_no_shell_reads_an_argument(run: Run, tmp_path: Path) -> None:
    """What a case says is an argument, whatever it looks like."""
    hostile = "; touch stolen $(touch stolen) `touch stolen` | > stolen\n--x '\"*"
    assert run(*_python("import sys; print(ascii(sys.argv[1]))"), hostile) is None
    assert (tmp_path / "log").read_text(encoding="utf-8") == f"{hostile!a}\n"
    assert not (tmp_path / "stolen").exists()


def test_an_exit_status_is_told_with_the_last_line_of_the_log(run: Run) -> None:
    """Redacted before it is cut, and nothing in it commands a terminal."""
    code = "print('first\\n\\x1b[2J' + 'x' * 150 + ' 4111 1111 1111 1111 ' + 'y' * 500 + '\\n\\n'); raise SystemExit(7)"
    why = run(*_python(code))
    assert why is not None
    assert why.startswith("the command ended with exit status 7; the last line of its log is: \\u001b[2Jxxx")
    assert "4111" not in why
    assert len(why) < 300


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (11, "SIGSEGV"), (40, "signal 40")])
def test_a_signal_is_told_by_name(run: Run, number: int, name: str) -> None:
    """Or by number, where it has none."""
    assert run(*_python(f"import os; os.kill(os.getpid(), {number})")) == f"the command was killed by {name}"


def test_a_command_that_cant_be_started_is_told(run: Run, tmp_path: Path) -> None:
    """A program that is not there, one that may not be run, and arguments that are too long."""
    (tmp_path / "plain").write_text("x", encoding="utf-8")
    assert run("no-such-program-anywhere") == "the command can't be started (ENOENT)"
    assert run(str(tmp_path / "plain")) == "the command can't be started (EACCES)"
    assert run("true", "x" * 10_000_000) == "the command can't be started (E2BIG)"


def test_a_command_that_never_ends_is_ended_with_its_children(run: Run, tmp_path: Path) -> None:
    """The whole process group: nothing is left of it."""
    code = (
        "import os, time\n"
        "if (child := os.fork()):\n    open('pid', 'w').write(str(child))\n    print('working')\n"
        "import sys; sys.stdout.flush()\n"
        "time.sleep(600)\n"
    )
    for seconds in PATIENCE:
        why = run(*_python(code), timeout=seconds)
        if why and "working" in why:
            break
    assert why == f"the command did not end within {seconds:g} seconds; the last line of its log is: working"
    assert _is_gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


def test_a_command_that_will_not_be_asked_is_killed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM first, for those that tidy up; then SIGKILL."""
    monkeypatch.setattr(process, "_GRACE", 0.2)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    assert run(*_python(code), timeout=0.5) == "the command did not end within 0.5 seconds"


def test_a_command_may_tidy_up_and_is_late_all_the_same(run: Run, tmp_path: Path) -> None:
    """It is asked first, and its good exit status comes too late."""
    code = (
        "import signal, sys, time\n"
        "def tidy(*_):\n    open('tidied', 'w').close()\n    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, tidy)\n"
        "time.sleep(600)\n"
    )
    for seconds in PATIENCE:
        told = f"the command did not end within {seconds:g} seconds"
        assert run(*_python(code), timeout=seconds) == told
        if (tmp_path / "tidied").exists():
            break
    assert (tmp_path / "tidied").exists()


def test_what_a_command_leaves_running_is_ended_with_it(run: Run, tmp_path: Path) -> None:
    """A child in the background writes nothing any more once the verdicts begin."""
    code = (
        "import os, time\n"
        "if (child := os.fork()):\n    open('pid', 'w').write(str(child))\n    os._exit(0)\n"
        "time.sleep(60)\n"
    )
    assert run(*_python(code)) is None
    assert _is_gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


def test_who_leaves_the_session_is_not_waited_for(run: Run, tmp_path: Path) -> None:
    """A daemon of its own session, which still holds the pipe, stops nobody."""
    code = (
        "import os, time\n"
        "if os.fork():\n    os._exit(0)\n"
        "os.setsid()\nopen('pid', 'w').write(str(os.getpid()))\nos.rename('pid', 'daemon')\n"
        "time.sleep(60)\n"
    )
    script = f'{sys.executable} -S -E -c "{code}" & while [ ! -e daemon ]; do sleep 0.01; done'
    assert run("sh", "-c", script) is None
    os.kill(int((tmp_path / "daemon").read_text(encoding="utf-8")), 9)


def test_a_command_that_closes_its_streams_is_waited_for(run: Run, tmp_path: Path) -> None:
    """It prints no more, and goes on."""
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.3); open('out', 'w').write('x')"
    assert run(*_python(code)) is None
    assert (tmp_path / "out").read_text(encoding="utf-8") == "x"


def test_a_command_that_writes_without_end_is_ended(run: Run, tmp_path: Path) -> None:
    """By the size of its file, while it writes: long before the disk is full, or its time over."""
    code = (
        "import time\n"
        "with open('out', 'wb') as file:\n    file.write(b'x' * 2**21)\n"
        "time.sleep(120)\nopen('went on', 'w').close()\n"
    )
    assert run(*_python(code), limit=2**20) == "the command wrote more than 1,048,576 bytes"
    assert (tmp_path / "out").stat().st_size == 2**21
    assert not (tmp_path / "went on").exists()


def test_a_file_that_is_too_large_at_the_end_is_told(run: Run) -> None:
    """Also where the command was faster than we look."""
    assert run("sh", "-c", "echo 12345678 > out", limit=8) == "the command wrote more than 8 bytes"


def test_a_log_is_bounded_and_keeps_its_end(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning, how much is left out, and its last lines."""
    monkeypatch.setattr(process, "MAX_LOG", 1000)
    monkeypatch.setattr(process, "_CHUNK", 100)
    code = "print('begin'); print('x' * 5000, end=''); print('\\nthe end'); raise SystemExit(1)"
    why = run(*_python(code))
    text = (tmp_path / "log").read_text(encoding="utf-8")
    assert text.startswith("begin\nxxx")
    assert text.endswith("xxx\nthe end\n")
    left_out = 5000 + len("begin\n\nthe end\n") - 1000 - 100
    assert f"\n[averment left out {left_out:,} bytes here]\n" in text
    assert len(text) < 1200
    assert why is not None
    assert why.endswith("is: the end")


def test_a_log_of_just_the_limit_is_whole(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left out, and nothing said of it; a little more is there as well."""
    monkeypatch.setattr(process, "MAX_LOG", 1000)
    for size in (1000, 1100):
        log = tmp_path / f"{size}.log"
        run(*_python(f"print('x' * {size}, end='')"), log=str(log))
        assert log.read_bytes() == b"x" * size


def test_stopping_ends_what_runs_and_starts_no_more(run: Run, tmp_path: Path) -> None:
    """From another thread, at any time."""
    commands = Commands()
    told: list[str | None] = []
    code = "open('started', 'w').close(); import time; time.sleep(60)"
    thread = threading.Thread(target=lambda: told.append(run(*_python(code), commands=commands)))
    thread.start()
    while not (tmp_path / "started").exists():
        thread.join(0.01)
        assert thread.is_alive(), told
    commands.stop()
    thread.join(60)
    assert told == ["the command was killed by SIGKILL"]
    assert run("true", commands=commands) == "the run was stopped"
