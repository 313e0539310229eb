"""A pack at work: its oracle and its assertions, ready to be asked, and everything gone afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.held_out import seen_fixtures, seen_tree
from averment.oracle.model.endpoint import Tls
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.model.tree import fingerprint
from averment.oracle.oracles import Oracle, OracleError
from averment.oracle.worker.assertions import AssertionRunner
from averment.oracle.worker.backend import BackendOracle, Workers
from averment.oracle.worker.isolation import Isolation, isolation
from averment.oracle.worker.nursery import Nursery

__all__ = ["Running", "refuse_drift", "running"]


class Running(msgspec.Struct, frozen=True):
    """A pack at work.

    Attributes:
        pack: the pack.
        options: the run's options.
        workers: where its code runs.
        oracle: what answers calls.
        runner: its assertions.
    """

    pack: Pack
    options: Options
    workers: Workers
    oracle: Oracle
    runner: AssertionRunner

    def isolation(self, require: str | None = None) -> Isolation:
        """What is enforced on workers here, asked of one that has no code of the pack.

        Raises:
            PackError: it is less than the level `require`.
        """
        found = isolation(self.workers.probe())
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

    def metadata(self) -> Any:
        """What an endpoint says that it is; None for a backend, and for an endpoint that says it wrongly.

        Raises:
            PackError: the service can't be reached, which leaves nothing to judge.
        """
        if isinstance(self.oracle, BackendOracle):
            return None
        try:
            return self.oracle.metadata()  # type: ignore[attr-defined]
        except OracleError as error:
            if error.trouble not in ("unreachable", "timeout"):
                return None  # check 3 tells it
            mend = "See that the service runs at the pack's `base_url`, and check again."
            raise PackError(Problem(code="oracle_unreachable", message=error.message, mend=mend)) from None


@contextmanager
def running(pack: Pack, options: Options, *, both: bool = True) -> Iterator[Running]:
    """A pack at work; every process has ended and every scratch folder is gone when this is left.

    Args:
        pack: the pack.
        options: the run's options.
        both: whether both ambient conditions will be needed, and should be made ready at once.
    """
    fixtures = seen_fixtures(pack)
    text = None if fixtures is None else json.dumps(fixtures)
    with seen_tree(pack) as root, Nursery(root, fixtures=text) as nursery:
        if both and pack.endpoint is None:
            nursery.start()
        workers = Workers(nursery, options)
        runner = AssertionRunner(workers, pack.files["assertions"])
        yield Running(pack, options, workers, _oracle(pack, workers, fixtures or {}), runner)


def _oracle(pack: Pack, workers: Workers, fixtures: Mapping[str, Any]) -> Oracle:
    if pack.endpoint is None:
        return BackendOracle(workers, pack.files["backend"])
    from averment.oracle.endpoint.client import EndpointOracle

    # The file names its bundle relative to itself; loading found where in the pack that is.
    tls = Tls(ca_bundle_path=pack.files.get("ca_bundle"))
    config = msgspec.structs.replace(pack.endpoint, tls=tls)
    return EndpointOracle(config, pack_root=pack.root, fixtures=fixtures, options=workers.options)


def refuse_drift(pack: Pack) -> None:
    """See that what was loaded is still what lies there.

    Raises:
        PackError: with every file that has changed.
    """
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
