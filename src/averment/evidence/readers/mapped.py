"""Any JSON or JSON Lines, by a mapping file: JSON Pointers say what is a turn, a call, an answer or another event.

Items are read in the order in which they stand. An item may be several things at once: an utterance with the calls
that follow it. Answers find their calls as everywhere (`readers.dialogue`); a result in the call's own item is its
answer. A pointer that leads nowhere is missing evidence: the value is left out, and where a pointer never led
anywhere in a conversation, a note says so. Items that no rule takes are counted, and as long as there are any, nothing
that the mapping shows is complete, unless it says by `shows` what the source surely records.

Everything here is decided by the conversation alone, so that it reads alike in a file of its own and in a batch.

Known gaps: JSON inside of text is read in arguments and results, and not pointed into. A list inside a list inside an
item can't be reached. What stands beside a mapped item and has no rule of its own is counted, not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of, own_id, place_of, place_text
from averment.evidence.formats import Format
from averment.evidence.mapping import Mapping
from averment.evidence.model import MAX_SPANS, Span
from averment.evidence.pointers import ABSENT, Pointer
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.mapped_coverage import Shown, cover
from averment.evidence.readers.mapped_outcomes import Counted, Outcome, Times
from averment.evidence.readers.mapped_parts import Group, below, conversations
from averment.evidence.readers.mapped_rules import AtWork, Value, Where
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.transcript import role_of

__all__ = ["Mapped"]


class Mapped(Format, frozen=True, kw_only=True):
    """The format that a mapping describes."""

    mapping: Mapping

    @classmethod
    def by(cls, mapping: Mapping) -> Mapped:
        """The format that this mapping describes."""
        title = mapping.description or f"as the mapping {mapping.name} says"
        return cls(name=f"mapping:{mapping.name}", title=title, whole=False, mapping=mapping)

    @property
    def module(self) -> str:
        """The name of this module."""
        return __name__

    @property
    def asked(self) -> str:
        """Which mapping it was, by the digest of what it says."""
        return f"a mapping was given: {self.mapping.sha256}"

    def fits(self, value: Any) -> str | None:
        """Why a value may be read by the mapping: it is asked for, and the value is JSON."""
        return f"the mapping {self.mapping.name} was given" if isinstance(value, (dict, list)) else None

    def split(self, part: Part) -> list[Part]:
        """The conversations that a file holds.

        Raises:
            EvidenceError: there are none where the mapping says.
        """
        return conversations(part, self.mapping)

    def read(self, part: Part, draft: Draft) -> None:
        """Write one conversation to the draft."""
        _Conversation(self.mapping, part, draft).read()


class _Conversation:
    """One conversation while it is read."""

    def __init__(self, mapping: Mapping, part: Part, draft: Draft) -> None:
        self._mapping = mapping
        self._part = part
        self._value = part.value.items if isinstance(part.value, Group) else part.value
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._rules = AtWork.all_of(mapping)
        self._ignored = [Where(where) for _, where in mapping.ignored()]
        self._counted = Counted(draft)
        self._times = Times(mapping, self._counted)
        self._shown = Shown()
        self._spans: list[Span] = []
        self._span_ids: set[str] = set()
        self._is_answered = False
        self._records = self._read = 0

    def read(self) -> None:
        self._read_about()
        for text in dict.fromkeys(rule.items.text for rule in self._rules):
            self._read_list([rule for rule in self._rules if rule.items.text == text])
        if self._mapping.spans and any(rule.kind == "spans" and rule.has_items for rule in self._rules):
            self._draft.spans = self._spans
        cover(self._mapping, self._rules, self._shown, self._dialogue, self._draft)
        self._counted.write()
        self._note_not_found()
        self._draft.account(self._part.source, records=self._records, read=self._read)

    def _read_about(self) -> None:
        """What the mapping says of the conversation as a whole."""
        mapping, draft, loc = self._mapping, self._draft, self._part.loc()
        if isinstance(self._part.value, Group):
            draft.conversation_id = self._part.value.id
            if self._part.value.strays:
                detail = f"items that name no conversation are not read ({self._part.value.strays} times)"
                draft.note("item_without_conversation", loc, detail)
        if mapping.conversation_id is not UNSET:
            value = Value(mapping.conversation_id)
            own = value.of(self._value, None)
            if type(own) in (str, int):
                draft.conversation_id = str(own)
            else:
                self._note_pointer(value, "conversation_id", loc, own)
        for name in ("labels", "metadata"):
            if fields := getattr(mapping, name):
                setattr(draft, name, self._facts(name, fields, loc))
        if mapping.timing is not UNSET:
            timing = Pointer.of(mapping.timing).find(self._value)
            if type(timing) in (list, dict):
                draft.timing = timing
                draft.cover("timing", len(timing))
            else:
                self._note_pointer(Value(mapping.timing), "timing", loc, timing)
        if type(self._value) is dict:
            facts: list[Any] = [*mapping.labels.values(), *mapping.metadata.values()]
            facts += [each for each in (mapping.conversation_id, mapping.timing) if each is not UNSET]
            steps = [step for field in facts for step in Value(field).steps(outer=False)]
            steps += [step for rule in self._rules for step, _ in rule.items.steps[:1]]
            self._drop_rest(self._value, self._looked_in(steps), loc)

    def _facts(self, name: str, fields: dict[str, Any], loc: str) -> dict[str, Any]:
        found = {}
        for key, field in fields.items():
            value = Value(field)
            fact = value.of(self._value, None)
            if fact is not ABSENT:
                found[key] = fact
            else:
                self._note_pointer(value, f"{name}.{key}", loc, fact)
        return found

    def _note_pointer(self, value: Value, name: str, loc: str, found: Any) -> None:
        texts = ", ".join(f"`{text}`" for text in value.texts)
        if found is ABSENT or found is None:
            self._draft.note("pointer_matches_nothing", loc, f"`{name}` has nothing at {texts}", "info")
        else:
            detail = f"`{name}` is {kind_of(found)} at {texts}, and is not read"
            self._draft.note("wrong_type", loc, detail)

    def _read_list(self, rules: list[AtWork]) -> None:
        """Read the items of one list, by all rules for it."""
        pointer = rules[0].items
        value = pointer.find(self._value)
        if type(value) is not list:
            found = "nothing" if value is ABSENT else kind_of(value)
            labels = ", ".join(f"`{rule.label}`" for rule in rules)
            detail = f"{labels}: a list of items is expected at `{pointer.text}`, and there is {found}"
            self._draft.note("pointer_matches_nothing", self._part.loc(), detail)
            return
        if isinstance(self._part.value, Group) and not pointer.steps:
            locs = self._part.value.locs
        elif isinstance(self._part.value, Group):
            locs = [place_of(self._part.source, None)] * len(value)
        else:
            locs = below(self._part, pointer).locs()
        for rule in rules:
            rule.has_items = True
            rule.lists += value == []
        known = self._looked_in(step for rule in rules for step in rule.steps(outer=rule.each is not None))
        self._records += len(value)
        for item, loc in zip(value, locs, strict=True):
            self._read_item(rules, item, loc, known)

    def _read_item(self, rules: list[AtWork], item: Any, loc: str, known: set[str] | None) -> None:
        if self._is_ignored(item):
            self._draft.drop("an item that the mapping ignores", loc)
            return
        inner = {rule.each.text: rule.each.find(item) for rule in rules if rule.each is not None}
        carries = any(type(value) is list and value for value in inner.values())
        taken = self._apply([rule for rule in rules if rule.each is None], item, None, loc, carries=carries)
        for text, value in inner.items():
            within = [rule for rule in rules if rule.each is not None and rule.each.text == text]
            if type(value) is list:
                taken = True
                place = loc + place_text(Pointer.of(text).path(item))[1:]
                self._read_inner(within, value, item, place)
            elif value is not ABSENT and value is not None:
                self._counted.note("each_not_list", f"what stands at `{text}` is {kind_of(value)}", loc)
                self._shown.untaken(within)
        if taken:
            self._read += 1
            self._drop_rest(item, known, loc)
        else:
            self._leave(rules, loc)

    def _read_inner(self, rules: list[AtWork], items: list[Any], outer: Any, place: str) -> None:
        known = self._looked_in(step for rule in rules for step in rule.steps(outer=False))
        for rule in rules:
            rule.lists += 1
        for index, item in enumerate(items):
            loc = f"{place}[{index}]"
            if self._is_ignored(item):
                self._draft.drop("an item that the mapping ignores", loc)
            elif self._apply(rules, item, outer, loc):
                self._drop_rest(item, known, loc)
            else:
                self._leave(rules, loc)

    def _drop_rest(self, item: Any, known: set[str] | None, loc: str) -> None:
        """Count the keys of an item in which nothing looks."""
        if type(item) is dict and known is not None:
            self._draft.drop_rest(item, known, loc)

    def _looked_in(self, steps: Iterable[str | None]) -> set[str] | None:
        """Keys of items in which the mapping looks; None where it takes items whole."""
        known = [*steps, *(step for where in self._ignored for step in where.steps())]
        if isinstance(self._part.value, Group):
            known += [step for step, _ in Pointer.of(self._mapping.group_by or "").steps[:1]]
        return None if None in known else {step for step in known if step is not None}

    def _leave(self, rules: list[AtWork], loc: str) -> None:
        """Count an item that is nothing by any rule."""
        self._counted.note("item_not_taken", "no rule of the mapping takes an item", loc)
        self._shown.untaken(rules)

    def _is_ignored(self, item: Any) -> bool:
        return any(where.holds(item) for where in self._ignored)

    def _apply(self, rules: list[AtWork], item: Any, outer: Any, loc: str, *, carries: bool = False) -> bool:
        """Read an item as all that it is; whether it is anything."""
        taking = [rule for rule in rules if rule.where.holds(item)]
        carries = carries or any(rule.kind != "turns" for rule in taking)
        for rule in taking:
            rule.taken += 1
            if rule.kind == "turns":
                self._take_turn(rule, item, outer, loc, carries=carries)
            elif rule.kind == "calls":
                self._take_call(rule, item, outer, loc)
            elif rule.kind == "answers":
                self._take_answer(rule, item, outer, loc)
            else:
                self._take_span(rule, item, outer, loc)
        return bool(taking)

    def _take_turn(self, rule: AtWork, item: Any, outer: Any, loc: str, *, carries: bool) -> None:
        raw = rule.of("role", item, outer)
        if type(raw) is int:
            raw = str(raw)
        if raw is not ABSENT and raw is not None and type(raw) is not str:
            self._counted.note("role_not_text", f"a role is {kind_of(raw)}, so it is unknown", loc)
        role_raw = raw if type(raw) is str else None
        role = role_of(role_raw)
        if role == "other" and role_raw != "other":
            role = "unknown"
            self._counted.note("role_not_known", "a role is none that is known; `values` can say which", loc)
        if role == "agent":
            self._step()
        text = self._text(rule, item, outer, loc, carries=carries)
        if text is None:
            return
        start, end = self._times.of(rule, item, outer, loc)
        said = getattr(rule.rule, "said", UNSET)
        self._dialogue.turn(
            role_raw,
            text,
            loc,
            role=role,
            own=self._id(rule, item, outer, loc),
            start_ns=start,
            end_ns=end,
            clock=self._times.clock,
            speaker=self._string(rule, "speaker", item, outer, loc),
            interrupted=self._boolean(rule, "interrupted", item, outer, loc),
            final=self._boolean(rule, "final", item, outer, loc) is not False,
            said=role != "system" if said is UNSET else bool(said),
        )

    def _text(self, rule: AtWork, item: Any, outer: Any, loc: str, *, carries: bool) -> str | None:
        """What was said; None for an item in which nothing was, or in which it can't be read."""
        text = rule.of("text", item, outer)
        if type(text) in (str, list):
            text = text_of(text, loc, self._draft)
        elif text is ABSENT and not carries:
            self._counted.note("text_missing", "an utterance has no text where the mapping says", loc)
            self._shown.unread_texts += 1
            return None
        elif text is not ABSENT and text is not None:
            self._counted.note("text_not_string", f"the text of an utterance is {kind_of(text)}", loc)
            self._shown.unread_texts += 1
            return None
        if type(text) is str and text:
            return text
        if not carries:
            self._draft.drop("an utterance without words", loc)
        return None

    def _take_call(self, rule: AtWork, item: Any, outer: Any, loc: str) -> None:
        if self._is_answered:
            self._step()
        own = self._id(rule, item, outer, loc)
        outcome = Outcome.of(rule, item, outer, loc, self._counted)
        if outcome.is_unclear:
            self._shown.unclear += 1
        arguments = rule.of("arguments", item, outer)
        start, end = self._times.of(rule, item, outer, loc)
        written = rule.of("requestor", item, outer)
        requestor = _REQUESTORS.get(written) if type(written) is str else None
        if requestor is None and written is not ABSENT and written is not None:
            self._counted.note("requestor_not_known", "who called is nobody known; `values` can say", loc)
        status = outcome.pending
        if status is None and not outcome.is_shown and self._must_show_outcome(rule):
            status = "requested"
            self._shown.without_outcome += 1
        if status not in (None, "requested", "unanswered"):
            self._shown.stated += 1
        answers_itself = outcome.is_shown and own is None
        if answers_itself:
            self._step()
        self._shown.requests += 1
        self._dialogue.request(
            rule.of("name", item, outer),
            None if arguments is ABSENT else arguments,
            loc,
            own=own,
            requestor=requestor or "agent",
            status=status,
            start_ns=start,
            end_ns=end,
            clock=self._times.clock,
            latency_ms=self._times.latency(rule, item, outer, loc),
        )
        if outcome.is_shown:
            self._dialogue.answer(own=own, loc=loc, **outcome.fields())
        if answers_itself:
            self._step()

    def _must_show_outcome(self, rule: AtWork) -> bool:
        """Whether a call's own item would hold its answer: then nothing says that it was never answered."""
        if self._mapping.answers or not {"executions", "results"}.isdisjoint(self._mapping.shows or ()):
            return False
        return any(rule.value(name) is not None for name in ("result", "failed", "status"))

    def _take_answer(self, rule: AtWork, item: Any, outer: Any, loc: str) -> None:
        outcome = Outcome.of(rule, item, outer, loc, self._counted)
        if outcome.is_outstanding:
            self._draft.drop("an answer that says that there is none yet", loc)
            return
        if outcome.is_unclear:
            self._shown.unclear += 1
        start, end = self._times.of(rule, item, outer, loc)
        self._dialogue.answer(
            loc=loc,
            own=self._id(rule, item, outer, loc),
            name=self._string(rule, "name", item, outer, loc),
            start_ns=start,
            end_ns=end,
            clock=self._times.clock,
            latency_ms=self._times.latency(rule, item, outer, loc),
            **outcome.fields(),
        )
        self._is_answered = True

    def _take_span(self, rule: AtWork, item: Any, outer: Any, loc: str) -> None:
        index = len(self._spans)
        if index == MAX_SPANS:
            expected = f"at most {MAX_SPANS:,} spans"
            problem = self._part.problem("too_many_spans", "there are too many spans", expected=expected)
            self._draft.problems.append(problem)
        if index >= MAX_SPANS:
            return
        span_type: str = rule.rule.type  # type: ignore[attr-defined]
        fields = rule.fields(item, outer)
        start, end = self._times.of(rule, item, outer, loc)
        own = self._id(rule, item, outer, loc)
        position = f"s_{index}"
        self._shown.spans[span_type] = self._shown.spans.get(span_type, 0) + 1
        name = fields.get("name")
        self._spans.append(
            Span(
                id=own_id(None if own is None else str(own), position, self._span_ids) or position,
                type=span_type,
                name=name if type(name) is str else None,
                start_ns=start,
                end_ns=end,
                clock=None if start is None and end is None else self._times.clock,
                fields=fields,
                seq=self._dialogue.place(),
                loc=loc,
            )
        )

    def _step(self) -> None:
        self._dialogue.step()
        self._is_answered = False

    def _id(self, rule: AtWork, item: Any, outer: Any, loc: str) -> str | int | None:
        own = rule.of("id", item, outer)
        if own is ABSENT or own is None or own == "":
            return None
        if type(own) not in (str, int):
            self._counted.note("id_unusable", f"an id is {kind_of(own)}, and is not read", loc)
            return None
        return own  # type: ignore[no-any-return]

    def _string(self, rule: AtWork, name: str, item: Any, outer: Any, loc: str) -> str | None:
        value = rule.of(name, item, outer)
        if type(value) is str:
            return value
        if value is not ABSENT and value is not None:
            self._counted.note("wrong_type", f"`{name}` is {kind_of(value)}, and is not read", loc)
        return None

    def _boolean(self, rule: AtWork, name: str, item: Any, outer: Any, loc: str) -> bool | None:
        value = rule.of(name, item, outer)
        if type(value) is bool:
            return value
        if value is not ABSENT and value is not None:
            self._counted.note("wrong_type", f"`{name}` is {kind_of(value)}, and is not read", loc)
        return None

    def _note_not_found(self) -> None:
        """Note the pointers that led nowhere in all of the conversation; most likely they are misspelt."""
        loc = self._part.loc()
        for rule in self._rules:
            if rule.taken:
                for name, value in rule.never_found():
                    texts = ", ".join(f"`{text}`" for text in value.texts)
                    times = "the 1 item" if rule.taken == 1 else f"any of the {rule.taken} items"
                    detail = f"`{rule.label}`: `{name}` is not at {texts} in {times} that the rule takes"
                    self._draft.note(
                        "pointer_matches_nothing", loc, detail, "warning" if name in _NEEDED else "info"
                    )
            elif rule.has_items:
                for text in rule.where.never_found():
                    detail = f"`{rule.label}`: `where` finds nothing at `{text}` in any item"
                    self._draft.note("pointer_matches_nothing", loc, detail)
                self._draft.note("rule_takes_nothing", loc, f"`{rule.label}` takes no item", "info")


_REQUESTORS: dict[str, Literal["agent", "user", "system"]] = {
    "agent": "agent",
    "user": "user",
    "system": "system",
}
"""Who may call; a default is left out of a written model only when it is the very object."""
_NEEDED = frozenset({"text", "role", "name", "arguments", "result"})
"""What an item can hardly be without."""
