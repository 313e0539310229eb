"""Certification: every check of a pack, in order, and the tier that follows from their rows.

    gold       every row passes, and there are an oracle, a template and an exported assertion
    silver     not gold, with at least one template and one tool
    prototype  anything else

The tier is derived from the rows and never read from anywhere. Check 7 is not among them yet (`CHECKS_ABSENT`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.checks.base import Check, NotRunError
from averment.oracle.checks.bench import Bench
from averment.oracle.findings import Failure, Row
from averment.oracle.held_out import seen_fixtures, seen_tree
from averment.oracle.lint.rules import lint
from averment.oracle.model.endpoint import Tls
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.model.tree import fingerprint
from averment.oracle.oracles import Oracle, OracleError
from averment.oracle.worker.backend import Attempt, BackendOracle, Workers
from averment.oracle.worker.isolation import Isolation, isolation
from averment.oracle.worker.nursery import Nursery

__all__ = ["CHECKS", "CHECKS_ABSENT", "PARTS", "Certification", "certify", "tier"]

CHECKS = {
    "1": "template_tool_names",
    "2": "template_slot_sources",
    "3": "schema_alignment",
    "4": "assertions_importable",
    "5": "validation_cases",
    "6": "confirmation_policy",
    "M1": "mutation_declaration",
    "D1": "determinism_check",
    "D2": "error_shape",
    "T1": "timeout_wiring",
    "I1": "gold_isolation",
    "A1": "endpoint_conformance",
}
"""By id, the module of `checks` that is the check; in the order in which they run."""

CHECKS_ABSENT = (7,)
"""Checks of the contract that this version does not make; their rows are absent."""

PARTS = {
    "manifest": (),
    "tools": ("3",),
    "templates": ("1", "2"),
    "assertions": ("4",),
    "cases": ("5", "6", "M1", "D1", "D2"),
}
"""What `--only` runs: the checks about one file of the pack; the manifest has loading alone."""

_READING = frozenset(("1", "2"))
"""Checks that read the pack's files and run nothing."""

_ASKING = frozenset(("3", *PARTS["cases"]))
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
        _refuse_drift(pack)
        raise
    _refuse_drift(pack)
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
    fixtures = seen_fixtures(pack)
    with (
        seen_tree(pack) as root,
        Nursery(root, fixtures=None if fixtures is None else json.dumps(fixtures)) as nursery,
    ):
        if "D1" in chosen and pack.endpoint is None:  # both conditions will be needed
            nursery.start()
        workers = Workers(nursery, options)
        oracle = _oracle(pack, workers, fixtures or {})
        metadata = None if _ASKING.isdisjoint(chosen) else _metadata(oracle)
        bench = Bench(pack, options, oracle, workers, jobs=jobs)
        enforced = _enforced(bench, chosen, require)
        rows = _rows(bench, chosen, progress)
        warnings = tuple(_looked_into(bench, chosen))
        exported = _exported(bench, chosen)
    return Certification(
        pack=pack,
        options=options,
        rows=tuple(rows),
        warnings=warnings,
        isolation=enforced,
        attempts=tuple(sorted(workers.attempts)),
        endpoint_metadata=metadata,
        assertions=exported,
    )


def _oracle(pack: Pack, workers: Workers, fixtures: Mapping[str, Any]) -> Oracle:
    if pack.endpoint is None:
        return BackendOracle(workers, pack.files["backend"])
    from averment.oracle.endpoint.client import EndpointOracle

    # The file names its bundle relative to itself; loading found where in the pack that is.
    tls = Tls(ca_bundle_path=pack.files.get("ca_bundle"))
    config = msgspec.structs.replace(pack.endpoint, tls=tls)
    return EndpointOracle(config, pack_root=pack.root, fixtures=fixtures, options=workers.options)


def _metadata(oracle: Oracle) -> Any:
    """What an endpoint says that it is; a service that can't be reached leaves nothing to judge."""
    if isinstance(oracle, BackendOracle):
        return None
    try:
        return oracle.metadata()  # type: ignore[attr-defined]
    except OracleError as error:
        if error.trouble not in ("unreachable", "timeout"):
            return None  # check 3 tells it
        mend = "See that the service runs at the pack's `base_url`, and check again."
        raise PackError(Problem(code="oracle_unreachable", message=error.message, mend=mend)) from None


def _enforced(bench: Bench, chosen: Sequence[str], require: str | None) -> Isolation | None:
    """What is enforced on workers here, asked of one that has no code of the pack."""
    if _READING.issuperset(chosen):
        return None
    found = isolation(bench.workers.probe())
    if require is not None and not found.meets(require):
        missing = "; ".join(found.not_enforced)
        raise PackError(
            Problem(
                code="isolation_too_weak",
                message=f"workers are {found.level} here, and `{require}` is required",
                expected="a kernel that enforces: " + missing,
                mend="Run on Linux with Landlock and seccomp, or require less.",
            )
        )
    return found


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
    from averment.oracle.lint.scanned import scan_warnings

    if "4" in chosen:
        yield from unnamed_assertion_warnings(bench)
    if "I1" in chosen:  # everything is
        yield from scan_warnings(bench.inspection.scan)


def _exported(bench: Bench, chosen: Sequence[str]) -> int | None:
    if "4" not in chosen:
        return None
    try:
        return len(bench.inspection.assertions["exports"])
    except OracleError:
        return None


def _refuse_drift(pack: Pack) -> None:
    """What was certified must still be what lies there."""
    now, digests = fingerprint(pack.root)
    if now == pack.fingerprint:
        return
    changed = sorted(
        name for name in {*digests, *pack.digests} if digests.get(name) != pack.digests.get(name)
    )
    raise PackError(
        Problem(
            code="pack_changed",
            message="the file has changed while the pack was checked",
            file=name.removeprefix("tree/"),
            mend="Check again, with nobody writing to the pack.",
        )
        for name in changed
    )
