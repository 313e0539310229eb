"""Who a result is: by what a CI's tab of tests and code scanning know it again in the next run.

That is the file, the assertion and the conversation, and never a line, a position in a list or a path of one machine:
lines move when a document is edited, and what moved is still the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
from collections import Counter
from collections.abc import Mapping
from typing import Any

from averment.verdicts.judged import Judged, shown_file

__all__ = ["Fingerprints", "conversation_key", "file_path"]


def conversation_key(entry: Judged) -> tuple[str, ...]:
    """What stays the same of a conversation from run to run.

    In a suite that is its entry, its case (where there are none, the name of its recording) and which repetition it is: not where the
    command's output is kept, and not how many repetitions there are.
    """
    case, name = entry.case, shown_file(entry.conversation)
    if case is None:
        return (name,)
    if case.name is not None:
        return (case.suite, case.name, str(case.repeat))
    return (case.suite, "" if entry.produced is not None else name, str(case.repeat))


def file_path(name: str) -> str:
    """A file's name with one spelling: relative to the working folder, with `/`, without `.` and doubled slashes."""
    path = shown_file(name).replace(os.sep, "/")
    return posixpath.normpath(path) if path else path


class Fingerprints:
    """Makes fingerprints, of which no two are alike; every result of a run must be asked for, in order."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def __call__(self, entry: Judged, result: Mapping[str, Any], file: str) -> str:
        """The hexadecimal digest of a result's identity.

        Where several conversations have the same name, such as those in one file that a command wrote, it is also
        which of them it is.
        """
        is_included = "file" in (result.get("at") or {})
        identity = [
            file_path(file),
            entry.document if is_included else None,  # two documents may include the same file
            result["id"],
            result["kind"],
            result.get("code"),
            *conversation_key(entry),
        ]
        # The whole conversation has its number, not the result: codes of others must not change it.
        same = _bytes([*identity[:4], *conversation_key(entry)])
        self._seen[same] += 1
        return hashlib.sha256(_bytes([*identity, self._seen[same]])).hexdigest()


def _bytes(value: Any) -> bytes:
    # ASCII, because names of files and ids can hold lone surrogates, which are no UTF-8.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")
