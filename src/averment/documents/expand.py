"""Documents that share: `include`, `defaults` and `vars`, resolved into the assertions one would have written out.

In this order, and no further:

* `defaults` of a document give each of its own assertions the fields that it has and does not set;
* `{{name}}` in a string of an assertion stands for a variable's value;
* `include` appends the assertions of other documents. Their ids, and what they call by these ids, get a prefix.
  Variables and defaults are each document's own; an including document may give values to variables that the
  included one declares.

Every assertion remembers where its parts were written, so that a mistake is told at the line that has to be mended.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from averment.assertions import KINDS, kind
from averment.documents.fields import Fields, Include, is_suite
from averment.documents.parts import Item, Part, Path
from averment.documents.variables import Variables, value_mistakes
from averment.errors import DocumentError, Problem, nearest
from averment.policies import POLICY, PolicyNotFoundError, assertion_policy
from averment.text.source import MAX_DOCUMENT_BYTES, Source, read_source
from averment.text.structs import Mistake, convert, describe, fit

__all__ = ["MAX_INCLUDES", "MAX_INCLUDE_DEPTH", "MAX_PREFIX", "expand", "expand_file"]

MAX_INCLUDE_DEPTH = 8
"""Documents inside each other."""
MAX_INCLUDES = 100
"""Documents that one document includes, at all depths together."""
MAX_PREFIX = 100
"""Characters of a prefix."""

_NEVER_DEFAULT = ("id", "kind", "when", "examples")
_PATH_FIELDS = ("pack_path",)

_Placed = Callable[[Mistake], Problem]


def expand_file(name: str, values: Mapping[str, Any] | None = None) -> Part:
    """The document in a file, or the bundled one that `policy:NAME` is, with all that it includes.

    `values` stand before those that it gives to its variables itself; those that nothing in it asks for are let be.

    Raises:
        DocumentError: it can't be read, or is too large with all that it includes.
    """
    data = _read(name, lambda mistake: mistake.at(Source(None, name), ()))
    prefix = f"{_stem(name)}." if name.startswith(POLICY) else ""
    part = Part(
        read_source(data, name=name), os.path.dirname(name), os.path.basename(name), prefix, values or {}
    )
    return _Expansion(len(data)).filled(part, {_identity(name): name})


def expand(source: Source) -> Part:
    """The document in `source` with all that it includes; paths are relative to the working folder.

    Raises:
        DocumentError: it is too large with all that it includes.
    """
    file = None if source.name is None else os.path.basename(source.name)
    return _Expansion(0).filled(Part(source, "", file, "", {}), {"": source.name or "the document"})


class _Expansion:
    """One document being expanded, with what all its parts together may still take up."""

    def __init__(self, size: int) -> None:
        self._left = MAX_DOCUMENT_BYTES - size
        self._included = 0

    def filled(self, part: Part, around: Mapping[str, str]) -> Part:
        """The part with its assertions; `around` names it and the documents that it stands in, by identity."""
        value = part.source.value
        mistake = _not_a_document(value)
        if mistake is not None:
            part.problems.append(mistake.at(part.source, ()))
            return part
        part.fields = convert(part.source, (), Fields, part.problems)
        part.problems += [mistake.at(part.source, ()) for mistake in _nothing_asserted(value)]
        defaults = _typed(value, "defaults", dict)
        variables = Variables(part, _typed(value, "vars", dict), self._take)
        assertions = _typed(value, "assertions", list)
        # One look at everything, for the many documents without: as JSON writes it, `{{` stands in strings only.
        has_placeholders = b"{{" in msgspec.json.encode([assertions, defaults])
        takers: dict[str, None] = {}
        for index, fields in enumerate(assertions):
            if not isinstance(fields, dict):
                continue  # the document's fields have said so
            known = _field_names(fields) if defaults else ()
            takers.update(dict.fromkeys(known))
            added = {
                name: default
                for name, default in defaults.items()
                if name in known and name not in fields and name not in _NEVER_DEFAULT
            }
            item = Item(part, index, {**added, **fields} if added else fields, added.keys())
            if has_placeholders:
                variables.fill(item)
            _put_in_place(item)
            part.items.append(item)
        part.problems += [mistake.at(part.source, ("defaults",)) for mistake in _idle(defaults, takers)]
        variables.finish()
        self._include(part, around)
        return part

    def _include(self, part: Part, around: Mapping[str, str]) -> None:
        for index, entry in enumerate(_typed(part.source.value, "include", list)):
            include, _ = fit({"path": entry} if isinstance(entry, str) else entry, Include)
            if include is None:
                continue  # the document's fields have said so
            try:
                inner = self._open(part, include, ("include", index), around)
            except DocumentError as error:
                part.problems += error.problems
                continue
            declared = _typed(inner.source.value, "vars", dict) if inner.fields else include.vars
            part.problems += [
                mistake.at(part.source, ("include", index, "vars"))
                for mistake in value_mistakes(include.vars, declared)
            ]
            part.included.append(inner)

    def _open(self, part: Part, include: Include, path: Path, around: Mapping[str, str]) -> Part:
        """The part that the entry of `include` at `path` is."""

        def placed(mistake: Mistake) -> Problem:
            return mistake.at(part.source, path)

        bundled = include.path.startswith(POLICY)
        name = include.path if bundled else os.path.join(part.folder, include.path)
        file = include.path if bundled else os.path.join(os.path.dirname(part.file or ""), include.path)
        prefix = _stem(include.path) if include.prefix is UNSET else include.prefix
        identity = _identity(name)
        self._included += 1
        mistake = _not_includable(part, prefix, around, identity, self._included)
        if mistake is not None:
            raise DocumentError(placed(mistake))
        data = _read(name, placed)
        self._take(len(data), placed)
        source = read_source(data, name=name)
        inner = Part(source, os.path.dirname(name), file, f"{part.prefix}{prefix}.", include.vars)
        return self.filled(inner, {**around, identity: name})

    def _take(self, amount: int, placed: _Placed) -> None:
        self._left -= amount
        if self._left < 0:
            mistake = Mistake(
                "document_too_large",
                "the document is too large with all that it includes and repeats",
                expected=f"at most {MAX_DOCUMENT_BYTES // 2**20} MB",
                mend="Split it into several documents.",
            )
            raise DocumentError(placed(mistake))


def _put_in_place(item: Item) -> None:
    """Prefixes the id and all mentions of ids, and makes paths relative to the working folder."""
    value, prefix, folder = item.value, item.part.prefix, item.part.folder
    changed: dict[str, Any] = {}
    if prefix:
        changed["id"] = _prefixed(value.get("id"), prefix)
        changed["when"] = _prefixed(value.get("when"), prefix)
        if value.get("kind") == "formula" and isinstance(value.get("expr"), str):
            changed["expr"] = _prefixed_formula(item, value["expr"], prefix)
    if folder:
        changed |= {
            name: os.path.join(folder, value[name])
            for name in _PATH_FIELDS
            if isinstance(value.get(name), str)
        }
    changed = {name: new for name, new in changed.items() if name in value}
    if changed:
        item.value = {**value, **changed}


def _prefixed(ids: Any, prefix: str) -> Any:
    """An id, or a list of them, with the prefix; what is no id stays, to be told as such."""
    if isinstance(ids, list):
        return [_prefixed(name, prefix) for name in ids]
    return prefix + ids if isinstance(ids, str) and ids else ids


def _prefixed_formula(item: Item, expr: str, prefix: str) -> str:
    from averment.assertions.formula_expr import FormulaError, mentions, written

    try:
        renamed = [(start, end, written(prefix + name)) for start, end, name in mentions(expr)]
    except FormulaError:
        return expr  # the kind tells what is wrong with it
    return item.rewritten(("expr",), expr, renamed)


def _field_names(fields: dict[str, Any]) -> tuple[str, ...]:
    """The fields that an assertion's kind has; none for a kind that there isn't."""
    name = fields.get("kind")
    return kind(name).__struct_encode_fields__ if isinstance(name, str) and name in KINDS else ()


def _typed(value: dict[str, Any], name: str, cls: type[Any]) -> Any:
    """A field of a document, or an empty one where it is missing or of another type, which is told elsewhere."""
    found = value.get(name)
    return found if isinstance(found, cls) else cls()


def _stem(name: str) -> str:
    """The prefix that a document's name makes: the file's name without its extension, or the policy's."""
    if name.startswith(POLICY):
        return name.removeprefix(POLICY)
    return os.path.splitext(os.path.basename(name))[0]


