"""What is wrong with the agent: seven defects, each in some scenarios, with some callers, in some environments.

The suite must name these and no others; `PLANTED` says which assertion must fail for which.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Planted:
    """One defect.

    Attributes:
        behaviour: what the agent does, a flag of `Defects`.
        assertion: the assertion that must fail.
        scenarios, callers, environments: where it shows; None where it shows in all.
    """

    behaviour: str
    assertion: str
    scenarios: tuple[str, ...]
    callers: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None

    def shows(self, scenario: str, caller: str, environment: str) -> bool:
        """Whether the agent has it in this call."""
        return (
            scenario in self.scenarios
            and (self.callers is None or caller in self.callers)
            and (self.environments is None or environment in self.environments)
        )


_REFUNDS = ("refund-damaged", "refund-one-item", "refund-lost")

PLANTED = (
    Planted("says_refunded_all_the_same", "refund-is-real", _REFUNDS, ("terse",), ("slow",)),
    Planted("refunds_again", "one-refund-at-most", _REFUNDS, ("doubtful",)),
    Planted("refunds_the_whole_order", "refund-of-the-right-amount", ("refund-one-item",), ("chatty",)),
    Planted("trusts_who_is_in_a_hurry", "change_address.identity-first", ("address-processing",), ("pushy",)),
    Planted(
        "misreads_what_has_left", "address-of-what-has-left-stays", ("address-shipped",), None, ("noisy",)
    ),
    Planted("reads_out_the_address", "no-personal-data", ("invoice-again",), ("chatty",)),
    Planted("forgets_to_pass_on", "handed-to-privacy", ("delete-account",), ("terse",)),
)


@dataclass(frozen=True)
class Defects:
    """The defects that the agent has in one call."""

    says_refunded_all_the_same: bool = False
    refunds_again: bool = False
    refunds_the_whole_order: bool = False
    trusts_who_is_in_a_hurry: bool = False
    misreads_what_has_left: bool = False
    reads_out_the_address: bool = False
    forgets_to_pass_on: bool = False

    @property
    def gives_up_at_once(self) -> bool:
        """It doesn't try again what ran out of time."""
        return self.says_refunded_all_the_same

    @classmethod
    def of(cls, scenario: str, caller: str, environment: str) -> Defects:
        """Those that were planted for a call."""
        shown = {each.behaviour for each in PLANTED if each.shows(scenario, caller, environment)}
        return cls(**{each.name: each.name in shown for each in fields(cls)})
