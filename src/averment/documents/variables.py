"""The variables of one document: what `{{name}}` in its assertions stands for.

A string that is nothing but `{{name}}` takes the value with its type. Within a longer string the value is text
(numbers, booleans and null as JSON writes them), and where the string is a regular expression it is escaped, so that it
matches itself. `{{{{` stands for `{{`. Keys and `kind` are never touched, and a value is put in as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import msgspec

from averment.assertions import KINDS, kind
from averment.documents.parts import Item, Part, Path
from averment.errors import Problem, nearest
from averment.text.jsontext import canonical
from averment.text.structs import Mistake, is_marked

__all__ = ["Variables", "value_mistakes"]

_placeholders = re.compile(r"\{\{\{\{|\{\{(?!\{)([^{}]*)(\}\})?")


class Variables:
    """The variables of one document, put into its assertions."""

    def __init__(
        self,
        part: Part,
        own: Mapping[str, Any],
        take: Callable[[int, Callable[[Mistake], Problem]], None],
    ) -> None:
        self._part = part
        self._own = own
        self._values = {**own, **part.given}
        self._unused = dict.fromkeys(own)
        self._take = take

    def fill(self, item: Item) -> None:
        """Fills every placeholder of an assertion."""
        item.value = self._filled(item, item.value, ())

    def finish(self) -> None:
        """Tells what can be told once all assertions are filled."""
        source = self._part.source
        self._part.problems += [
            mistake.at(source, ("vars",)) for mistake in value_mistakes(self._own, self._own)
        ]
        for name in self._unused:
            self._part.warnings.append(
                source.problem(
                    "unused_variable",
                    f"the variable `{name}` is used nowhere",
                    ("vars", name),
                    key=True,
                    expected=f"`{{{{{name}}}}}` in a string of an assertion",
                    mend="Use it, or remove it.",
                    severity="warning",
                )
            )

    def _filled(self, item: Item, value: Any, path: Path) -> Any:
        """The value with its placeholders filled: itself where it has none."""
        if isinstance(value, str):
            return self._text(item, value, path) if "{{" in value else value
        if isinstance(value, dict):
            changed = {
                name: new
                for name, inner in value.items()
                if (new := self._filled(item, inner, (*path, name))) is not inner
            }
            return {**value, **changed} if changed else value
        if isinstance(value, list):
            filled = [self._filled(item, inner, (*path, index)) for index, inner in enumerate(value)]
            return filled if any(new is not old for new, old in zip(filled, value, strict=True)) else value
        return value

    def _text(self, item: Item, text: str, path: Path) -> Any:
        if path == ("kind",):
            return text  # what its fields are hangs on it
        is_regex = _is_regex(item.value, path)
        alone = _placeholders.fullmatch(text)
        replacements: list[tuple[int, int, str]] = []
        for found in _placeholders.finditer(text):
            name, end = found.groups()
            new: Any = "{{"
            if name is not None:
                name = name.strip()
                if end is None or name not in self._values or (is_regex and _is_escaped(found)):
                    self._refuse(item, found, path)
                    return text
                self._unused.pop(name, None)
                if name in self._part.given:
                    self._part.taken[name] = self._part.given[name]
                new = self._values[name]
                if alone and not is_regex:
                    return new
                new = new if isinstance(new, str) else canonical(new).decode()
                new = re.escape(new) if is_regex else new
            replacements.append((found.start(), found.end(), new))
        grown = len(text) + sum(len(new) for _, _, new in replacements)
        self._take(grown, lambda mistake: item.problem(msgspec.structs.replace(mistake, path=path)))
        return item.rewritten(path, text, replacements)

    def _refuse(self, item: Item, found: re.Match[str], path: Path) -> None:
        item.is_whole = False
        name, end = found.groups()
        if end is not None and name.strip() not in self._values:
            mistake = _unknown(name.strip(), self._values, path, found.start(1))
        else:
            why = "is not closed" if end is None else "follows a backslash, which would change what it means"
            mistake = Mistake(
                "bad_placeholder",
                f"a placeholder {why}",
                path,
                offset=found.start(),
                expected="`{{name}}`",
                mend="For the two braces themselves write `{{{{`.",
            )
        self._part.problems.append(item.problem(mistake))


def value_mistakes(values: Mapping[str, Any], declared: Collection[str]) -> Iterator[Mistake]:
    """What is wrong with values of variables: nobody declares the variable, or the value holds a placeholder."""
    for name, value in values.items():
        if name not in declared:
            yield _unknown(name, declared, (name,), key=True)
        if isinstance(value, str) and "{{" in value:
            message = f"the value of `{name}` holds a placeholder, and variables don't nest"
            yield Mistake("nested_variable", message, (name,), mend="Write out the value.")


def _unknown(
    name: str, known: Collection[str], path: Path, offset: int | None = None, *, key: bool = False
) -> Mistake:
    return Mistake(
        "unknown_variable",
        f"there is no variable `{name}`",
        path,
        key=key,
        offset=offset,
        expected=f"one of {', '.join(known)}" if known else "a variable that `vars` declares",
        nearest=nearest(name, known),
        mend="Declare it in `vars`; for two braces themselves write `{{{{`.",
    )


def _is_escaped(found: re.Match[str]) -> bool:
    """Whether the backslashes before a placeholder would take its first character with them."""
    text, start = found.string, found.start()
    while text[start - 1 : start] == "\\":
        start -= 1
    return (found.start() - start) % 2 == 1


def _is_regex(fields: dict[str, Any], path: Path) -> bool:
    """Whether the string at `path` of an assertion is a regular expression: its field's type, or operator, says so."""
    name = fields.get("kind")
    if path[-1] == "$regex":
        return True
    return isinstance(name, str) and name in KINDS and is_marked(kind(name), path, "regex")
