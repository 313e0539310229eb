"""The assertion policies that come with averment: small documents, to be run or included by name.

Not to be confused with the rules of `policy.py`, which one assertion of the kind `policy` holds a transcript to.
"""

from __future__ import annotations

import os

from averment.errors import nearest
from averment.policies.policy import PolicyNotFoundError, bundled_names
from averment.text.structs import Mistake

__all__ = ["POLICY", "assertion_policy", "assertion_policy_names"]

POLICY = "policy:"
"""What a name starts with, in the place of a path, to mean a bundled document."""

_FOLDER = os.path.join(os.path.dirname(__file__), "assertions")


def assertion_policy_names() -> list[str]:
    """The names of all bundled documents."""
    return sorted(name.removesuffix(".yaml") for name in os.listdir(_FOLDER) if name.endswith(".yaml"))


def assertion_policy(name: str) -> bytes:
    """The text of a bundled document.

    Raises:
        PolicyNotFoundError: there is none of that name.
    """
    known = assertion_policy_names()
    if name in known:
        with open(os.path.join(_FOLDER, f"{name}.yaml"), "rb") as file:
            return file.read()
    is_rules = name in bundled_names()
    raise PolicyNotFoundError(
        Mistake(
            "unknown_policy",
            f"there is no assertion policy `{name}`",
            expected=f"one of {', '.join(known)}",
            nearest=nearest(name, known),
            mend=f"It is a set of rules: write an assertion with `kind: policy` and `pack: {name}`."
            if is_rules
            else "See `averment policies`.",
        )
    )
