"""PyYAML's own scanner and parser, made to give the events that libyaml gives.

Used where PyYAML is installed without libyaml, so that a document means the same on every machine and is refused on
every machine. The methods here replace PyYAML's where the two differ: tabs between tokens, plain scalars with tabs
or with `?` and `:` inside brackets, headers of block scalars, escapes that name no character, directives.
"""

from __future__ import annotations

import re

from yaml import events
from yaml.error import Mark
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import DirectiveToken, ScalarToken

__all__ = ["PythonParser", "events"]

_TAB = "found a tab character where an indentation space is expected"
_blank = re.compile(r"[ \t\r\n]*").match
# A stretch of a plain scalar without space: `: ` ends it, and in brackets so do the signs of the brackets.
_word = re.compile(r"(?:[^\0 \t\r\n:]|:(?![\0 \t\r\n]))*").match
_flow_word = re.compile(r"(?:[^\0 \t\r\n:,\[\]{}]|:(?![\0 \t\r\n,?\[\]{}]))*").match
_document_separator = re.compile(r"(?:---|\.\.\.)[\0 \t\r\n]").match
# The rest of a scalar in double quotes up to an escape that names no character: half of a surrogate pair, or a
# number beyond Unicode.
_NO_CHARACTER = r"(?:u|U0000)[dD][89a-fA-F]|U(?!00(?:0[0-9a-fA-F]|10))[0-9a-fA-F]{8}"
_no_character = re.compile(rf'(?s:[^"\\]++|\\(?!{_NO_CHARACTER}).)*+(\\)(?:{_NO_CHARACTER})').match


class PythonParser(Reader, Scanner, Parser):
    """A source of events with the interface of `yaml.CParser`."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def scan_to_next_token(self) -> None:
        """Skip what separates tokens: a tab does, but not where a line of a mapping or list may start."""
        while True:
            while self.peek() == " " or (
                self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)
            ):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0\r\n":
                    self.forward()
            if self.peek() not in "\r\n":
                return
            self.forward()
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain(self) -> ScalarToken:
        """A scalar without quotes, over as many lines as it has."""
        start = end = self.get_mark()
        parts: list[str] = []
        space = ""
        while self.peek() != "#" and not (
            self.column == 0 and _document_separator(self.buffer, self.pointer)
        ):
            found = (_flow_word if self.flow_level else _word)(self.buffer, self.pointer)
            word = found[0] if found else ""
            if self.flow_level and self.peek(len(word)) == ":" and self.peek(len(word) + 1) in ",?[]{}":
                self.forward(len(word))
                raise ScannerError(
                    "while scanning a plain scalar", start, "found unexpected ':'", self.get_mark()
                )
            if not word:
                break
            self.forward(len(word))
            end = self.get_mark()
            parts += (space, word)
            self.allow_simple_key = False
            space = self._fold(start)
            if not space or (not self.flow_level and self.column <= self.indent):
                break
        return ScalarToken("".join(parts), True, start, end)

    def _fold(self, start: Mark) -> str:
        """Skip the space after a word of a plain scalar; what it stands for if another word follows."""
        found = _blank(self.buffer, self.pointer)
        blank = found[0] if found else ""
        line = self.line
        for character in blank:
            if character == "\t" and self.line > line and self.column <= self.indent:
                raise ScannerError("while scanning a plain scalar", start, _TAB, self.get_mark())
            self.forward()
        if self.line == line:
            return blank
        self.allow_simple_key = True
        return "\n" * (self.line - line - 1) or " "

    def scan_block_scalar_indicators(self, _start: Mark) -> tuple[bool | None, int | None]:
        """Chomping and indentation in a block scalar's header, in either order; the rest of the line is next."""
        chomping: bool | None = None
        increment: int | None = None
        while True:
            sign = self.peek()
            if chomping is None and sign in "+-":
                chomping = sign == "+"
            elif increment is None and sign in "123456789":
                increment = int(sign)
            else:
                return chomping, increment
            self.forward()

    def scan_block_scalar_ignored_line(self, start_mark: Mark) -> None:
        """The rest of a block scalar's header: tabs count as space, and a comment needs none before it."""
        while self.peek() == "\t" or self.peek() == " ":
            self.forward()
        super().scan_block_scalar_ignored_line(start_mark)

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, Mark]:
        """The indentation of a block scalar, which spaces alone decide."""
        indentation: tuple[list[str], int, Mark] = super().scan_block_scalar_indentation()
        if self.peek() == "\t":
            mark = self.get_mark()
            raise ScannerError("while scanning a block scalar", mark, _TAB, mark)
        return indentation

    def scan_flow_scalar(self, style: str) -> ScalarToken:
        """A quoted scalar, whose escapes must name characters."""
        found = _no_character(self.buffer, self.pointer + 1) if style == '"' else None
        if found:
            mark = Mark(self.name, found.start(1), 0, 0, None, 0)
            raise ScannerError(
                "while scanning a quoted scalar", self.get_mark(), "found a wrong escape code", mark
            )
        token: ScalarToken = super().scan_flow_scalar(style)
        return token

    def scan_directive(self) -> DirectiveToken:
        """A directive, which must be one that is known."""
        token = super().scan_directive()
        if token.name != "TAG" and token.value not in ((1, 1), (1, 2)):
            raise ScannerError(
                "while scanning a directive", token.start_mark, "it is unknown", token.start_mark
            )
        return token
