"""What a mapped conversation can and can't show: decided by its mapping, and by what its rules met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET
from msgspec.structs import replace

from averment.evidence.draft import OF_ANSWERS, OF_CALLS, Draft
from averment.evidence.mapping import OF_SPANS, Mapping
from averment.evidence.mapping_checks import MAPPED_BY
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.mapped_rules import AtWork

__all__ = ["Shown", "cover"]

_CHANNELS_OF = {"turns": ("transcript",), "calls": OF_CALLS, "answers": OF_ANSWERS}


class Shown:
    """What the rules met in one conversation."""

    def __init__(self) -> None:
        self.unread_texts = 0
        """Utterances whose text is missing or can't be read."""
        self.requests = 0
        """Calls."""
        self.without_outcome = 0
        """Calls whose own item would say how they went, and doesn't."""
        self.stated = 0
        """Calls that were not carried out, as their status says."""
        self.unclear = 0
        """Calls of which it is said how they went in words that nobody knows."""
        self.spans: dict[str, int] = {}
        self.untaken_by: dict[str, int] = {}
        """By channel, how many items there were that could have been something of it and are nothing."""

    def untaken(self, rules: Iterable[AtWork]) -> None:
        """An item that no rule takes may be anything that these rules look for."""
        for channel in {channel for rule in rules for channel in channels_of(rule)}:
            self.untaken_by[channel] = self.untaken_by.get(channel, 0) + 1


def channels_of(rule: AtWork) -> tuple[str, ...]:
    """The channels that a rule brings something to."""
    if rule.kind != "spans":
        return _CHANNELS_OF[rule.kind]
    span_type = getattr(rule.rule, "type", "")
    return (OF_SPANS[span_type],) if span_type in OF_SPANS else ()


def cover(mapping: Mapping, rules: list[AtWork], shown: Shown, dialogue: Dialogue, draft: Draft) -> None:
    """Finish the dialogue, and say of each channel how much of it is shown."""
    _Covering(mapping, rules, shown, dialogue, draft).cover()


