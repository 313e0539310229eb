from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from hostile_packs import HOSTILE, Finding, Hostile, backend_of, cases_of
from live_workers import children
from small_packs import ASSERTIONS, CASES, write

from averment.oracle.certify import Certification, certify
from averment.oracle.checks import timeout_wiring
from averment.oracle.findings import Failure
from averment.oracle.model.options import Options
from averment.oracle.report import report
from averment.text.jsontext import pretty

UNHURRIED = Options(
    tool_timeout_s=20, reset_timeout_s=20, import_timeout_s=20, assertion_timeout_s=20, episode_timeout_s=200
)
HURRIED = [
    msgspec.structs.replace(
        UNHURRIED, tool_timeout_s=seconds, reset_timeout_s=seconds, assertion_timeout_s=seconds
    )
    for seconds in (0.25, 2.5)
]
HURRIED_AT_IMPORT = [msgspec.structs.replace(UNHURRIED, import_timeout_s=seconds) for seconds in (1, 10)]
"""Little time, and where the machine was too slow even for what ends, more."""
SECONDS = 600
"""In time, on a machine that does much else."""


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """Check T1 waits for a moment only: it asks of the platform, and not of packs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeout_wiring, "_DEADLINE_S", 0.05)
        yield


@pytest.fixture(autouse=True)
def _own_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Scratch folders lie where the test sees what is left of them."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))


def _written(root: Path, hostile: Hostile) -> Path:
    """The pack, with a single probe, which calls `look`, and no templates: what else there is would end the same."""
    assertions = ASSERTIONS if hostile.assertions is None else hostile.assertions
    return write(root, also=hostile.also, assertions=assertions, cases=CASES[:1], templates=[])


def _is_found(root: Path, failure: Failure, finding: Finding) -> bool:
    if (
        failure.reason != finding.reason
        or finding.said not in failure.message
        or failure.file != finding.file
    ):
        return False
    if not finding.line:
        return True
    assert failure.file is not None
    lines = (root / failure.file).read_text(encoding="utf-8").splitlines()
    return failure.line is not None and lines[failure.line - 1].strip().startswith(finding.line)


def _certified_twice(root: Path, options: Options) -> list[Certification]:
    """With one episode at a time and with four, both at once."""
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(certify, root, options, jobs=jobs) for jobs in (1, 4)]
        return [run.result() for run in runs]


class Ended(NamedTuple):
    """A pack that was certified twice, and what it had come to."""

    root: Path
    runs: list[Certification]


def _ended(root: Path, *options: Options) -> Ended:
    """Certify a pack twice, and see that it ends in time, in the same report, and that nothing is left.

    Where deadlines are so short that they change what is found, the next options count.
    """
    before, there = {path: path.read_bytes() for path in root.rglob("*")}, set(children())
    for each in options:
        started = time.monotonic()
        one, four = _certified_twice(root, each)
        assert time.monotonic() - started < SECONDS
        if pretty(report(one)) == pretty(report(four)):
            break
    assert one.tier != "gold"
    text = pretty(report(one))
    assert text == pretty(report(four))
    assert str(root.parent) not in text.decode()
    assert {path: path.read_bytes() for path in root.rglob("*")} == before
    assert set(children()) <= there
    return Ended(root, [one, four])


def _failures(found: Certification, check: str) -> Sequence[Failure]:
    return next(row.failures for row in found.rows if row.id == check)


IN_CALLS = {name: hostile for name, hostile in HOSTILE.items() if hostile.call is not None}
AT_LARGE = {name: hostile for name, hostile in HOSTILE.items() if hostile.call is None}


@pytest.fixture(scope="module")
def ended_in_calls(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Ended]:
    """The backend that does all harm that is done in calls; what ends at a deadline in a pack of its own."""
    found = {}
    for is_ended, options in ((False, [UNHURRIED]), (True, HURRIED)):
        harms = {name: hostile for name, hostile in IN_CALLS.items() if hostile.is_ended is is_ended}
        files = {name: text for hostile in harms.values() for name, text in hostile.files.items()}
        root = tmp_path_factory.mktemp("harms") / "pack"
        write(root, backend=backend_of(harms), cases=cases_of(harms), files=files, templates=[])
        found[is_ended] = _ended(root, *options)
    return found


@pytest.mark.parametrize("name", IN_CALLS)
def test_harm_that_is_done_in_a_call_ends_in_a_finding(ended_in_calls: dict[bool, Ended], name: str) -> None:
    """At its probe, or at its line in the backend."""
    hostile = IN_CALLS[name]
    root, (found, _) = ended_in_calls[hostile.is_ended]
    failures = _failures(found, hostile.finding.check)
    own = [failure for failure in failures if failure.facts.get("case", name) == name]
    assert any(_is_found(root, failure, hostile.finding) for failure in own), own


@pytest.mark.parametrize("name", AT_LARGE)
def test_a_hostile_pack_ends_in_a_finding(tmp_path: Path, name: str) -> None:
    """In time, at its place, in the same report however often and however many at a time; and nothing is left."""
    hostile = HOSTILE[name]
    root = _written(tmp_path / "pack", hostile)
    options = HURRIED if hostile.is_ended else [UNHURRIED]
    if "import did not end" in hostile.finding.said:
        options = HURRIED_AT_IMPORT
    root, (found, _) = _ended(root, *options)
    failures = _failures(found, hostile.finding.check)
    assert any(_is_found(root, failure, hostile.finding) for failure in failures), failures
    assert os.listdir(tempfile.gettempdir()) == []


def test_the_good_pack_has_none_of_these_findings(tmp_path: Path) -> None:
    """What the hostile packs are changes of passes the checks that find them."""
    (found, _) = _certified_twice(write(tmp_path / "pack"), UNHURRIED)
    rows = {row.id: row for row in found.rows}
    for check in sorted({hostile.finding.check for hostile in HOSTILE.values()}):
        assert rows[check].failures == (), check


def test_every_suspect_is_named_where_a_result_differs(ended_in_calls: dict[bool, Ended]) -> None:
    """What reads the world is told with the difference: by the audit log, by the text, by its line."""
    root, (found, _) = ended_in_calls[False]
    lines = (root / "backend.py").read_text(encoding="utf-8").splitlines()
    line = next(index for index, text in enumerate(lines, 1) if "date.today()" in text)
    (failure,) = (each for each in _failures(found, "D1") if each.facts.get("case") == "today's date")
    assert failure.facts["differs_at"] == "$.more"
    assert f"backend.py:{line}: date.today" in failure.facts["suspects"]
