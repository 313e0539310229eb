"""A folder that appears in one step, with all its files, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress

from averment.errors import Problem, UsageError

__all__ = ["refusal", "write_folder"]


def refusal(target: str) -> Problem | None:
    """Why a folder can't be made there, as far as that can be told before it is tried."""
    if not target or "\0" in target:
        return _problem(
            "invalid_target", "the target is no path", target or None, expected="a folder to make"
        )
    if os.path.lexists(os.path.abspath(target)):
        kind = "a folder" if os.path.isdir(target) else "a file"
        return _problem(
            "target_exists",
            f"the target exists already: it is {kind}",
            target,
            mend="Give another with `--target`; nothing there was changed.",
        )
    parent = os.path.dirname(os.path.abspath(target))
    if not os.path.isdir(parent):
        return _problem(
            "output_unwritable",
            "the folder that it would stand in does not exist",
            target,
            mend="Make that folder first.",
        )
    return None


def write_folder(target: str, contents: Mapping[str, bytes]) -> None:
    """Write a new folder with these files; the files are written beside it and renamed at the end.

    Args:
        target: where the folder shall stand.
        contents: the bytes of each file by its name.

    Raises:
        UsageError: something is there already, or it can't be written; nothing is left behind.
    """
    problem = refusal(target)
    if problem:
        raise UsageError(problem)
    place = os.path.abspath(target)
    temporary = os.path.join(os.path.dirname(place), f".{os.path.basename(place)[:100]}.{os.getpid()}.part")
    made = True  # before it is, so that no interrupt comes between
    try:
        try:
            os.mkdir(temporary)
        except FileExistsError:
            made = False  # somebody else's
            raise
        for name, data in contents.items():
            with open(os.path.join(temporary, name), "xb") as file:
                file.write(data)
        # A rename would replace an empty folder, made meanwhile.
        problem = refusal(target)
        if problem:
            raise UsageError(problem)
        os.rename(temporary, place)
        made = False
    except OSError as error:
        raise UsageError(
            _problem(
                "output_unwritable",
                f"the pack can't be written: {error.strerror or type(error).__name__}",
                target,
                expected="a folder that may be written to, with room",
            )
        ) from None
    finally:
        if made:
            with suppress(OSError):
                shutil.rmtree(temporary)


def _problem(
    code: str, message: str, file: str | None, *, expected: str | None = None, mend: str | None = None
) -> Problem:
    return Problem(code=code, message=message, file=file, expected=expected, mend=mend)