def _identity(name: str) -> str:
    return name if name.startswith(POLICY) else os.path.abspath(name)


def _read(name: str, placed: _Placed) -> bytes:
    """The text of a file or of a bundled document.

    Raises:
        DocumentError: there is none.
    """
    if name.startswith(POLICY):
        try:
            return assertion_policy(name.removeprefix(POLICY))
        except PolicyNotFoundError as error:
            raise DocumentError(placed(msgspec.structs.replace(error.mistake, path=()))) from None
    try:
        # A pipe or a device would block, or never end.
        if os.path.isfile(name):
            with open(name, "rb") as stream:
                return stream.read(MAX_DOCUMENT_BYTES + 1)
        exists = os.path.exists(name)
        code, why = ("not_a_file", "is no regular file") if exists else ("file_not_found", "does not exist")
    except OSError as error:
        code, why = "file_unreadable", f"can't be read: {error.strerror}"
    expected = "an assertion document, YAML or JSON"
    raise DocumentError(placed(Mistake(code, f"`{name}` {why}", expected=expected)))


def _not_includable(
    part: Part, prefix: str, around: Mapping[str, str], identity: str, count: int
) -> Mistake | None:
    """Why a document can't be included, whatever it says."""
    if identity in around:
        members = list(around)
        cycle = [*(around[name] for name in members[members.index(identity) :]), around[identity]]
        message = f"these documents include one another: {' -> '.join(cycle)}"
        return Mistake("include_cycle", message, mend="Remove one of the includes.")
    if len(around) >= MAX_INCLUDE_DEPTH or count > MAX_INCLUDES:
        expected = (
            f"at most {MAX_INCLUDE_DEPTH} documents inside each other, and {MAX_INCLUDES} included in all"
        )
        return Mistake("too_many_includes", "too many documents are included", expected=expected)
    if len(prefix) > MAX_PREFIX:
        expected = f"at most {MAX_PREFIX} characters"
        return Mistake("prefix_too_long", "the prefix is too long", expected=expected, mend="Set `as`.")
    if any(inner.prefix == f"{part.prefix}{prefix}." for inner in part.included):
        message = f"two included documents have the prefix `{prefix}`"
        mend = "Give one of them another prefix with `as`."
        return Mistake("duplicate_prefix", message, mend=mend)
    return None


