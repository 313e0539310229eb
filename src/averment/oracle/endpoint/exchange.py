"""What can go wrong with a request, before anybody knows which step of an episode it belonged to."""

from __future__ import annotations

from averment.oracle.oracles import Trouble

__all__ = ["ExchangeError"]


class ExchangeError(Exception):
    """A request that could not be made, or an answer that is no use.

    Messages speak of the service in words of our own. What the service sent, and what the system's libraries say,
    is never quoted: an answer can repeat a secret, and an error text holds addresses and ports.

    Attributes:
        trouble: the kind of failure.
        message: a clause without a full stop, the same on every run.
    """

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
