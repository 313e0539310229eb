"""What the checks of one certification share: the pack, its oracle, and what was learned of it, each thing once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from averment.errors import PackError
from averment.oracle.checks.base import NotRunError
from averment.oracle.checks.observations import Observations, chains, observe
from averment.oracle.findings import Row
from averment.oracle.gold.kitchen import Kitchen, Sample
from averment.oracle.gold.making import Made
from averment.oracle.model.tree import read_bytes
from averment.oracle.oracles import Context, OracleError
from averment.oracle.replay.mutants import Kills
from averment.oracle.running import Running
from averment.oracle.worker.backend import BackendOracle

__all__ = ["Bench", "Inspection"]


_MOST_FILES = 200
_MOST_MUTANTS = 2
_MOST_BYTES = 1 << 20


class Inspection:
    """What the pack's Python files say of themselves, looked into in workers; each part raises `OracleError`."""

    def __init__(self, at_work: Running) -> None:
        self._pack = at_work.pack
        self._workers = at_work.workers
        self._oracle = at_work.oracle
        self._runner = at_work.runner

    @cached_property
    def assertions(self) -> dict[str, Any]:
        """What `child.assertions.inspect_exports` says of `assertions.py`."""
        file = self._pack.files["assertions"]
        source = (self._pack.root / file).read_text(encoding="utf-8", errors="replace")
        return self._runner.inspect(source)

    @cached_property
    def scan(self) -> dict[str, Any]:
        """What the static scan finds in each Python file of the pack, by its path inside; nothing where it fails."""
        sources = {}
        names = [name.removeprefix("tree/") for name in sorted(self._pack.digests) if name.endswith(".py")]
        for name in names[:_MOST_FILES]:
            data = read_bytes(self._pack.root, name, _MOST_BYTES + 1)
            if len(data) <= _MOST_BYTES:
                sources[name] = data.decode("utf-8", "replace")
        try:
            return self._workers.scan(sources)
        except OracleError:  # a file that can't even be parsed within the limits is told by who imports it
            return {}

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """For each function of the contract whether `backend.py` has it, and can be called as it will be."""
        assert isinstance(self._oracle, BackendOracle)  # noqa: S101 - endpoints are not asked
        return self._oracle.inspect()


class Bench:
    """The bench.

    Attributes:
        pack: the pack.
        options: the run's options.
        oracle: what answers calls.
        workers: where the pack's code runs; for endpoints its assertions.
        inspection: what its Python files say of themselves.
        rows: what the checks so far came to, by id.
        jobs: how many episodes may run side by side.
    """

    def __init__(self, at_work: Running, *, jobs: int) -> None:
        self.pack = at_work.pack
        self.options = at_work.options
        self.oracle = at_work.oracle
        self.workers = at_work.workers
        self.runner = at_work.runner
        self.inspection = Inspection(at_work)
        self.rows: dict[str, Row] = {}
        self.jobs = jobs

    @property
    def context(self) -> Context:
        """What `ctx` says to probes; probes use the run's seed."""
        options = self.options
        return Context(
            clock=options.clock, seed=options.random_seed, timeout_s=options.tool_timeout_s, task_id=""
        )

    @cached_property
    def observations(self) -> Observations:
        """The probes, run in both conditions.

        Raises:
            NotRunError: check 3 failed, so that calls would say nothing.
        """
        aligned = self.rows.get("3")
        if aligned is not None and aligned.status != "pass":
            raise NotRunError("check 3 did not pass: the tools and the oracle are not the same")
        tools = {tool.name for tool in self.pack.tools}
        known = [tuple(case for case in chain if case.tool in tools) for chain in chains(self.pack.cases)]
        return observe(self.oracle, [chain for chain in known if chain], self.context, jobs=self.jobs)

    @cached_property
    def kitchen(self) -> Kitchen:
        """What tasks are made with.

        Raises:
            PackError: no benchmark can be made, whatever the values: a text is missing, a budget is too small.
        """
        kitchen = Kitchen.of(self.pack, self.options, self.oracle, self.runner)
        kitchen.bound()
        return kitchen

    @cached_property
    def samples(self) -> list[Sample]:
        """One task of each template, made.

        Raises:
            PackError: as `kitchen`.
        """
        return self.kitchen.samples(self.jobs)

    @cached_property
    def kill_table(self) -> dict[str, Kills]:
        """What the assertions of gold samples make of a few mutants of each kind, by name; empty without gold."""
        row = self.rows.get("7")
        if row is None or row.status == "skipped":
            return {}
        try:
            samples = self.samples
        except PackError:  # which check 7 has told
            return {}
        gold = [made for _, made in samples if isinstance(made, Made) and made.drop is None]
        return self.kitchen.kill_table(gold, self.jobs, most=_MOST_MUTANTS)
