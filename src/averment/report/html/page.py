"""The page: what its templates are given, and the one file that comes of them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from averment._version import __version__
from averment.report.html.budget import MANY, Budget
from averment.report.html.cards import FOLDED, GROUPS, Card, cards, group_of
from averment.report.html.conversation import Conversation
from averment.report.html.names import entry_keys
from averment.report.html.texts import KEPT, short
from averment.report.html.timeline import LANES
from averment.report.repeated import EXPLAINED
from averment.report.repetitions import Repetition, Rows, repetitions
from averment.text.shown import visible
from averment.verdicts.judged import Judged

__all__ = ["page"]

_VERDICTS = {
    0: "the gate says yes",
    1: "the gate says no",
    2: "no verdict: evidence is missing, and the policy is to refuse",
    3: "internal error: a check failed, please report it",
}
_WORST_FIRST = (3, 2, 1, 0)
_OPENED = 3
_MOST = 10_000
"""Above so many results passes, and what is not applicable, have no cards of their own."""
_VERDICT_CHOICES = {"FAIL": "fail", "INCONCLUSIVE": "inconclusive", "PASS": "pass"}
_NOUNS = {"passed": ("pass", "passes"), "inapplicable": ("assertion",)}
"""What folded cards are called, one and several."""
_LONG = 400
"""From so many results and events on, what is out of sight is laid out when it comes into sight."""


class Counts(msgspec.Struct, frozen=True):
    """Results by verdict."""

    fail: int = 0
    inconclusive: int = 0
    passed: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> Counts:
        """The counts as an envelope's summary has them."""
        return cls(*(int(counts.get(name, 0)) for name in ("fail", "inconclusive", "pass")))

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.fail + other.fail, self.inconclusive + other.inconclusive, self.passed + other.passed
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.fail + self.inconclusive + self.passed


