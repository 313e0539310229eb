"""Packs that mean harm, or do it by accident: what each does, and the finding that it ends in.

What is done in a call stands in one backend, every harm with a probe of its own: each probe is an episode of its own, in
a worker of its own, so they know nothing of each other. What is done at import, or to all calls, is a pack of its own.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from small_packs import BACKEND, case

__all__ = ["HOSTILE", "Finding", "Hostile", "backend_of", "cases_of"]


class Finding(NamedTuple):
    """What certification must say.

    Attributes:
        check: the check's id.
        reason: its code.
        said: a part of the message.
        file: the file that it points at; None where it is no file's affair.
        line: a text that the line it points at starts with.
    """

    check: str
    reason: str
    said: str = ""
    file: str | None = "backend.py"
    line: str = ""


class Hostile(NamedTuple):
    """A harm.

    Attributes:
        finding: what it ends in, among other things.
        call: what a call does before it answers as it should; None where the harm is not done in a call.
        also: what is added to the good pack's backend.
        assertions: its assertions, where they are the point.
        files: more files.
    """

    finding: Finding
    call: str | None = None
    also: str = ""
    assertions: str | None = None
    files: dict[str, str] = {}  # noqa: RUF012 - never changed

    @property
    def is_ended(self) -> bool:
        """Whether it ends at a deadline, so that a short one saves time."""
        return "within its deadline" in self.finding.said or "closed the pipe" in self.finding.said


def backend_of(harms: dict[str, Hostile]) -> str:
    """The good pack's backend, with a `look` that does harm by the box that it is asked for."""
    parts = [BACKEND, "ordinary = look", "HARMS = {}"]
    for index, (name, hostile) in enumerate(harms.items()):
        body = textwrap.indent(textwrap.dedent(hostile.call or ""), "    ")
        parts.append(
            f"# {name}\ndef harm_{index}(arguments, ctx):\n{body}\n    return ordinary({{'box_id': 'B-1'}}, ctx)\n\nHARMS[{name!r}] = harm_{index}"
        )
    parts.append(
        "def look(arguments, ctx):\n    harm = HARMS.get(arguments['box_id'], ordinary)\n    return harm(arguments, ctx)"
    )
    return "\n\n\n".join(parts) + "\n"


def cases_of(harms: dict[str, Hostile]) -> list[dict[str, Any]]:
    """A probe for each harm."""
    return [case(name, box=name) for name in harms]


_CASES = "validation_cases.yaml"


def _look(*lines: str) -> str:
    return "\n".join(lines)


def _gives(value: str, top: str = "pass") -> str:
    """A call whose result has a value more."""
    return f"{top}\nreturn {{**ordinary({{'box_id': 'B-1'}}, ctx), 'more': {value}}}"


def _raised(said: str, line: str = "") -> Finding:
    return Finding("5", "raised", said, "backend.py" if line else _CASES, line)


_C = "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
_FOREIGN = """
import os, stat

def pipes():
    found = []
    for fd in range(3, 60):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                found.append(fd)
        except OSError:
            pass
    return found

def say(data):
    for fd in pipes():
        try:
            os.write(fd, data)
        except OSError:
            pass

"""

