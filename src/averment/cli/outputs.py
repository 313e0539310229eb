"""Where the commands write: whole files or nothing, and standard output as bytes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EISDIR
from stat import S_ISREG
from typing import TYPE_CHECKING, TextIO

from averment.errors import Problem, UsageError

if TYPE_CHECKING:
    from averment.report.look import Look

__all__ = [
    "ReaderGoneError",
    "is_terminal",
    "look",
    "refuse_overwriting",
    "say",
    "wants_color",
    "writing",
]


class ReaderGoneError(Exception):
    """Whoever read standard output went away (`| head`): whether the gate said yes never reached them."""


@contextmanager
def writing(name: str | None) -> Iterator[Callable[[bytes], object]]:
    """What writes a file that appears in one step at the end, or not at all; `-` is standard output, None nothing.

    Raises:
        UsageError: the file can't be written; told before any work is done.
    """
    if name is None or name == "-":
        yield say if name else len
        return
    if os.path.isdir(name):
        raise _unwritable(name, IsADirectoryError(EISDIR, os.strerror(EISDIR)))
    temporary = f"{name}.{os.getpid()}.part"
    try:
        # The mode goes through the umask, as that of any new file does.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file.write
        os.replace(temporary, name)
    except OSError as error:
        raise _unwritable(name, error) from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def refuse_overwriting(outputs: Mapping[str, str | None], inputs: Iterable[str | None]) -> None:
    """Refuses outputs that would replace what is read, or one another.

    Args:
        outputs: the files, by the options that name them; None and `-` are none.
        inputs: the names of all that is read. What is no file, as `policy:NAME`, is none.

    Raises:
        UsageError: with every such output.
    """
    problems = []
    places: dict[str, str] = {}
    there: dict[tuple[int, int], tuple[str, str]] = {}
    for option, name in outputs.items():
        if name is None or name == "-":
            continue
        try:
            found = os.stat(name)
        except (OSError, ValueError):
            found = None
        if found is not None and not S_ISREG(found.st_mode):
            continue  # /dev/null takes as much as you like
        place = os.path.realpath(name)
        if place in places:
            problems.append(
                Problem(
                    code="output_twice",
                    message=f"`{places[place]}` and `{option}` name the same file",
                    file=name,
                    mend="Give each a file of its own.",
                )
            )
            continue
        places[place] = option
        if found is not None:
            there[found.st_dev, found.st_ino] = option, name
    for name in inputs if there else ():
        try:
            found = os.stat(name or "")
        except (OSError, ValueError):
            continue
        option, output = there.pop((found.st_dev, found.st_ino), ("", ""))
        if option:
            problems.append(
                Problem(
                    code="output_is_input",
                    message=f"`{option}` would overwrite a file that is read",
                    file=output,
                    expected="a file that is not among the inputs",
                    mend="Name another file.",
                )
            )
    if problems:
        raise UsageError(problems)


def say(data: bytes | str, *, err: bool = False) -> None:
    """Writes to standard output, or standard error, whatever the terminal's encoding.

    Raises:
        ReaderGoneError: nobody reads any more.
        UsageError: what standard output leads to is full, or broken.
    """
    raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    stream = sys.stderr if err else sys.stdout
    try:
        stream.flush()
        stream.buffer.write(raw)
        stream.buffer.flush()
    except OSError as error:
        # Python flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if err or isinstance(error, BrokenPipeError):
            raise ReaderGoneError from None
        raise _unwritable("<stdout>", error) from None


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at a terminal that can do more than print lines."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_color(*, err: bool = False) -> bool:
    """Whether to print in colours, to standard output or standard error.

    NO_COLOR (no-color.org) turns them off; FORCE_COLOR and CLICOLOR_FORCE turn them on also where there is no terminal,
    as the logs of CI show them; otherwise a terminal gets them. The first of these that is set and not empty decides.
    """
    if os.environ.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if asked := os.environ.get(name):
            return asked.lower() not in ("0", "false")
    return is_terminal(sys.stderr if err else sys.stdout)


def look(*, err: bool = False) -> Look:
    """How text for people looks where it goes: to standard output, or standard error."""
    from averment.report.look import Look

    stream = sys.stderr if err else sys.stdout
    width = None
    if is_terminal(stream):
        from shutil import get_terminal_size

        with suppress(OSError):
            width = os.get_terminal_size(stream.fileno()).columns
        if not width or os.environ.get("COLUMNS", "").isdigit():
            width = get_terminal_size().columns
    return Look(color=wants_color(err=err), width=width)


def _unwritable(name: str, error: Exception) -> UsageError:
    why = getattr(error, "strerror", None) or "not a usable name"
    expected = "a file in a folder that exists and may be written to"
    return UsageError(
        Problem(
            code="output_unwritable",
            message=f"the output can't be written: {why}",
            file=name,
            expected=expected,
        )
    )