class Group(msgspec.Struct, frozen=True):
    """Cards under one heading."""

    key: str
    anchor: str
    heading: str
    cards: Sequence[Card]
    is_folded: bool

    @property
    def nouns(self) -> Sequence[str]:
        """What its cards are called where they are folded, one and several."""
        return _NOUNS[self.key]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation on the page."""

    anchor: str
    key: str
    name: str
    file: str | None
    document: str
    repeat: str | None
    exit_code: int
    gate: str
    policy: str
    counts: Counts
    lesser: Counts
    inapplicable: int
    nothing_decided: bool
    groups: Sequence[Group]
    conversation: Conversation | None
    missing: str | None
    digests: Sequence[tuple[str, str]]
    is_open: bool


def page(entries: Sequence[Judged]) -> str:
    """The whole page."""
    ordered = _worst_first(entries)
    keys = entry_keys(ordered)
    is_every = sum(len(entry.results) for entry in ordered) <= _MOST
    budget = Budget(ordered, keys, _markup_size)
    sections = [
        _section(entry, key, index, len(ordered), budget, is_every=is_every)
        for index, (entry, key) in enumerate(zip(ordered, keys, strict=True))
    ]
    css, script = _asset("style.css"), _asset("script.js")
    every = [card for section in sections for group in section.groups for card in group.cards]
    kinds = _names(card.kind for card in every)
    dimensions = _names(card.dimension or "" for card in every)
    tags = _names(tag for card in every for tag in card.tags)
    counts = sum((section.counts for section in sections), Counts())
    rendered: str = _template("page.html.j2").render(
        title=_title(ordered),
        policy=f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
        css=Markup(css),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        sections=sections,
        has_files=any(section.file for section in sections),
        counts=counts,
        lesser=sum((section.lesser for section in sections), Counts()),
        inapplicable=sum(section.inapplicable for section in sections),
        judge=_judge(ordered),
        repetitions=_repetitions(entries),
        explained=EXPLAINED,
        nothing_decided=bool(sections) and all(section.nothing_decided for section in sections),
        exit_code=next((code for code in _WORST_FIRST if any(s.exit_code == code for s in sections)), 0),
        verdicts=_VERDICTS,
        kinds=kinds,
        dimensions=dimensions,
        tags=tags,
        lookup={
            name: {value: number for number, value in enumerate(values)}
            for name, values in (("kinds", kinds), ("dimensions", dimensions), ("tags", tags))
        },
        total=len(every),
        verdict_choices=[
            *_VERDICT_CHOICES.items(),
            *([("NA", "not applicable")] if any(card.group == "inapplicable" for card in every) else []),
        ],
        uncarded=0 if is_every else sum(len(entry.results) for entry in ordered) - len(every),
        is_long=len(every) + budget.items > _LONG,
        dropped=budget.dropped,
        lanes=list(LANES.values()),
        version=__version__,
    )
    return rendered


def _section(entry: Judged, key: str, index: int, total: int, budget: Budget, *, is_every: bool) -> Section:
    envelope = entry.envelope
    conversation = budget.conversation(index)
    shown_cards = cards(
        entry, key, conversation, opened=_OPENED if index == 0 else 0, asks=total <= MANY, every=is_every
    )
    summary = envelope["summary"]
    exit_code = int(envelope["exit_code"])
    has_file = entry.case is not None and (entry.case.name is not None or entry.produced is not None)
    statuses = [result["status"] for result in entry.results]
    return Section(
        anchor=f"e-{key}" if key else "results",
        key=key,
        name=short(entry.label, 160),
        file=short(entry.conversation, 160) if has_file else None,
        document=short(entry.document, 160),
        repeat=None
        if entry.case is None or entry.case.repeats < 2
        else f"{entry.case.repeat} of {entry.case.repeats}",
        exit_code=exit_code,
        gate=_VERDICTS.get(exit_code, "unknown"),
        policy=short(envelope["inconclusive_policy"], 20),
        counts=Counts.of(summary["deterministic"]),
        lesser=Counts.of(summary["warnings"]),
        inapplicable=int(summary["not_applicable"]),
        nothing_decided=bool(statuses) and all(status == "INCONCLUSIVE" for status in statuses),
        groups=[
            Group(
                name,
                f"{name}-{key}" if key else name,
                heading,
                found,
                is_folded=name == "inapplicable" or (name in FOLDED and bool(key)),
            )
            for name, heading in GROUPS.items()
            if (found := [card for card in shown_cards if card.group == name])
        ],
        conversation=conversation,
        missing=budget.missing(index),
        digests=[
            *([("conversation", short(entry.conversation, 160))] if has_file else []),
            ("document", short(envelope["document"].get("sha256", ""), 80)),
            ("evidence", short(envelope.get("evidence_sha256", ""), 80)),
        ],
        is_open=index == 0 or exit_code != 0,
    )


def _worst_first(entries: Sequence[Judged]) -> list[Judged]:
    """Conversations with failures, then those with something undecided, then the others; each in the order given."""

    def rank(entry: Judged) -> int:
        groups = {group_of(result) for result in entry.results}
        codes = {result.get("code") for result in entry.results}
        if "internal_error" in codes:
            return 0
        return 1 if "failed" in groups else 2 if "undecided" in groups else 3

    return sorted(entries, key=rank)


def _repetitions(entries: Sequence[Judged]) -> list[Repetition]:
    """What repeats came to, with names as they may stand on a page."""
    return [
        Repetition(short(each.suite, 80), each.times, _shortened(each.over), _shortened(each.cases))
        for each in repetitions(entries)
    ]


def _shortened(rows: Rows) -> Rows:
    shown = [
        [short(cell, 80) if index < rows.names else cell for index, cell in enumerate(row)]
        for row in rows.rows
    ]
    return Rows(rows.names, rows.head, shown, rows.more)


def _judge(entries: Sequence[Judged]) -> Counts:
    found = Counts()
    for entry in entries:
        judge = entry.envelope["summary"].get("judge")
        if isinstance(judge, Mapping):
            found += Counts.of({name: value for name, value in judge.items() if isinstance(value, int)})
    return found


def _title(entries: Sequence[Judged]) -> tuple[str, str]:
    """What was judged by, and what was judged."""
    if not entries:
        return "no document", "no conversation"
    documents = list(dict.fromkeys(entry.document for entry in entries))
    over = entries[0].label if len(entries) == 1 else f"{len(entries):,} conversations"
    return short(" + ".join(documents[:3]), 120), short(over, 120)


def _names(names: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(names))


@cache
def _environment() -> Environment:
    def load(name: str) -> tuple[str, str, None]:
        return _asset(name), name, None

    environment = Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_final,
    )
    environment.filters["counted"] = _counted
    environment.filters["ticked"] = _ticked
    return environment


def _final(value: Any) -> Any:
    """Whatever a template writes, with what can't be seen escaped; what is markup already is ours."""
    return visible(value, keep=KEPT) if isinstance(value, str) and not isinstance(value, Markup) else value


def _counted(count: int, noun: str, several: str | None = None) -> str:
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def _ticked(text: str) -> Markup:
    """A sentence in which names stand between backticks, as reasons are written."""
    pieces = _final(text).split("`")
    if len(pieces) % 2 == 0:
        return escape(_final(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if index % 2 else piece for index, piece in enumerate(pieces)
    )


def _template(name: str) -> Any:
    return _environment().get_template(name)


def _markup_size(conversation: Conversation) -> int:
    """How many bytes a conversation takes in the page."""
    markup: str = _template("conversation.html.j2").module.shown(conversation)
    return len(markup.encode("utf-8", "backslashreplace"))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
