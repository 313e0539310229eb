from __future__ import annotations

import errno
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

ASKS_FOR_COLOR = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "CI", "GITHUB_ACTIONS")


class Seen(NamedTuple):
    """What a terminal was sent, and the exit code; and what went into a pipe instead, for `out` or `err`."""

    code: int
    terminal: str
    pipe: str


Terminal = Callable[..., Seen]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """`terminal(*args, width=100, piped=None, **environment)`: runs averment at a real pseudo-terminal.

    `piped` is "stdout" or "stderr", to send that into a pipe.
    """

    def run(*args: str, width: int = 100, piped: str | None = None, **environment: str) -> Seen:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name not in ASKS_FOR_COLOR}
        streams = {"stdout": theirs, "stderr": theirs, **({piped: subprocess.PIPE} if piped else {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "averment", *args],
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            env={**inherited, "TERM": "xterm-256color", **environment},
            **streams,  # type: ignore[call-overload]
        )
        os.close(theirs)
        with ThreadPoolExecutor(1) as pool:  # the pipe is read at the same time, lest it fill up
            sent = pool.submit(_all_of, ours)
            out, err = process.communicate(timeout=300)
            shown = sent.result().decode().replace("\r\n", "\n")
        return Seen(process.returncode, shown, (out or err or b"").decode())

    return run


def _all_of(descriptor: int) -> bytes:
    """What is written to a pseudo-terminal until nobody has it open any more."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # which is how Linux tells the end
                raise
            part = b""
        if not part:
            os.close(descriptor)
            return b"".join(parts)
        parts.append(part)
