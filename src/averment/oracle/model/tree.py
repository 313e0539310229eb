"""The files of a pack as they lie on disk: which there are, whether they may be there, and their fingerprint.

A pack is what its folder holds, and nothing else: symbolic links and special files are refused, because what they
lead to is not in the fingerprint and a copy of the pack would be another one. Folders named `__pycache__`, `.git`,
`.ipynb_checkpoints` and `.averment` (where reports go) are not part of the pack; every other regular file is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

import msgspec

from averment.errors import Problem
from averment.oracle.model.problems import Problems

__all__ = [
    "MAX_TREE_BYTES",
    "MAX_TREE_FILES",
    "SKIPPED",
    "Tree",
    "fingerprint",
    "inside",
    "read_bytes",
    "scan",
]

MAX_TREE_FILES = 20_000
"""How many files and folders a pack may have."""

MAX_TREE_BYTES = 2**30
"""How large the files of a pack may be together, in bytes."""

SKIPPED = frozenset({"__pycache__", ".git", ".ipynb_checkpoints", ".averment"})
"""Names of folders that are not part of a pack."""

_CHUNK = 2**20
_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


class Tree(msgspec.Struct, frozen=True):
    """What a pack consists of.

    Attributes:
        fingerprint: `sha256:` over every file, by name and content.
        digests: `sha256:` of each file, by logical name, `tree/` and its path inside the pack.
    """

    fingerprint: str
    digests: dict[str, str]


def fingerprint(root: str | Path) -> tuple[str, dict[str, str]]:
    """The fingerprint of a pack, and the digest of each of its files, to name the one that drifted.

    The fingerprint is one SHA-256 over `name NUL bytes NUL` of each file, in the order of their logical names,
    `tree/<path inside the pack>` (contract, section 1.2). So it is the same wherever the pack lies.

    Raises:
        PackError: the tree holds what no pack may hold, is too large, or can't be read.
    """
    problems = Problems()
    tree = scan(Path(root), problems)
    problems.raise_any()
    return tree.fingerprint, tree.digests


def scan(root: Path, problems: Problems) -> Tree:
    """The tree under `root`; what may not be there goes to `problems`, and is in no digest."""
    import hashlib

    whole = hashlib.sha256()
    digests: dict[str, str] = {}
    left = MAX_TREE_BYTES
    for name in sorted(_regular_files(root, problems)):
        logical = f"tree/{name}"
        single = hashlib.sha256()
        whole.update(logical.encode() + b"\0")
        try:
            for chunk in _chunks(root / name):
                left -= len(chunk)
                if left < 0:
                    break
                whole.update(chunk)
                single.update(chunk)
        except OSError as error:
            problems.report(unreadable(name, error))
        if left < 0:
            limit = f"at most {MAX_TREE_BYTES // 2**20} MB"
            problems.file("pack_too_large", "the files of the pack are too large together", expected=limit)
            break
        whole.update(b"\0")
        digests[logical] = f"sha256:{single.hexdigest()}"
    return Tree(f"sha256:{whole.hexdigest()}", digests)


def read_bytes(root: Path, name: str, limit: int) -> bytes:
    """The first `limit` bytes of a file of the pack.

    Raises:
        OSError: it can't be read.
    """
    data = bytearray()
    for chunk in _chunks(root / name):
        data += chunk
        if len(data) >= limit:
            break
    return bytes(data[:limit])


def inside(folder: str, written: str) -> str | None:
    """The path inside the pack that a path in one of its files means, or None when it leads out of the pack.

    Args:
        folder: the folder inside the pack that the path is relative to; empty for the pack's own.
        written: the path as it stands in the file.
    """
    path = PurePosixPath(written)
    if path.is_absolute() or "\0" in written or "\\" in written or (len(written) > 1 and written[1] == ":"):
        return None
    parts: list[str] = list(PurePosixPath(folder).parts)
    for part in path.parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return None
    return None if SKIPPED.intersection(parts) else "/".join(parts)


def _chunks(path: Path) -> Iterator[bytes]:
    """The content of a regular file; the flags keep a link or a pipe that took its place from being followed."""
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "it is no regular file any more")
        while chunk := file.read(_CHUNK):
            yield chunk


def _regular_files(root: Path, problems: Problems) -> Iterator[str]:
    """The paths inside the pack of its regular files, in no order; everything else that is there is a problem."""
    folders = [""]
    count = 0
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as listing:
                entries = sorted(islice(listing, MAX_TREE_FILES + 1 - count), key=lambda entry: entry.name)
        except OSError as error:
            problems.report(unreadable(folder or ".", error))
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            count += 1
            if count > MAX_TREE_FILES:
                limit = f"at most {MAX_TREE_FILES:,}"
                problems.file("too_many_files", "the pack has too many files", expected=limit)
                return
            if (kind := _kind(entry, problems, name)) == "folder":
                folders.append(name)
            elif kind == "file":
                yield name


def _kind(entry: os.DirEntry[str], problems: Problems, name: str) -> str | None:
    """`file`, `folder`, or None for what is passed over or refused."""
    if entry.is_symlink():
        problems.file("symlink_refused", "the pack holds a symbolic link", _shown(name))
    elif not _is_text(entry.name):
        problems.file("name_not_text", "the name of a file is not UTF-8", _shown(name))
    elif entry.is_dir(follow_symlinks=False):
        if entry.name not in SKIPPED:
            return "folder"
    elif not entry.is_file(follow_symlinks=False):
        problems.file("not_a_regular_file", "the pack holds what is no regular file", _shown(name))
    else:
        return "file"
    return None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def unreadable(name: str, error: OSError) -> Problem:
    """The problem that the system refuses to read a file."""
    why = error.strerror or "the system gives no reason"
    return Problem(code="file_unreadable", message=f"the file can't be read: {why}", file=_shown(name))
