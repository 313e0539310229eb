"""Realistic voice-support conversations, made up from a seed.

Conversation `index` depends on `(seed, index)` only, so any part of a corpus can be made anywhere and is the same
bytes on every Python: nothing but `random()` is asked of the generator, whose sequence for a seed is fixed by the
standard library's documentation. One conversation is a shop's customer asking for a refund: about 40 turns, 25
spans and 19 KB of JSON, an eighth of the turns outside ASCII, some with a test card number or an example.com
address. Some agents do what they say, some don't.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, TypeVar

__all__ = ["conversation", "conversation_bytes"]

_T = TypeVar("_T")


def conversation(seed: int, index: int) -> dict[str, Any]:
    """One conversation record: conversation_id, transcript, spans, timing, state, metadata and labels."""
    return _Call(seed, index).record()


def conversation_bytes(seed: int, index: int) -> bytes:
    """The same as one line of JSON, UTF-8, as a recorder would write it."""
    return json.dumps(conversation(seed, index), ensure_ascii=False).encode()


class _Dice:
    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def whole(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, items: Sequence[_T]) -> _T:
        return items[int(self._random() * len(items))]


class _Call:
    """One call while it is told; the clock runs in milliseconds."""

    def __init__(self, seed: int, index: int) -> None:
        self._dice = dice = _Dice(f"{seed}:{index}")
        self._id = f"call-{seed}-{index:07d}"
        self._now = dice.whole(200, 900)
        self._turns: list[dict[str, Any]] = []
        self._spans: list[dict[str, Any]] = []
        self._timing: list[dict[str, Any]] = []
        self._course = dice.pick(_COURSES)
        self._name = dice.pick(_NAMES)
        self._agent = dice.pick(_AGENTS)
        self._item = dice.pick(_ITEMS)
        self._order = f"R{dice.whole(100, 999)}-{dice.pick('ABCDEFGH')}{dice.whole(10, 99)}"
        self._amount = dice.whole(8, 240)
        self._email = f"{dice.pick(_MAILBOXES)}{dice.whole(1, 99)}@example.com"

    def record(self) -> dict[str, Any]:
        self._open()
        self._identify()
        self._look_up()
        while len(self._turns) < 30 + self._dice.whole(0, 4):
            self._small_talk()
        self._settle()
        self._close()
        record: dict[str, Any] = {
            "conversation_id": self._id,
            "transcript": self._turns,
            "spans": self._spans,
            "timing": self._timing,
        }
        if self._course != "dropped":
            record["state"] = self._state()
        record["metadata"] = {
            "channel": "phone",
            "queue": self._dice.pick(("refunds", "orders", "general")),
            "agent_version": f"2026.{self._dice.whole(1, 12)}.{self._dice.whole(0, 9)}",
            "region": self._dice.pick(("us-east", "us-west", "eu-central")),
            "duration_sec": self._now / 1000,
        }
        record["labels"] = {"experiment": self._dice.pick(("control", "shorter-greeting"))}
        return record

    def _open(self) -> None:
        notice = "This call may be recorded for quality and training. " if self._dice.chance(0.88) else ""
        self._agent_says(
            f"Thank you for calling Harbor Goods. {notice}My name is {self._agent}, how can I help?"
        )
        self._caller_says(
            f"Hi, this is {self._name}. I ordered {self._item} two weeks ago and {self._dice.pick(_COMPLAINTS)}"
        )
        self._agent_says(f"I am sorry to hear that, {self._name}. {self._dice.pick(_SYMPATHY)}")
        self._small_talk()

    def _identify(self) -> None:
        if self._dice.chance(0.92):
            self._agent_says(
                "Before I look at the order I need to verify your identity. Please key in your PIN."
            )
            digits = str(self._dice.whole(1000, 9999))
            self._span("dtmf", digits=digits[0] + "***", time_sec=self._now / 1000)
            self._caller_says(
                self._dice.pick(("Done, I typed it in.", "Okay, that should be it.", "One moment... done."))
            )
            verified = self._dice.chance(0.95)
            self._tool(
                "verify_identity",
                {
                    "customer": self._name,
                    "method": self._dice.pick(("pin", "pin", "pin", "passphrase")),
                    "attempt": 1,
                },
                {
                    "verified": verified,
                    "customer_id": f"C{self._dice.whole(10000, 99999)}",
                    "level": "standard",
                },
            )
            self._agent_says(
                "Thank you, you are verified." if verified else "That did not match, let me check by hand."
            )
        if self._dice.chance(0.2):
            self._agent_says("Which address should I send the confirmation to?")
            self._caller_says(f"Please use {self._email}, that is the one I read.")
        if self._dice.chance(0.1):
            last = self._dice.whole(100, 199)
            self._caller_says(f"If we get cut off, my number is 206-555-0{last}, call me back please.")

    def _look_up(self) -> None:
        self._caller_says(f"The order is {self._order}, if that helps. It was {self._item}.")
        self._think()
        lines = [
            {
                "sku": f"SKU-{self._dice.whole(1000, 9999)}",
                "title": self._dice.pick(_ITEMS),
                "quantity": self._dice.whole(1, 3),
                "unit_price": self._dice.whole(5, 200) + 0.99,
                "warehouse": self._dice.pick(("north", "south", "harbor")),
                "returnable": self._dice.chance(0.9),
            }
            for _ in range(self._dice.whole(3, 6))
        ]
        found = self._dice.chance(0.93)
        self._tool(
            "lookup_order",
            {"order_id": self._order, "include": ["lines", "shipments", "payments"]},
            {
                "found": found,
                "order_id": self._order,
                "status": self._dice.pick(("delivered", "delivered", "shipped", "returned")),
                "lines": lines,
                "shipments": [
                    {"carrier": "Northline", "tracking": f"NL-{self._dice.whole(1000, 9999)}", "days": 4}
                ],
                "notes": self._dice.pick(_NOTES),
            },
        )
        self._agent_says(f"I can see order {self._order} here. {self._dice.pick(_SYMPATHY)}")
        self._tool(
            "check_refund_policy",
            {"order_id": self._order, "reason": self._dice.pick(("damaged", "late", "wrong_item"))},
            {"eligible": self._course != "declined", "window_days": 30, "rule": self._dice.pick(_NOTES)},
        )
        if self._dice.chance(0.12):
            self._caller_says(
                f"Can you put it back on the card? It is {self._dice.pick(_TEST_CARDS)}, the blue one."
            )

    def _settle(self) -> None:
        amount, currency = self._amount, self._dice.pick(("USD", "USD", "EUR"))
        arguments = {
            "order_id": self._order,
            "amount": amount,
            "currency": currency,
            "channel": "original_payment",
        }
        if self._course == "declined":
            self._agent_says(
                "I am afraid this order is outside the refund window, so I can't refund it today."
            )
            self._caller_says("That is not what your website says, but fine.")
            return
        self._agent_says(f"I will refund {amount} {currency} to the way you paid. Is that all right?")
        self._caller_says(
            self._dice.pick(("Yes, go ahead please.", "Yes please, thank you!", "Sure, that works."))
        )
        if self._course in {"refunded", "failed", "dropped"}:
            if self._dice.chance(0.15):
                self._span("tool_timeout", name="issue_refund", time_sec=self._now / 1000)
                self._tool("issue_refund", arguments, None, error="gateway did not answer")
            if self._course == "failed":
                self._tool(
                    "issue_refund", arguments, {"status": "rejected"}, error="payment provider refused"
                )
            else:
                reference = f"RF-{self._dice.whole(1000, 9999)}"
                self._tool(
                    "issue_refund", arguments, {"status": "issued", "reference": reference, "amount": amount}
                )
                if self._dice.chance(0.05):
                    self._tool(
                        "issue_refund",
                        arguments,
                        {"status": "issued", "reference": reference, "amount": amount},
                    )
        if self._course != "failed" or self._dice.chance(0.5):
            self._agent_says(
                f"Your refund of {amount} {currency} has been issued, you will see it in three to five days."
            )
        else:
            self._agent_says("The payment provider refused it, so I will open a ticket for a colleague.")
        if self._dice.chance(0.8):
            self._tool(
                "send_confirmation",
                {
                    "channel": self._dice.pick(("email", "email", "sms")),
                    "template": "refund_v3",
                    "order_id": self._order,
                },
                {"queued": True, "message_id": f"m-{self._dice.whole(1000, 9999)}"},
            )

    def _close(self) -> None:
        for _ in range(self._dice.whole(1, 3)):
            self._small_talk()
        if self._dice.chance(0.12):
            self._agent_says(self._dice.pick(_SLIPS))
        if self._course == "dropped":
            self._caller_says("Hello? Are you still there? I can't hear—")
        else:
            self._tool(
                "close_ticket",
                {"ticket": f"T-{self._dice.whole(1000, 9999)}", "resolution": self._course},
                {"closed": self._dice.chance(0.9)},
            )
            self._caller_says(
                self._dice.pick(("Thanks, bye.", "Great, thank you so much. Goodbye!", "Merci, à bientôt!"))
            )
            self._agent_says(f"Thank you for calling Harbor Goods, {self._name}. Goodbye!")
        by = "caller" if self._course == "dropped" or self._dice.chance(0.6) else "agent"
        self._span("call_ended", by=by, reason="hangup", time_sec=self._now / 1000)

    def _small_talk(self) -> None:
        self._caller_says(self._lines(_CALLER_LINES))
        if self._dice.chance(0.3):
            self._think()
        self._agent_says(self._lines(_AGENT_LINES))
        if self._dice.chance(0.12):
            self._span("tts_cancel_requested", time_sec=self._now / 1000, attributes={"cause": "barge_in"})

    def _lines(self, bank: Sequence[str]) -> str:
        """Two different lines of a bank, said in one breath."""
        place = self._dice.whole(0, len(bank) - 1)
        said = f"{bank[place]} {bank[(place + self._dice.whole(1, 5)) % len(bank)]}"
        return said.format(item=self._item, weeks=self._dice.whole(2, 9))

    def _agent_says(self, text: str) -> None:
        self._say("agent", text)

    def _caller_says(self, text: str) -> None:
        self._say("caller", text)

    def _say(self, role: str, text: str) -> None:
        if self._dice.chance(0.03):
            text = text.replace(", ", " — ", 1)
        start = self._now + self._dice.whole(150, 1400)
        end = start + 55 * len(text) + self._dice.whole(0, 500)
        self._now = end
        self._turns.append({"role": role, "text": text, "start": start / 1000, "end": end / 1000})
        if role == "agent":
            gap = self._dice.whole(150, 1400)
            if len(self._timing) < 6:
                self._timing.append(
                    {
                        "event_id": f"e{len(self._timing) + 1}",
                        "verdict": {"passed": gap < 1200, "did_yield": self._dice.chance(0.9)},
                        "signals": {"latency": {"response_gap_sec": gap / 1000}},
                    }
                )

    def _think(self) -> None:
        latency = self._dice.whole(180, 1600)
        attributes = {"model": "voice-large", "prompt_tokens": self._dice.whole(900, 4000), "temperature": 0}
        self._span("llm_first_token", time_sec=self._now / 1000, latency_ms=latency, attributes=attributes)
        self._now += latency

    def _tool(self, name: str, arguments: dict[str, Any], result: Any, error: str | None = None) -> None:
        """A call of a tool and the HTTP request behind it."""
        self._think()
        start, latency = self._now, self._dice.whole(60, 1900)
        self._now += latency + 20
        outcome = {"status": "ok", "result": result} if error is None else {"status": "error", "error": error}
        times = {"start_sec": start / 1000, "end_sec": self._now / 1000}
        self._span(
            "tool_call",
            name=name,
            arguments=arguments,
            **outcome,
            latency_ms=latency + 20,
            **times,
            attributes=self._attributes("agent-runtime"),
        )
        self._span(
            "http_exchange",
            method="POST",
            url=f"https://api.example.com/v2/{name.replace('_', '/')}",
            status_code=200 if error is None else 502,
            start_sec=start / 1000,
            end_sec=(start + latency) / 1000,
            attributes=self._attributes("edge-gateway"),
            response={"ok": error is None, "request_id": f"q-{self._dice.whole(100000, 999999)}"},
        )

    def _attributes(self, service: str) -> dict[str, Any]:
        """What tracing libraries add to a span on their own."""
        return {
            "service.name": service,
            "service.version": "4.2.1",
            "deployment.environment": "production",
            "host.name": f"{service}-{self._dice.whole(1, 40)}",
            "trace.id": f"t{self._dice.whole(10**8, 10**9)}",
            "thread.name": "worker",
            "telemetry.sdk": "harbor-otel",
        }

    def _span(self, kind: str, **fields: Any) -> None:
        self._spans.append({"type": kind, **fields})

    def _state(self) -> dict[str, Any]:
        refunded = self._course == "refunded"
        order = {
            "order_id": self._order,
            "customer": self._name,
            "total": self._amount + 12,
            "currency": "USD",
        }
        refunds = [
            {
                "order_id": f"R{self._dice.whole(100, 999)}-Z{number}",
                "kind": "earlier",
                "status": "settled",
                "amount": 5,
            }
            for number in range(self._dice.whole(1, 3))
        ]
        if refunded:
            status = "settled" if self._dice.chance(0.9) else "pending"
            refunds.append(
                {"order_id": self._order, "kind": "current", "status": status, "amount": self._amount}
            )
        state = "closed" if self._dice.chance(0.85) else "open"
        return {
            "orders": {
                "before": [{**order, "status": "delivered", "refunded": 0}],
                "after": [{**order, "status": "delivered", "refunded": self._amount if refunded else 0}],
            },
            "refunds": refunds,
            "tickets": [
                {
                    "kind": "refund",
                    "state": state,
                    "history": [{"by": self._agent, "note": self._dice.pick(_NOTES)}],
                }
            ],
        }


# How calls go: what the agent says of the refund and what was done about it are two things.
_COURSES = ("refunded",) * 13 + ("claimed",) * 2 + ("declined",) * 2 + ("failed",) * 2 + ("dropped",)
_NAMES = ("Zoë Marsh", "Hugo Ortega", "Dana Whitfield", "Priya Nair", "Łukasz Wrona", "Tom Alder", "Grace Obi",
          "Ines Cole", "Nils Holm", "Mary Beck", "Omar Haddad", "Lena Fischer")  # fmt: skip
_AGENTS = ("Riley", "Morgan", "Avery", "Jordan")
_MAILBOXES = ("z.marsh", "orders", "dana_w", "home", "pn", "t.alder")
_ITEMS = ("a kettle", "the walnut desk", "two bread knives", "a rain jacket", "the café set", "a desk lamp",
          "the cast-iron pan", "a pair of boots", "the crème brûlée torch", "four linen sheets")  # fmt: skip
# Numbers that payment providers publish for tests.
_TEST_CARDS = ("4111 1111 1111 1111", "4242-4242-4242-4242", "5555 5555 5555 4444", "378282246310005")
_COMPLAINTS = (
    "it arrived with a crack right through the middle, so I can't use it at all.",
    "it never came, although the tracking page says somebody signed for it on Tuesday.",
    "what I got was a different colour from the one on the website, and too small as well.",
    "it stopped working on the second day. I have tried everything in the booklet, twice.",
)
_SYMPATHY = (
    "That is not how it should arrive, and I will see what I can do about it right away.",
    "Let us get that sorted out together, it should only take a few minutes.",
    "I understand how annoying that is. I will stay on the line until this is settled.",
)
_NOTES = (
    "Customer called twice before; second parcel was returned by the carrier on the 14th.",
    "Eligible within thirty days of delivery, original payment only, photo not needed below 250.",
    "Gift order: invoice went to another address. Prefers e-mail over phone, speaks French (préfère le français).",
    "Left at the side door; neighbour confirmed. Packaging was wet according to the driver.",
)
_CALLER_LINES = (
    "I have been waiting for {weeks} weeks now, and nobody could tell me where {item} was in all that time.",
    "Sorry, the line is a bit bad here. Could you say that again? I only heard the last half of it.",
    "My sister bought the same thing from you and hers is fine, so I suppose I was just unlucky.",
    "I already wrote about {item} through the form on the page, but all I got was an automatic answer.",
    "No, I have not thrown away the box. It is still in the hallway, with the label and everything on it.",
    "It was meant to be a birthday present, so you can imagine how that went. We laughed, in the end.",
    "The driver left it with the neighbours, number forty-two, the café on the corner, and they were away.",
    "Right. And how long does it usually take? The last time it was about {weeks} days, if I remember right.",
    "I don't want a replacement, thank you. I found another one in town and I would rather have the money back.",
    "Hold on, someone is at the door... okay, I am back. Where were we? You were looking at the order.",
    "Is there something I have to print? My printer gave up last month and I have not got a new one yet.",
    "I tried the app first. It said that {item} can't be returned online and that I should call you instead.",
    "Yes, the small one, not the big one. I think the invoice calls it something else, but that is the one.",
    "That is fine with me. As long as it is done today I really don't mind which way you do it.",
    "It cost a bit over {weeks}0 euros, with shipping, if the mail that I have here in front of me is right.",
    "Mm-hm. Yes. I see. And would that be before or after the holidays? We are away for {weeks} days.",
)
_AGENT_LINES = (
    "I see, thank you for explaining. Let me write that down so you don't have to tell anyone a second time.",
    "One moment please while the page loads. It is a little slow this morning, I hope you don't mind waiting.",
    "You will not have to send {item} back, we only ask you to keep the box for {weeks} days, just in case.",
    "According to the carrier it left our warehouse on Monday and changed hands in two places after that.",
    "That is quite all right, take your time. I have the record open here and nothing will get lost.",
    "We had a few of these with {item} lately, and the warehouse is already looking into the packaging.",
    "Of course. The confirmation has all the details, and a link that is good for {weeks} weeks.",
    "I have added a note for the team, so if you call again they will see at once what we agreed on.",
    "Good question. Normally the bank needs three to five working days, sometimes a day more over a weekend.",
    "Let me read that back to you: you would like your money back and no replacement, is that correct?",
    "There is nothing to print. The label, if you ever need one, is a code that you can show on your phone.",
    "I am just checking whether there is anything else on the order that we should look at while you are here.",
    "Thanks for your patience. Everything that I need is on the screen now, so this will be quick.",
    "No problem at all, I can repeat it, the line was breaking up on my side as well for a few seconds.",
    "That was with our old carrier. Since March we work with Northline and it has been a lot better, honestly.",
    "I can hear you fine now. If we do get disconnected I will call you back on the number you called from.",
)
_SLIPS = (
    "I guarantee that this will never happen to you again, you have my word on it.",
    "Honestly, between you and me, the warehouse loses things all the time.",
    "Please calm down, I am doing what I can here.",
    "You should have read the terms and conditions before you ordered.",
    "It is 100% risk-free to order again, I promise you.",
)
