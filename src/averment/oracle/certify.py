"""Certification: every check of a pack, in order, and the tier that follows from their rows.

    gold       every row passes, and there are an oracle, a template and an exported assertion
    silver     not gold, with at least one template and one tool
    prototype  anything else

The tier is derived from the rows and never read from anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from averment.errors import Problem
from averment.oracle.checks.base import Check, NotRunError
from averment.oracle.checks.bench import Bench
from averment.oracle.findings import Failure, Row
from averment.oracle.lint.rules import lint
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError
from averment.oracle.replay.mutants import Kills
from averment.oracle.running import refuse_drift, running
from averment.oracle.worker.backend import Attempt
from averment.oracle.worker.isolation import Isolation

__all__ = ["CHECKS", "CHECKS_ABSENT", "PARTS", "Certification", "certify", "tier"]

CHECKS = {
    "1": "template_tool_names",
    "2": "template_slot_sources",
    "3": "schema_alignment",
    "4": "assertions_importable",
    "5": "validation_cases",
    "6": "confirmation_policy",
    "7": "representative_generation",
    "M1": "mutation_declaration",
    "D1": "determinism_check",
    "D2": "error_shape",
    "T1": "timeout_wiring",
    "I1": "gold_isolation",
    "A1": "endpoint_conformance",
}
"""By id, the module of `checks` that is the check; in the order in which they run."""

CHECKS_ABSENT: tuple[int, ...] = ()
"""Checks of the contract that this version does not make; their rows are absent."""

PARTS = {
    "manifest": (),
    "tools": ("3",),
    "templates": ("1", "2"),
    "assertions": ("4",),
    "cases": ("5", "6", "M1", "D1", "D2"),
    "tasks": ("7",),
}
"""What `--only` runs: the checks about one file of the pack; the manifest has loading alone."""

_READING = frozenset(("1", "2"))
"""Checks that read the pack's files and run nothing."""

_ASKING = frozenset((*PARTS["tools"], *PARTS["cases"], *PARTS["tasks"]))
"""Checks that ask the oracle."""

Tier = Literal["gold", "silver", "prototype"]


