"""Whether a service is the one that the pack pins."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from averment.oracle.endpoint.exchange import ExchangeError
from averment.oracle.model.endpoint import Endpoint

__all__ = ["verify"]

_OPTIONAL = ("principal_digest", "permission_digest", "authorization_context_digest")
_MAX_NAMED = 5
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+-]{0,127}")


def verify(found: Any, config: Endpoint, betrayed_by: Callable[[str], bool]) -> None:
    """Hold what a service says that it is against what the pack expects: every field, and no other.

    An optional digest that the pack doesn't pin must be absent or null: a service that acts for a principal whom the
    pack doesn't know is another one.

    Args:
        found: the identity as the service gave it.
        config: the pin.
        betrayed_by: whether a text holds a secret; what does is not quoted.

    Raises:
        ExchangeError: `protocol` when the identity is no object, else `identity_mismatch` with every difference.
            A found value is quoted only when it looks like an identifier.
    """
    if not isinstance(found, dict):
        raise ExchangeError("protocol", "the service gives no object as its identity")
    expected: dict[str, str | None] = {"protocol_version": config.protocol_version}
    for name in ("oracle_id", "oracle_version", "content_digest", *_OPTIONAL):
        expected[name] = getattr(config.expected, name)

    def shown(text: Any) -> str:
        if isinstance(text, str) and _PLAIN.fullmatch(text) and not betrayed_by(text):
            return f"`{text}`"
        return "null" if text is None else "something else"

    differences = []
    for name, pinned in expected.items():
        value = found.get(name)
        if value == pinned:  # absent and null are one where nothing is pinned
            continue
        what = f"`{name}` is {shown(value)}" if name in found else f"`{name}` is missing"
        differences.append(f"{what}, not {f'`{pinned}`' if pinned else 'null'}")
    unknown = sorted(found.keys() - expected.keys())
    named = [shown(name) for name in unknown[:_MAX_NAMED]]
    if unknown:
        rest = f" and {len(unknown) - _MAX_NAMED} more" if len(unknown) > _MAX_NAMED else ""
        differences.append(f"the protocol has no field {', '.join(named)}{rest}")
    if differences:
        raise ExchangeError(
            "identity_mismatch", f"the service is not the one that the pack pins: {'; '.join(differences)}"
        )
