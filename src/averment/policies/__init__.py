"""Policies: sets of rules over the transcript, bundled or from a file."""

from averment.policies.policy import (
    Policy,
    PolicyNotFoundError,
    PolicyShelf,
    Rule,
    bundled_names,
    load_policy,
    read_policy,
)

__all__ = [
    "Policy",
    "PolicyNotFoundError",
    "PolicyShelf",
    "Rule",
    "bundled_names",
    "load_policy",
    "read_policy",
]
