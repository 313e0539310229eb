"""Where the commands write: whole files or nothing, and standard output as bytes."""

from __future__ import annotations

import os
import sys
import tempfile

from averment.errors import Problem, UsageError

__all__ = ["save", "say", "wants_color"]


def save(name: str, data: bytes) -> None:
    """Writes a file in one step, or to standard output for `-`; a reader never sees half of it.

    Raises:
        UsageError: the file can't be written.
    """
    if name == "-":
        say(data)
        return
    folder = os.path.dirname(name) or "."  # noqa: PTH120 - beside the target, so that the rename is atomic
    try:
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".averment-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o666 & ~_umask())  # noqa: PTH101 - mkstemp makes private files
            os.replace(temporary, name)  # noqa: PTH105 - as above
        except BaseException:
            os.unlink(temporary)  # noqa: PTH108 - as above
            raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a usable name"
        raise UsageError(
            Problem(
                code="output_unwritable",
                message=f"the output can't be written: {why}",
                file=name,
                expected="a file in a folder that exists and may be written to",
            )
        ) from None


def say(data: bytes | str, *, err: bool = False) -> None:
    """Writes to standard output, or standard error, whatever the terminal's encoding."""
    raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    stream = sys.stderr if err else sys.stdout
    stream.flush()
    stream.buffer.write(raw)
    stream.buffer.flush()


def wants_color() -> bool:
    """Whether standard output is a terminal whose user has not asked for plain text (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
