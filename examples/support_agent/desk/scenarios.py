"""The twenty-five reasons to call, and what is true of the order that each is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Scenario:
    """Why somebody calls.

    Attributes:
        name: the scenario's name.
        intent: what the caller wants, one of the agent's skills.
        request: how a plain caller says it.
        order: what the shop has of the order, beside its id, postcode and e-mail address.
        details: what the skill needs to know: an amount, an address, a code.
        postcode: what the caller says that the postcode is.
        is_known: whether the shop has an order of that number.
    """

    name: str
    intent: str
    request: str
    order: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    postcode: str = "BN1 4GH"
    is_known: bool = True

    @property
    def order_id(self) -> str:
        """The number of the order; each scenario has its own."""
        return f"A-{1001 + [each.name for each in SCENARIOS].index(self.name)}"


def _delivered(days: int, total: int = 42, **more: Any) -> dict[str, Any]:
    return {"status": "delivered", "days_since_delivery": days, "total": total, **more}


_PROCESSING = {"status": "processing", "total": 64}
_SHIPPED = {"status": "shipped", "total": 64}
_NEW_ADDRESS = {"address": "7 Mill Lane"}

SCENARIOS = (
    Scenario(
        "refund-damaged",
        "refund",
        "My lamp arrived broken, and I would like my money back.",
        _delivered(3),
        {"amount": 42},
    ),
    Scenario(
        "refund-one-item",
        "refund",
        "Of the two things I ordered the vase is cracked. I would like the 35 dollars for it back.",
        _delivered(5, 95),
        {"amount": 35},
    ),
    Scenario(
        "refund-lost",
        "refund",
        "My parcel got lost, and I would like my money back.",
        {"status": "lost", "total": 75},
        {"amount": 75},
    ),
    Scenario(
        "refund-large",
        "refund",
        "The table has a scratch, and I would like my money back.",
        _delivered(4, 480),
        {"amount": 480},
    ),
    Scenario(
        "refund-late",
        "refund",
        "I don't like the rug after all. I would like my money back.",
        _delivered(45),
        {"amount": 42},
    ),
    Scenario(
        "refund-again",
        "refund",
        "I would like my money back for the chair.",
        _delivered(9, 58, refunded=58),
        {"amount": 58},
    ),
    Scenario("track-processing", "track", "Where is my order?", _PROCESSING),
    Scenario("track-shipped", "track", "Where is my parcel?", _SHIPPED),
    Scenario("track-unknown", "track", "Where is my order?", _SHIPPED, is_known=False),
    Scenario("cancel-processing", "cancel", "I want to cancel my order.", _PROCESSING),
    Scenario("cancel-shipped", "cancel", "I want to cancel my order.", _SHIPPED),
    Scenario(
        "address-processing",
        "address",
        "I have moved. Please send it to 7 Mill Lane.",
        _PROCESSING,
        _NEW_ADDRESS,
    ),
    Scenario(
        "address-shipped", "address", "I have moved. Please send it to 7 Mill Lane.", _SHIPPED, _NEW_ADDRESS
    ),
    Scenario(
        "wrong-postcode",
        "address",
        "Please send it to 7 Mill Lane.",
        _PROCESSING,
        _NEW_ADDRESS,
        postcode="ZZ9 9ZZ",
    ),
    Scenario(
        "delivery-day", "reschedule", "Can you bring it on Friday instead?", _SHIPPED, {"day": "Friday"}
    ),
    Scenario(
        "gift-note",
        "gift_note",
        "Please add a note, happy birthday Ida.",
        _PROCESSING,
        {"note": "Happy birthday, Ida!"},
    ),
    Scenario("return-label", "return_label", "I need a label to send the lamp back.", _delivered(6)),
    Scenario(
        "exchange-size",
        "exchange",
        "The curtain is too short. Can I have the long one?",
        _delivered(8),
        {"size": "long"},
    ),
    Scenario("coupon-valid", "coupon", "I have a coupon, SPRING.", _PROCESSING, {"code": "SPRING"}),
    Scenario("coupon-expired", "coupon", "I have a coupon, WINTER.", _PROCESSING, {"code": "WINTER"}),
    Scenario(
        "subscription-pause",
        "pause",
        "Please pause my flower subscription.",
        {"status": "active", "total": 19},
    ),
    Scenario(
        "subscription-end", "end", "Please end my flower subscription.", {"status": "active", "total": 19}
    ),
    Scenario("invoice-again", "invoice", "I need the invoice once more.", _delivered(20)),
    Scenario("delete-account", "delete_account", "Please delete everything you know of me.", _delivered(90)),
    Scenario("complaint", "complaint", "The driver was rude, and I want to complain.", _delivered(1)),
)