class _Covering:
    def __init__(
        self, mapping: Mapping, rules: list[AtWork], shown: Shown, dialogue: Dialogue, draft: Draft
    ) -> None:
        self._mapping = mapping
        self._rules = rules
        self._shown = shown
        self._dialogue = dialogue
        self._draft = draft
        self._declared = None if mapping.shows is UNSET else frozenset(mapping.shows)
        self._is_flagged = any(rule.was_found("error", "failed", "status") for rule in rules)
        self._only_errors = "executions" not in mapping.channels()

    def cover(self) -> None:
        self._finish()
        maps = self._mapping.channels()
        for channel in MAPPED_BY:
            if channel not in maps:
                self._leave_out(channel)
            elif channel == "timing":
                if self._draft.timing is None:
                    self._limit(channel, "absent", "the conversation has no timing events", _CHECK)
            else:
                self._cover(channel)
        self._break_up_orders()

    def _finish(self) -> None:
        """Let the dialogue decide how far calls came, by what the conversation proves or the mapping declares."""
        answered = self._is_declared("executions") or self._is_declared("results")
        answered = answered or self._dialogue.answers > 0 or self._shown.stated > 0
        self._dialogue.finish(
            records_answers=answered and not self._only_errors,
            flags_failures=self._is_declared("errors") or self._is_flagged,
        )

    def _is_declared(self, channel: str) -> bool:
        return self._declared is not None and channel in self._declared

    def _leave_out(self, channel: str) -> None:
        """A channel that is not mapped; what the dialogue made of nothing is nothing."""
        self._limit(channel, "absent", "it is not mapped", _map(channel))
        if channel == "transcript":
            self._draft.turns = None
        elif channel == "requests":
            self._draft.calls = None
        elif channel == "errors" and self._draft.calls and self._dialogue.answers:
            reason = "no mark for a call that failed is mapped; only what its tool answered can tell"
            self._limit(channel, "partial", reason, _map(channel))
        elif channel == "executions" and self._dialogue.answers:
            self._limit(channel, "partial", _ONLY_ERRORS, _map(channel))

    def _cover(self, channel: str) -> None:
        """A channel that is mapped."""
        draft, shown = self._draft, self._shown
        if channel in OF_SPANS.values():
            types = [name for name, of in OF_SPANS.items() if of == channel]
            draft.cover(channel, sum(shown.spans.get(name, 0) for name in types))
        rules = [rule for rule in self._rules if channel in channels_of(rule)]
        without_list = sum(not rule.has_items for rule in rules)
        if without_list and without_list == len(rules):
            reason = "the conversation has no list of items where the mapping says"
            self._limit(channel, "absent", reason, _CHECK)
            if channel == "transcript":
                draft.turns = None
            elif channel == "requests":
                draft.calls = draft.calls or None  # answers may tell of calls
            return
        reasons = [*self._doubts(channel, rules)]
        if without_list:
            reasons.append(("the conversation lacks a list of items that the mapping names", _CHECK))
        if channel == "errors" and self._only_errors and self._dialogue.answers:
            self._limit(channel, "partial", _ONLY_ERRORS, _map("executions"))
        elif draft.coverage[channel].state == "absent":
            reason = "the conversation holds calls, and of none says that it ran or what was answered"
            self._limit(channel, "absent", reason, _CHECK)
        elif reasons:
            reason = "; ".join(reason for reason, _ in reasons)
            self._limit(channel, "partial", reason, reasons[0][1])

    def _doubts(self, channel: str, rules: list[AtWork]) -> Iterator[tuple[str, str]]:
        """Why not all of a channel may be shown, each with what to do."""
        shown = self._shown
        if channel == "transcript" and shown.unread_texts:
            yield f"the text can't be read of {_items(shown.unread_texts)}", _TEXTS
        if channel in OF_CALLS[1:] and shown.without_outcome:
            reason = f"nothing is said of how it went by {_items(shown.without_outcome)}"
            yield reason, f"Map `status` or `failed`. {_declare('executions')}"
        if channel in ("executions", "errors") and shown.unclear:
            reason = f"in words that nobody knows it is said how it went by {_items(shown.unclear)}"
            yield reason, "Give the words of `status` or `failed` their meaning by `values`."
        if self._declared is not None:
            if channel not in self._declared:
                yield "the mapping does not say that the source always shows it", _declare(channel)
            return
        if count := shown.untaken_by.get(channel):
            yield f"no rule takes {_items(count)}, which may be part of it", _untaken(channel)
        for rule in rules:
            if rule.taken == 0 and rule.each is not None and not rule.lists:
                yield f"no item has a list at `{rule.each.text}`, as `{rule.label}` says", _declare(channel)
            elif rule.taken == 0 and (texts := rule.where.never_found()):
                yield f"no item has a value at `{texts[0]}`, as `{rule.label}` says", _declare(channel)
        if channel == "errors" and self._draft.calls and not self._is_flagged:
            yield "no call has a mark where the mapping looks whether it failed", _declare(channel)

    def _limit(self, channel: str, state: str, reason: str, how: str) -> None:
        self._draft.limit(channel, state, reason, how)  # type: ignore[arg-type]

    def _break_up_orders(self) -> None:
        """Turns, calls and events out of several lists have no order in common but that of their times."""
        draft = self._draft
        # A call of which only the answer is there has its place where that stands.
        is_answered_only = len(draft.calls or ()) > self._shown.requests
        of_order = [
            rule for rule in self._rules if rule.taken and (rule.kind != "answers" or is_answered_only)
        ]
        if len({rule.items.text for rule in of_order}) < 2:
            return
        draft.turns = draft.turns and [replace(turn, seq=None) for turn in draft.turns]
        draft.calls = draft.calls and [replace(call, seq=None) for call in draft.calls]
        draft.spans = draft.spans and [replace(span, seq=None) for span in draft.spans]


_ONLY_ERRORS = "of the calls only those that went wrong are known to have run"
_CHECK = "Check the mapping's pointers against the file."
_TEXTS = "Check `text`, or take only items with a text: `where: {/text: {exists: true}}`."


def _map(channel: str) -> str:
    return f"Map it, if the source has it: {MAPPED_BY[channel]} in the mapping file."


def _declare(channel: str) -> str:
    return (
        f"If the source records it whenever it happens, list `{channel}` under `shows` in the mapping file."
    )


def _untaken(channel: str) -> str:
    return f"Map these items, or list them under `ignore`. {_declare(channel)}"


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"