HOSTILE: dict[str, Hostile] = {
    # what never ends
    "endless loop in a call": Hostile(
        _raised("call_tool did not end within its deadline"), _look("while True: pass")
    ),
    "endless loop in reset": Hostile(
        _raised("reset did not end within its deadline"),
        also="def reset(*, ctx, fixtures=None):\n    while True: pass\n",
    ),
    "endless loop at import": Hostile(
        Finding("3", "backend_import_failed", "import did not end within its deadline"),
        also="while True: pass\n",
    ),
    "endless loop in get_state": Hostile(
        _raised("get_state did not end within its deadline"), also="def get_state():\n    while True: pass\n"
    ),
    "endless loop at import of the assertions": Hostile(
        Finding("4", "assertions_import_failed", "import did not end within its deadline", "assertions.py"),
        assertions="while True: pass\n",
    ),
    "a lock that nobody opens": Hostile(
        _raised("call_tool did not end within its deadline"),
        _look(
            "import threading; threading.Lock().__enter__()",
            "lock = threading.Lock(); lock.acquire(); lock.acquire()",
        ),
    ),
    "an endless regular expression": Hostile(
        _raised("call_tool did not end within its deadline"),
        _look("import re; re.match('(a+)+$', 'a' * 40 + 'b')"),
    ),
    "signals that can be ignored are": Hostile(
        _raised("call_tool did not end within its deadline"),
        _look(
            "import signal",
            "for number in set(signal.Signals) - {9, 19}: signal.signal(number, signal.SIG_IGN)",
            "while True: pass",
        ),
    ),
    "an endless text of an exception": Hostile(
        _raised("call_tool did not end within its deadline"),
        "class E(Exception):\n    def __str__(self):\n        while True: pass\n" + _look("raise E"),
    ),
    # what takes everything
    "fork bomb": Hostile(
        Finding("I1", "process_attempted", "os.fork", line="import os"),
        _look("import os; [os.fork() for _ in iter(int, 1)]"),
    ),
    "fork bomb past Python": Hostile(
        _raised("call_tool did not end within its deadline"), _look(*_C.splitlines(), "while True: c.fork()")
    ),
    "thread bomb": Hostile(
        Finding("I1", "thread_left_running", "", None),
        _look(
            "import threading, time",
            "for _ in range(20): threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
        ),
    ),
    "memory hog": Hostile(
        _raised("call_tool raised MemoryError", "while True"),
        _look("kept = []", "while True: kept.append(bytes(50_000_000))"),
    ),
    "memory hog at import": Hostile(
        Finding("3", "backend_import_failed", "import raised MemoryError", line="KEPT"),
        also="KEPT = bytearray(2 << 30)\n",
    ),
    "a result of a gigabyte": Hostile(
        _raised("call_tool raised MemoryError", "return {**"), _gives("'x' * (1 << 30)")
    ),
    "a result of a hundred megabytes": Hostile(
        _raised("what call_tool gave is too large"), _gives("'x' * (100 << 20)")
    ),
    "a state of a hundred megabytes": Hostile(
        _raised("what get_state gave is too large"),
        also="def get_state():\n    return {'x': 'x' * (100 << 20)}\n",
    ),
    "full of descriptors": Hostile(
        _raised("Too many open files", "import os"),
        _look("import os; kept = [os.dup(0) for _ in range(9999)]"),
    ),
    "a large file": Hostile(
        _raised("more than 16777216 bytes were printed", "with open"),
        _look("with open('x', 'wb') as file: file.write(bytes(99 << 20))"),
    ),
    "printing megabytes": Hostile(
        _raised("more than 16777216 bytes were printed", "for _"),
        _look("for _ in range(99): print('x' * 1_000_000)"),
    ),
    "deep recursion": Hostile(
        _raised("call_tool raised RecursionError", "def down"), _look("def down(): return down()", "down()")
    ),
    "deep recursion past the limit": Hostile(
        _raised("without an answer"),
        _look("value = ()", "for _ in range(300_000): value = (value,)", "hash(value)"),
    ),
    "a deeply nested result": Hostile(
        _raised("more than 200 values stand inside each other"),
        "import functools\n" + _gives("functools.reduce(lambda a, _: [a], range(300), 1)"),
    ),
    "a result inside itself": Hostile(
        _raised("more than 200 values stand inside each other"),
        "LOOP = []\nLOOP.append(LOOP)\n" + _gives("LOOP"),
    ),
    # what ends the process
    "os._exit": Hostile(
        _raised("the worker ended itself with status 0 during call_tool, without an answer"),
        _look("import os; os._exit(0)"),
    ),
    "os._exit at import": Hostile(
        Finding(
            "3",
            "backend_import_failed",
            "the worker ended itself with status 0 during import, without an answer",
        ),
        also="import os; os._exit(0)\n",
    ),
    "SystemExit": Hostile(
        _raised("call_tool raised SystemExit: 3", "raise SystemExit"), _look("raise SystemExit(3)")
    ),
    "SystemExit at import": Hostile(
        Finding("3", "backend_import_failed", "import raised SystemExit: 0", line="raise SystemExit"),
        also="raise SystemExit(0)\n",
    ),
    "SystemExit in the assertions": Hostile(
        Finding("4", "assertions_import_failed", "import raised SystemExit", "assertions.py", "raise"),
        assertions="raise SystemExit(0)\n",
    ),
    "a crash": Hostile(
        _raised("the worker was ended by SIGSEGV during call_tool"),
        _look("import ctypes; ctypes.string_at(0)"),
    ),
    "abort": Hostile(
        _raised("the worker was ended by SIGABRT during call_tool"), _look("import os; os.abort()")
    ),
    "an alarm": Hostile(
        _raised("the worker was ended by SIGALRM during call_tool"),
        _look("import signal, time; signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(9)"),
    ),
    "an alarm for later": Hostile(
        Finding("I1", "thread_left_running", "an alarm", None),
        _look("import signal", "signal.signal(signal.SIGALRM, lambda *_: 1 / 0)", "signal.alarm(9)"),
    ),
    # what the machine has
    "/etc/passwd": Hostile(
        Finding("I1", "outside_read_attempted", "open .../passwd", line="open("), _look("open('/etc/passwd')")
    ),
    "/etc/passwd, quietly": Hostile(
        Finding("I1", "outside_read_attempted", "open .../passwd", line="try:"),
        _look("try: open('/etc/passwd')", "except OSError: pass"),
    ),
    "a socket": Hostile(
        Finding("I1", "network_attempted", "socket.__new__", line="import socket"),
        _look("import socket; socket.socket()"),
    ),
    "a request": Hostile(
        Finding("I1", "network_attempted", "socket.getaddrinfo", line="try:"),
        "import urllib.request\n"
        + _look("try: urllib.request.urlopen('http://example.com')", "except OSError: pass"),
    ),
    "a shell": Hostile(
        Finding("I1", "process_attempted", "os.system", line="import os"),
        _look("import os; os.system('touch owned')"),
    ),
    "a signal to its parent": Hostile(
        Finding("I1", "process_attempted", "os.kill", line="import os"),
        _look("import os; os.kill(os.getppid(), 9)"),
    ),
    "writing into the pack": Hostile(
        Finding("I1", "outside_write_attempted", "open new.txt", line="import os"),
        _look("import os; open(os.path.dirname(__file__) + '/new.txt', 'w')"),
    ),
    "changing its own code": Hostile(
        Finding("I1", "outside_write_attempted", "open backend.py", line="open("),
        _look("open(__file__, 'a').write('x')"),
    ),
    "a child that outlives its parent": Hostile(
        Finding("I1", "process_attempted", "os.fork", line="if os.fork"),
        _look("import os, time", "if os.fork() == 0: os.setsid(); time.sleep(3600)"),
    ),
    "a child by another interpreter": Hostile(
        Finding("I1", "process_attempted", "subprocess.Popen", line="import subprocess"),
        _look(
            "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'], start_new_session=True)"
        ),
    ),
    # what the framework is made of
    "json.dumps": Hostile(
        Finding("I1", "python_patched", "json.dumps", None),
        also="import json\njson.dumps = lambda *a, **k: '{}'\n",
    ),
    "builtins.len": Hostile(
        Finding("I1", "python_patched", "builtins.len", None),
        also="import builtins\nbuiltins.len = lambda x: 0\n",
    ),
    "sys.modules": Hostile(
        Finding("I1", "python_patched", "sys.modules['json']", None),
        also="import sys\nsys.modules['json'] = sys\n",
    ),
    "datetime": Hostile(
        Finding("I1", "python_patched", "datetime.datetime", None),
        also="import datetime\ndatetime.datetime = int\n",
    ),
    "os.write": Hostile(
        Finding("I1", "python_patched", "os.write", None),
        also="import os\nos.write = lambda fd, data: len(data)\n",
    ),
    "time.time": Hostile(
        Finding("I1", "python_patched", "time.time", None), also="import time\ntime.time = lambda: 7.0\n"
    ),
    "the code of json.loads": Hostile(
        Finding("I1", "python_patched", "json.loads.__code__", line="json.loads.__code__"),
        also="import json\ndef loads(s, **k): return 7\njson.loads.__code__ = loads.__code__\n",
    ),
    "all objects": Hostile(
        Finding("I1", "interpreter_watched", "gc.get_objects", line="import gc"),
        _look("import gc; gc.get_objects()"),
    ),
    "tracing": Hostile(
        Finding("I1", "interpreter_watched", "sys.settrace", line="import sys"),
        _look("import sys; sys.settrace(lambda *_: None)"),
    ),
    "frames of the framework": Hostile(
        _raised("without an answer"),
        _look(
            "import sys",
            "frame = sys._getframe()",
            "while frame:",
            "    for name, value in list(frame.f_locals.items()):",
            "        if type(value).__name__ == 'Worker': value.answer = None; value._ops = None; value.__dict__.clear()",
            "    frame = frame.f_back",
        ),
    ),
    "closed descriptors": Hostile(
        _raised("without an answer"), "import os\n" + _look("os.closerange(0, 200)")
    ),
    "closed descriptors and an endless loop": Hostile(
        _raised("the worker closed the pipe of its answers during call_tool, without an answer"),
        "import os\n" + _look("os.closerange(0, 200)", "while True: pass"),
    ),
    "garbage in the pipe": Hostile(_raised("the worker's answer is"), _FOREIGN + _look("say(b'x' * 50)")),
    "a forged answer that is none": Hostile(
        _raised("what answered call_tool is no answer that a worker gives"),
        _FOREIGN + _look("say((2).to_bytes(4, 'big') + b'{}')"),
    ),
    "half an answer": Hostile(
        _raised("call_tool did not end within its deadline"),
        _FOREIGN + _look("say(b'\\0\\0\\0\\x09{')", "import time; time.sleep(99)"),
    ),
    "stdout closed": Hostile(
        _raised("ValueError: I/O operation on closed file", "print"),
        _look("import sys; sys.stdout.close()", "print('x')"),
    ),
    # what goes on
    "a background thread": Hostile(
        Finding("I1", "thread_left_running", "", None),
        _look("import threading, time", "threading.Thread(target=time.sleep, args=(99,)).start()"),
    ),
    "a thread that exits": Hostile(
        Finding("I1", "thread_left_running", "", None),
        _look(
            "import threading, sys, time",
            "threading.Thread(target=lambda: (time.sleep(9), sys.exit(3))).start()",
        ),
    ),
    # what differs between two worlds
    "random at import": Hostile(
        Finding("D1", "nondeterministic", "result", _CASES),
        also="import random\nLUCK = random.random()\n_look = look\n"
        "def look(arguments, ctx):\n    return {**_look(arguments, ctx), 'luck': LUCK}\n",
    ),
    "today's date": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("str(datetime.date.today())", "import datetime")
    ),
    "this second": Hostile(
        Finding("D1", "nondeterministic", "", _CASES),
        _gives("datetime.now().isoformat()", "from datetime import datetime"),
    ),
    "uuid4": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("str(uuid.uuid4())", "import uuid")
    ),
    "order of a set": Hostile(Finding("D1", "nondeterministic", "", _CASES), _gives("list(set('abcdefgh'))")),
    "os.environ": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("os.environ['LANG']", "import os")
    ),
    "the working folder": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("os.getcwd()", "import os")
    ),
    "the time zone": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("time.tzname[0]", "import time")
    ),
    "the local time of a moment": Hostile(
        Finding("D1", "nondeterministic", "", _CASES),
        _gives("str(datetime.fromtimestamp(0))", "from datetime import datetime"),
    ),
    "the name of the machine": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("platform.node()", "import platform")
    ),
    "the number of the process": Hostile(
        Finding("D1", "nondeterministic", "", _CASES), _gives("os.getpid()", "import os")
    ),
    "the address of an object": Hostile(Finding("D1", "nondeterministic", "", _CASES), _gives("id(ctx)")),
    "chance in the state": Hostile(
        Finding("D1", "nondeterministic", "state", _CASES),
        also="import random\ndef get_state():\n    return {**state, 'luck': LUCK}\nLUCK = random.random()\n",
    ),
    # what is no JSON
    "NaN": Hostile(_raised("not JSON compliant"), _gives("float('nan')")),
    "a set": Hostile(_raised("Object of type set is not JSON serializable"), _gives("{1}")),
    "half a character": Hostile(_raised("half of a surrogate pair"), _gives("'\\ud800'")),
    # what is raised
    "an exception whose text raises": Hostile(
        _raised("call_tool raised E: its text can't be had", "raise E"),
        "class E(Exception):\n    def __str__(self): raise self\n" + _look("raise E"),
    ),
    "an exception with a text of a hundred megabytes": Hostile(
        _raised("call_tool raised ValueError: xxx", "raise ValueError"),
        _look("raise ValueError('x' * (100 << 20))"),
    ),
    "an exception of an odd class": Hostile(
        _raised("call_tool raised E", "raise E"),
        "class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\n"
        + _look("raise E"),
    ),
    "files of the compiler's nightmares": Hostile(
        Finding("5", "raised", "call_tool raised SyntaxError", "nightmare.py", "x ="),
        _look("import nightmare"),
        files={"nightmare.py": "x = " + "(" * 500},
    ),
}
