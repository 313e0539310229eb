"""Run options: what a certification is run with, apart from the pack; none of it is part of its fingerprint."""

from __future__ import annotations

import msgspec

__all__ = ["Options"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options, with the defaults that apply without a file.

    Attributes:
        clock: what `ctx.clock` says, ISO 8601 with an offset.
        random_seed: the seed of probes and of task generation.
        tool_timeout_s: the deadline of one tool call, in seconds; the others likewise.
        language: the language to render; None is the pack's first.
        tasks_per_category: how many tasks a category gets; None is the widest category's number of templates.
    """

    clock: str = "2026-01-01T00:00:00+00:00"
    random_seed: int = 0
    tool_timeout_s: float = 5.0
    assertion_timeout_s: float = 5.0
    import_timeout_s: float = 10.0
    reset_timeout_s: float = 5.0
    episode_timeout_s: float = 60.0
    language: str | None = None
    tasks_per_category: int | None = None
