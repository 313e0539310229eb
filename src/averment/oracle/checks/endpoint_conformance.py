"""Check A1: what an endpoint attests about itself. It is asked of packs whose oracle is an endpoint, and of no other.

This version of averment does not judge attestations: the row is `skipped`, and a pack with an endpoint reaches silver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.checks.base import Check, NotRunError
from averment.oracle.findings import Failure

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]


def run(bench: Bench) -> Iterator[Failure]:  # noqa: ARG001 - the shape of every check
    """Nothing, yet."""
    raise NotRunError("attestations of endpoints are not judged by this version")


CHECK = Check(id="A1", name="endpoint_conformance", reasons={}, run=run)
