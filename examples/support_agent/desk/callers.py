"""The five ways in which people call, and the line over which they do."""

from __future__ import annotations

from desk.scenarios import Scenario

CALLERS = ("plain", "terse", "chatty", "doubtful", "pushy")
ENVIRONMENTS = ("quiet", "slow", "noisy")


class Caller:
    """Somebody who calls about a scenario."""

    def __init__(self, scenario: Scenario, manner: str, environment: str) -> None:
        self._scenario = scenario
        self.manner = manner
        self._is_noisy = environment == "noisy"
        self._times_asked = 0

    def request(self) -> str:
        """What the call is about."""
        wish = self._scenario.request
        return {
            "plain": f"Hello. {wish}",
            "terse": wish,
            "chatty": f"Hello there, what a lovely morning, isn't it? My sister told me to ring. {wish} No hurry at all.",
            "doubtful": f"I am not sure that I am right here. {wish}",
            "pushy": f"I am in a hurry. {wish} You know me, so skip the questions.",
        }[self.manner]

    def identity(self) -> tuple[str, str, str]:
        """What is said when asked for number and postcode, and what is heard of both."""
        self._times_asked += 1
        order_id, postcode = self._scenario.order_id, self._scenario.postcode
        said = f"The number is {order_id}, the postcode is {postcode}."
        if self._is_noisy and self._times_asked == 1:
            return (
                f"[crackling] number {order_id[:-1]} [crackling] postcode {postcode}.",
                order_id[:-1],
                postcode,
            )
        return said if self.manner != "terse" else f"{order_id}, {postcode}.", order_id, postcode

    def reaction(self) -> str | None:
        """What is said when all is done, before the goodbye."""
        return {
            "doubtful": "Are you sure that this has gone through?",
            "chatty": "That is kind of you. And how will I hear of it?",
            "pushy": "That took long enough.",
        }.get(self.manner)
