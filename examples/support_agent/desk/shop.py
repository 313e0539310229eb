"""The shop: its records, and the tools through which the agent reads and changes them."""

from __future__ import annotations

from typing import Any

from desk.recording import Recording
from desk.scenarios import Scenario

EMAIL = "ida.finch@example.com"
POSTCODE = "BN1 4GH"


class ToolTimeoutError(Exception):
    """The tool didn't answer in time; nothing was changed."""


class Shop:
    """The tools of one call.

    In the environment `slow` every tool takes three seconds, and the first that would change something runs out of time.
    """

    def __init__(self, scenario: Scenario, environment: str) -> None:
        order = {
            "order_id": scenario.order_id,
            "postcode": POSTCODE,
            "email": EMAIL,
            "address": "3 Hill Road",
        }
        self.records: dict[str, list[dict[str, Any]]] = {
            "orders": [{**order, **scenario.order}] if scenario.is_known else [],
            "tickets": [],
        }
        self._is_slow = environment == "slow"
        self._has_timed_out = False
        self._attempts: dict[str, int] = {}

    def order(self, order_id: str) -> dict[str, Any] | None:
        """The record of an order."""
        return next((each for each in self.records["orders"] if each["order_id"] == order_id), None)

    def read(self, recording: Recording, name: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that only looks."""
        return self._answer(recording, name, arguments)

    def change(self, recording: Recording, name: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that changes something.

        Raises:
            ToolTimeoutError: it ran out of time.
        """
        if self._is_slow and not self._has_timed_out:
            self._has_timed_out = True
            self._attempts[name] = 1
            recording.call(name, arguments, seconds=5, error="timeout", status="timeout", attempt=1)
            raise ToolTimeoutError(name)
        return self._answer(recording, name, arguments)

    def _answer(self, recording: Recording, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        attempt = self._attempts[name] = self._attempts.get(name, 0) + 1
        tool = getattr(self, f"_{name}")
        result: dict[str, Any] = tool(**arguments)
        recording.call(
            name, arguments, seconds=3 if self._is_slow else 0.4, result=result, status="ok", attempt=attempt
        )
        return result

    def _verify_identity(self, order_id: str, postcode: str) -> dict[str, Any]:
        order = self.order(order_id)
        return {"verified": order is not None and order["postcode"] == postcode}

    def _look_up_order(self, order_id: str) -> dict[str, Any]:
        order = self.order(order_id) or {}
        return {name: value for name, value in order.items() if name not in ("email", "postcode")}

    def _issue_refund(self, order_id: str, amount: int) -> dict[str, Any]:
        order = self.records["orders"][0]
        order["refunded"] = order.get("refunded", 0) + amount
        return {"order_id": order_id, "refunded": amount}

    def _cancel_order(self, order_id: str) -> dict[str, Any]:
        return self._set(order_id, status="cancelled")

    def _change_address(self, order_id: str, address: str) -> dict[str, Any]:
        return self._set(order_id, address=address)

    def _reschedule_delivery(self, order_id: str, day: str) -> dict[str, Any]:
        return self._set(order_id, delivery_day=day)

    def _add_gift_note(self, order_id: str, note: str) -> dict[str, Any]:
        return self._set(order_id, note=note)

    def _exchange_item(self, order_id: str, size: str) -> dict[str, Any]:
        return self._set(order_id, exchange=size)

    def _pause_subscription(self, order_id: str) -> dict[str, Any]:
        return self._set(order_id, status="paused")

    def _end_subscription(self, order_id: str) -> dict[str, Any]:
        return self._set(order_id, status="ended")

    def _apply_coupon(self, order_id: str, code: str) -> dict[str, Any]:
        if code == "WINTER":
            return {"order_id": order_id, "applied": False, "why": "expired"}
        return {**self._set(order_id, coupon=code), "applied": True}

    def _create_return_label(self, order_id: str) -> dict[str, Any]:
        return self._set(order_id, label=f"L-{order_id}")

    def _send_invoice(self, order_id: str) -> dict[str, Any]:
        return self._set(order_id, invoice_sent=True)

    def _create_ticket(self, order_id: str, about: str) -> dict[str, Any]:
        self.records["tickets"].append({"ticket_id": "T-1", "order_id": order_id, "about": about})
        return {"ticket_id": "T-1"}

    def _set(self, order_id: str, **fields: Any) -> dict[str, Any]:
        self.records["orders"][0].update(fields)
        return {"order_id": order_id, **fields}
