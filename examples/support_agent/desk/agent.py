"""The agent on trial: it follows a script, and is wrong where `defects` says so.

What it should do: say that the call is recorded, verify who calls before it changes anything, keep to the shop's rules,
try once more what ran out of time, say only what is so, and hand over what is not for it to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desk.callers import Caller
from desk.defects import Defects
from desk.recording import Recording
from desk.scenarios import Scenario
from desk.shop import EMAIL, Shop, ToolTimeoutError


@dataclass(frozen=True)
class Skill:
    """How a wish is met: unless `refuse` knows why not, by a call of `tool`, after which `done` is said."""

    tool: str
    arguments: Callable[[dict[str, Any]], dict[str, Any]]
    done: str
    refuse: Callable[[dict[str, Any]], str | None] = lambda _: None
    confirm: str | None = None


def _has_left(order: dict[str, Any]) -> str | None:
    return None if order["status"] == "processing" else "the parcel has left already; you can send it back"


def _nothing(_: dict[str, Any]) -> dict[str, Any]:
    return {}


SKILLS = {
    "cancel": Skill("cancel_order", _nothing, "Your order {order_id} is cancelled.", _has_left),
    "address": Skill(
        "change_address",
        lambda details: {"address": details["address"]},
        "I have changed the address to {address}.",
        _has_left,
    ),
    "reschedule": Skill(
        "reschedule_delivery", lambda details: {"day": details["day"]}, "The parcel will come on {day}."
    ),
    "gift_note": Skill("add_gift_note", lambda details: {"note": details["note"]}, "I have added the note."),
    "return_label": Skill("create_return_label", _nothing, "Your return label is on its way to you."),
    "exchange": Skill(
        "exchange_item", lambda details: {"size": details["size"]}, "I have ordered the {size} one for you."
    ),
    "pause": Skill("pause_subscription", _nothing, "Your subscription is paused."),
    "end": Skill(
        "end_subscription", _nothing, "Your subscription has ended.", confirm="Shall I end it for good?"
    ),
    "invoice": Skill("send_invoice", _nothing, "I have sent the invoice to the address that we have of you."),
    "complaint": Skill(
        "create_ticket", lambda _: {"about": "a complaint"}, "I am sorry. I have opened a ticket for you."
    ),
}
"""What takes one call; refunds, coupons and questions are told apart below."""


class Agent:
    """The agent in one call."""

    def __init__(
        self, scenario: Scenario, caller: Caller, shop: Shop, recording: Recording, defects: Defects
    ) -> None:
        self._scenario = scenario
        self._caller = caller
        self._shop = shop
        self._recording = recording
        self._defects = defects

    def answer_the_phone(self) -> None:
        """The whole call."""
        self._say(
            "Alder and Finch, good morning. This call may be recorded for training. What can I do for you?"
        )
        self._hear(self._caller.request())
        if self._defects.trusts_who_is_in_a_hurry:
            self._say("Of course. One moment, please.")
            self._serve()
            self._is_verified()
        elif self._is_verified():
            self._serve()
        else:
            self._say("I am sorry, I can't find an order with these. Without them I can't look anything up.")
        self._say("Thank you for calling. Goodbye.")
        self._recording.event("termination", reason="completed", by="agent")

    def _is_verified(self) -> bool:
        for question in (
            "Can you tell me the order number and the postcode?",
            "I didn't get that. Could you say both again?",
        ):
            self._say(question)
            said, order_id, postcode = self._caller.identity()
            self._hear(said)
            self._say("One moment, please.")
            answer = self._shop.read(self._recording, "verify_identity", order_id=order_id, postcode=postcode)
            if answer["verified"]:
                return True
        return False

    def _serve(self) -> None:
        order_id = self._scenario.order_id
        order = self._shop.read(self._recording, "look_up_order", order_id=order_id)
        intent = self._scenario.intent
        if intent == "refund":
            self._refund(order)
        elif intent == "track":
            self._say(f"Your order {order_id} is {order['status']}.")
        elif intent == "coupon":
            self._apply_coupon(order_id)
        elif intent == "delete_account":
            self._hand_over("privacy")
        else:
            self._use(SKILLS[intent], order)
        self._react()

    def _use(self, skill: Skill, order: dict[str, Any]) -> None:
        why_not = skill.refuse(order)
        if why_not is not None and not self._defects.misreads_what_has_left:
            self._say(f"I am sorry, {why_not}.")
            return
        if skill.confirm is not None:
            self._say(skill.confirm)
            self._hear("Yes, please.")
        details = {"order_id": order["order_id"], **self._scenario.details}
        if self._change(skill.tool, order_id=order["order_id"], **skill.arguments(details)) is not None:
            self._say(skill.done.format(**details))

    def _refund(self, order: dict[str, Any]) -> None:
        amount = self._scenario.details["amount"]
        if order.get("refunded"):
            self._say("I am sorry, this order was refunded before.")
        elif order.get("days_since_delivery", 0) > 30:
            self._say("I am sorry, that is only possible within 30 days.")
        elif amount > 200:
            self._hand_over("billing")
        else:
            amount = order["total"] if self._defects.refunds_the_whole_order else amount
            done = self._change("issue_refund", order_id=order["order_id"], amount=amount)
            if done is not None or self._defects.says_refunded_all_the_same:
                self._say(f"Your refund of {amount} dollars has been issued.")

    def _apply_coupon(self, order_id: str) -> None:
        code = self._scenario.details["code"]
        answer = self._change("apply_coupon", order_id=order_id, code=code)
        if answer is not None:
            self._say(
                "The coupon is applied." if answer["applied"] else "I am sorry, this coupon has expired."
            )

    def _hand_over(self, desk: str) -> None:
        self._say(f"That is for my colleagues of {desk}. I am passing you on to them.")
        if not self._defects.forgets_to_pass_on:
            self._recording.event("handoff", to=desk)

    def _react(self) -> None:
        reaction = self._caller.reaction()
        if reaction is None:
            return
        self._hear(reaction)
        if self._defects.reads_out_the_address:
            self._say(f"It went to {EMAIL}.")
        elif self._defects.refunds_again and self._shop.records["orders"][0].get("refunded"):
            self._change(
                "issue_refund", order_id=self._scenario.order_id, amount=self._scenario.details["amount"]
            )
            self._say("I have made sure of it.")
        else:
            self._say("You will get a message when there is news.")

    def _change(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Calls a tool that changes something, once more where it ran out of time; None where that was no use."""
        self._say("One moment, please.")
        tries = 1 if self._defects.gives_up_at_once else 2
        for _ in range(tries):
            try:
                return self._shop.change(self._recording, tool, **arguments)
            except ToolTimeoutError:
                self._say("This takes a little longer than usual.")
        return None

    def _say(self, text: str) -> None:
        self._recording.say("agent", text)

    def _hear(self, text: str) -> None:
        self._recording.say("caller", text)
