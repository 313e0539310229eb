"""Python source as a tree, with places as people count them."""

from __future__ import annotations

import ast
import re
import warnings

__all__ = ["Tree", "UnparsableError", "parse"]


_NEWLINE = re.compile(r"\r\n|\r|\n")
_UNREADABLE = re.compile("[\0\ud800-\udfff]")


class UnparsableError(Exception):
    """The text is not Python.

    Attributes:
        message: one sentence without a full stop.
        line: 1-based.
        column: 1-based, in code points.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Tree:
    """A parsed file.

    Attributes:
        module: the tree of `ast`, whose columns count bytes of UTF-8 from 0.
    """

    __slots__ = ("_lines", "module")

    def __init__(self, module: ast.Module, text: str) -> None:
        self.module = module
        self._lines = _NEWLINE.split(text)

    def place(self, node: ast.expr | ast.stmt | ast.alias) -> tuple[int, int]:
        """Line and column of a node; both start at 1 and count code points."""
        line = self._lines[min(node.lineno, len(self._lines)) - 1]
        if line.isascii():
            return node.lineno, node.col_offset + 1
        before = line.encode("utf-8", "surrogatepass")[: node.col_offset]
        return node.lineno, len(before.decode("utf-8", "replace")) + 1


def parse(text: str) -> Tree:
    """Parse a file; nothing of it runs.

    Raises:
        UnparsableError: Python can't read it, or it nests too deep.
    """
    text = text.removeprefix("\ufeff")
    odd = _UNREADABLE.search(text)
    if odd is not None:
        what = "a null character" if odd.group() == "\0" else "half of a surrogate pair"
        before = _NEWLINE.split(text[: odd.start()])
        raise UnparsableError(f"source code has {what} in it", len(before), len(before[-1]) + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Tree(ast.parse(text), text)
    except SyntaxError as error:
        raise UnparsableError(error.msg, error.lineno or 1, max(error.offset or 1, 1)) from None
    except (RecursionError, MemoryError):
        raise UnparsableError("expressions stand too deep inside each other") from None
    except ValueError as error:
        raise UnparsableError(f"the text can't be read: {error}") from None