def _idle(defaults: Mapping[str, Any], takers: Collection[str]) -> Iterator[Mistake]:
    """Defaults that no assertion can take."""
    for name in defaults:
        if name in _NEVER_DEFAULT:
            message = f"`{name}` can't be a default"
            yield Mistake("not_allowed", message, (name,), key=True, mend="Set it in each assertion.")
        elif takers and name not in takers:  # without a known kind, that is the mistake to mend
            yield Mistake(
                "unknown_field",
                f"no assertion of this document has the field `{name}`",
                (name,),
                key=True,
                expected=f"one of {', '.join(field for field in takers if field not in _NEVER_DEFAULT)}",
                nearest=nearest(name, takers),
            )


def _not_a_document(value: Any) -> Mistake | None:
    if is_suite(value):
        return Mistake(
            "not_a_document",
            "this is a suite, and no assertion document",
            expected="a mapping with `assertions`",
            mend="Run it with `averment run --suite FILE`.",
        )
    if isinstance(value, dict) and not {"version", "assertions", "include"}.isdisjoint(value):
        return None
    return Mistake(
        "not_a_document",
        "this is no assertion document",
        expected="a mapping with `version: 1` and a list of `assertions`",
        found=describe(value),
        mend="See `averment demo` for one.",
    )


def _nothing_asserted(value: dict[str, Any]) -> Iterator[Mistake]:
    """A document may leave out assertions only if it includes some."""
    if not value.get("include") and "assertions" not in value:
        expected = "`assertions`: a non-empty list"
        yield Mistake("missing_field", "the field `assertions` is missing", expected=expected)
    elif not value.get("include") and value["assertions"] == []:
        yield Mistake("empty_value", "the list is empty", ("assertions",), expected="at least 1 item")