class Certification(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found.

    Attributes:
        pack: the pack.
        options: what it was run with.
        rows: what each check came to, in their order.
        warnings: lint, and oddities of the files; none of them changes the tier.
        isolation: what was enforced on workers; None where no worker ran.
        attempts: what the pack's code tried.
        endpoint_metadata: what an endpoint said that it is.
        assertions: how many are exported; None where they can't be loaded or were not looked at.
        kills: what each assertion makes of gold gone wrong, by its name; empty where no task is gold.
        only: the part that was asked for; None for all.
    """

    pack: Pack
    options: Options
    rows: tuple[Row, ...]
    warnings: tuple[Problem, ...] = ()
    isolation: Isolation | None = None
    attempts: tuple[Attempt, ...] = ()
    endpoint_metadata: Any = None
    assertions: int | None = None
    kills: dict[str, Kills] = {}
    only: str | None = None

    @property
    def tier(self) -> Tier:
        """The tier that the rows amount to."""
        return tier(self.rows, self.pack, self.assertions or 0)

    @property
    def passed(self) -> bool:
        """Whether the gate says yes: gold, or with `only` that every row of the part passes."""
        if self.only is not None:
            return all(row.status == "pass" for row in self.rows)
        return self.tier == "gold"


def tier(rows: Sequence[Row], pack: Pack, assertions: int) -> Tier:
    """The tier that rows amount to, for a pack with so many exported assertions."""
    flawless = bool(rows) and all(row.status == "pass" and not row.failures for row in rows)
    if flawless and pack.templates and assertions:
        return "gold"
    return "silver" if pack.templates and pack.tools else "prototype"


def check(name: str) -> Check:
    """The check of an id."""
    found: Check = import_module(f"averment.oracle.checks.{CHECKS[name]}").CHECK
    return found


def certify(
    path: str | Path,
    options: Options | None = None,
    *,
    strict: bool = False,
    only: str | None = None,
    jobs: int = 2,
    require: str | None = None,
    progress: Callable[[Check], object] = lambda _: None,
) -> Certification:
    """Check a pack.

    Args:
        path: its directory.
        options: what to run it with; the defaults where None.
        strict: take unknown keys for mistakes.
        only: one of `PARTS`.
        jobs: how many episodes run side by side; the outcome is the same for any number.
        require: refuse to run code with less isolation than this level.
        progress: is told each check before it runs.

    Raises:
        PackError: the pack can't be loaded, has changed meanwhile, or isolation is too weak.
    """
    options = options or Options()
    pack = load_pack(path, strict=strict)
    warnings = list(pack.warnings)
    chosen = [name for name in CHECKS if only is None or name in PARTS[only]]
    if pack.endpoint is None and "A1" in chosen:
        chosen.remove("A1")
    if only is None or only == "templates":
        warnings += lint(pack)
    if not chosen:
        return Certification(pack=pack, options=options, rows=(), warnings=tuple(warnings), only=only)
    try:
        found = _examined(pack, options, chosen, jobs=jobs, require=require, progress=progress)
    except OSError:  # a file of the pack has gone
        refuse_drift(pack)
        raise
    refuse_drift(pack)
    warnings += found.warnings
    return msgspec.structs.replace(found, warnings=tuple(dict.fromkeys(warnings)), only=only)


def _examined(
    pack: Pack,
    options: Options,
    chosen: Sequence[str],
    *,
    jobs: int,
    require: str | None,
    progress: Callable[[Check], object],
) -> Certification:
    """What the chosen checks find."""
    with running(pack, options, both=not {"D1", "7"}.isdisjoint(chosen)) as at_work:
        metadata = None if _ASKING.isdisjoint(chosen) else at_work.metadata()
        bench = Bench(at_work, jobs=jobs)
        enforced = None if _READING.issuperset(chosen) else at_work.isolation(require)
        rows = _rows(bench, chosen, progress)
        warnings = tuple(_looked_into(bench, chosen))
        exported = _exported(bench, chosen)
        kills = bench.kill_table if "7" in chosen else {}
    return Certification(
        pack=pack,
        options=options,
        rows=tuple(rows),
        warnings=warnings,
        isolation=enforced,
        attempts=tuple(sorted(at_work.workers.attempts)),
        endpoint_metadata=metadata,
        assertions=exported,
        kills=kills,
    )


def _rows(bench: Bench, chosen: Sequence[str], progress: Callable[[Check], object]) -> list[Row]:
    with ThreadPoolExecutor(max_workers=1) as aside:
        # It waits for half a second and needs nothing of the others.
        early = {name: aside.submit(_row, bench, check(name)) for name in chosen if name == "T1"}
        for name in chosen:
            each = check(name)
            progress(each)
            bench.rows[name] = early[name].result() if name in early else _row(bench, each)
    return [bench.rows[name] for name in chosen]


def _row(bench: Bench, each: Check) -> Row:
    try:
        failures = tuple(_with_mend(each, failure) for failure in each.run(bench))
    except NotRunError as error:
        return Row(each.id, each.name, "skipped", (Failure(reason="not_run", message=str(error)),))
    return Row(each.id, each.name, "fail" if failures else "pass", failures)


def _with_mend(each: Check, failure: Failure) -> Failure:
    if failure.mend is not None:
        return failure
    return msgspec.structs.replace(failure, mend=each.reasons[failure.reason.partition(":")[0]].mend)


def _looked_into(bench: Bench, chosen: Sequence[str]) -> Iterator[Problem]:
    """Warnings about the pack's Python files."""
    from averment.oracle.checks.assertions_importable import unnamed_assertion_warnings
    from averment.oracle.checks.representative_generation import vacuous_assertions
    from averment.oracle.lint.scanned import scan_warnings

    if "4" in chosen:
        yield from unnamed_assertion_warnings(bench)
    if "7" in chosen:
        yield from vacuous_assertions(bench)
    if "I1" in chosen:  # everything is
        yield from scan_warnings(bench.inspection.scan)


def _exported(bench: Bench, chosen: Sequence[str]) -> int | None:
    if "4" not in chosen:
        return None
    try:
        return len(bench.inspection.assertions["exports"])
    except OracleError:
        return None
