"""Where two JSON values first differ."""

from __future__ import annotations

from averment.errors import path_text
from averment.oracle.catalog.canonical import equal

__all__ = ["first_difference"]


def first_difference(a: object, b: object) -> str | None:
    """The path of the first value that is not the same in both, in the order of the keys; None where all are.

    A list that is longer in one differs at its first item that the other has not; a mapping at its first key of that
    kind.
    """
    path: list[str | int] = []
    while not equal(a, b):
        if isinstance(a, dict) and isinstance(b, dict):
            step: str | int = next(key for key in sorted({*a, *b}) if not _same(a, b, key))
            path.append(step)
            if step not in a or step not in b:
                break
            a, b = a[step], b[step]
        elif isinstance(a, list) and isinstance(b, list):
            pairs = zip(a, b, strict=False)
            shorter = min(len(a), len(b))
            index = next((at for at, (x, y) in enumerate(pairs) if not equal(x, y)), shorter)
            path.append(index)
            if index == shorter:
                break
            a, b = a[index], b[index]
        else:
            break
    else:
        return None
    return path_text(path)


def _same(a: dict[str, object], b: dict[str, object], key: str) -> bool:
    return key in a and key in b and equal(a[key], b[key])
