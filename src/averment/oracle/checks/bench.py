"""What the checks of one certification share: the pack, its oracle, and what was learned of it, each thing once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from averment.oracle.checks.base import NotRunError
from averment.oracle.checks.observations import Observations, chains, observe
from averment.oracle.findings import Row
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.model.tree import read_bytes
from averment.oracle.oracles import Context, Oracle, OracleError
from averment.oracle.worker.assertions import AssertionRunner
from averment.oracle.worker.backend import BackendOracle, Workers

__all__ = ["Bench", "Inspection"]


_MOST_FILES = 200
_MOST_BYTES = 1 << 20


class Inspection:
    """What the pack's Python files say of themselves, looked into in workers; each part raises `OracleError`."""

    def __init__(self, pack: Pack, workers: Workers, oracle: Oracle) -> None:
        self._pack = pack
        self._workers = workers
        self._oracle = oracle

    @cached_property
    def assertions(self) -> dict[str, Any]:
        """What `child.assertions.inspect_exports` says of `assertions.py`."""
        file = self._pack.files["assertions"]
        source = (self._pack.root / file).read_text(encoding="utf-8", errors="replace")
        return AssertionRunner(self._workers, file).inspect(source)

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

    def __init__(self, pack: Pack, options: Options, oracle: Oracle, workers: Workers, *, jobs: int) -> None:
        self.pack = pack
        self.options = options
        self.oracle = oracle
        self.workers = workers
        self.inspection = Inspection(pack, workers, oracle)
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
