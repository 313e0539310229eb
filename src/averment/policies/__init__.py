"""Policies: sets of rules over the transcript, bundled or from a file, and bundled documents of assertions."""

from averment.policies.library import POLICY, assertion_policy, assertion_policy_names
from averment.policies.policy import (
    Policy,
    PolicyNotFoundError,
    PolicyShelf,
    Rule,
    bundled_names,
    bundled_text,
    load_policy,
    read_policy,
)

__all__ = [
    "POLICY",
    "Policy",
    "PolicyNotFoundError",
    "PolicyShelf",
    "Rule",
    "assertion_policy",
    "assertion_policy_names",
    "bundled_names",
    "bundled_text",
    "load_policy",
    "read_policy",
]
