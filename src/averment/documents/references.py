"""The order in which assertions can be decided: each after those it reads. Linear, whatever the document's shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["cycles", "decision_order"]


def decision_order(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Every id after the ids it needs, otherwise in the order given; ids on or behind a cycle are left out.

    Args:
        needs: for each id, the known ids it reads.
    """
    order: list[str] = []
    done: set[str] = set()
    started: set[str] = set()
    for root in needs:
        stack = [(root, iter(needs[root]))] if root not in started else []
        started.add(root)
        while stack:
            name, rest = stack[-1]
            following = next((other for other in rest if other not in done), None)
            if following is None:
                stack.pop()
                if all(other in done for other in needs[name]):
                    done.add(name)
                    order.append(name)
            elif following not in started:
                started.add(following)
                stack.append((following, iter(needs[following])))
    return order


def cycles(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Each cycle of references once, as the ids on it, without those that merely depend on one."""
    done = set(decision_order(needs))
    found: list[list[str]] = []
    seen: set[str] = set()
    for root in needs:
        trail: dict[str, int] = {}
        name: str | None = root
        while name is not None and name not in done and name not in seen:
            seen.add(name)
            trail[name] = len(trail)
            name = next((other for other in needs[name] if other not in done), None)
        if name is not None and name in trail:
            found.append(list(trail)[trail[name] :])
    return found
