"""The reference agent: 375 calls, seven planted defects, and a suite that names them and nothing else."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from averment.suites import Outcome, Suite

EXAMPLE = Path(__file__).parents[2] / "examples" / "support_agent"

Failures = set[tuple[str, str]]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the example, whose commands find this interpreter as `python3`."""
    folder = tmp_path_factory.mktemp("example") / "support_agent"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".averment"))
    programs = tmp_path_factory.mktemp("programs")
    (programs / "python3").symlink_to(sys.executable)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(programs), prepend=os.pathsep)
        yield folder


@pytest.fixture(scope="module")
def planted(example: Path) -> Failures:
    """Which assertion must fail in which case, by the list of defects that the agent itself reads."""
    code = (
        "import csv, sys\n"
        "from desk.defects import PLANTED\n"
        "for case in csv.DictReader(open('cases.csv', encoding='utf-8')):\n"
        "    for each in PLANTED:\n"
        "        if each.shows(case['scenario'], case['caller'], case['environment']):\n"
        "            print(each.assertion, case['case'])\n"
    )
    listed = subprocess.run(
        [sys.executable, "-c", code], cwd=example, capture_output=True, text=True, check=True
    )
    return {(assertion, case) for assertion, case in map(str.split, listed.stdout.splitlines())}


@pytest.fixture(scope="module")
def outcomes(example: Path) -> list[Outcome]:
    """All calls, produced and judged."""
    return _judged(example / "averment.yaml")


def _judged(suite: Path) -> list[Outcome]:
    return list(Suite.load(suite).judge(jobs=os.cpu_count() or 1))


def _failures(outcomes: list[Outcome]) -> Failures:
    return {
        (result.id, outcome.case.name or "")
        for outcome in outcomes
        for result in outcome.envelope.results
        if result.status == "FAIL"
    }


def test_the_suite_names_every_planted_defect_and_nothing_else(
    outcomes: list[Outcome], planted: Failures
) -> None:
    """All 375 calls are produced and judged; what fails is what was planted, and nothing is left undecided."""
    assert len(outcomes) == 375
    assert len({assertion for assertion, _ in planted}) == 7
    assert _failures(outcomes) == planted
    undecided = {
        result.code
        for outcome in outcomes
        for result in outcome.envelope.results
        if result.status == "INCONCLUSIVE"
    }
    assert undecided == {"not_applicable"}


def test_every_assertion_passes_somewhere(outcomes: list[Outcome]) -> None:
    """One that is applicable in no call, or fails in every one, would tell nothing about the agent."""
    passed = {
        result.id for outcome in outcomes for result in outcome.envelope.results if result.status == "PASS"
    }
    assert passed == {result.id for result in outcomes[0].envelope.results}


def test_the_agent_without_its_defects_passes(example: Path) -> None:
    """In the cases in which defects were planted, the mended agent is found to be right: the assertions know the difference."""
    suite = example / "averment.yaml"
    mended = example / "mended.yaml"
    mended.write_text(suite.read_text().replace("produce.py, --scenario", "produce.py, --mended, --scenario"))
    cases = example / "cases.csv"
    lines = cases.read_text().splitlines()
    wanted = ("refund-", "address-", "invoice-", "delete-")
    (example / "few.csv").write_text(
        "\n".join([lines[0], *(x for x in lines if x.startswith(wanted))][::3]) + "\n"
    )
    mended.write_text(mended.read_text().replace("cases.csv", "few.csv"))
    judged = _judged(mended)
    assert len(judged) == 50
    assert _failures(judged) == set()


def test_the_table_of_cases_is_the_one_that_the_agent_prints(example: Path) -> None:
    """25 scenarios, 5 callers and 3 environments, each with each."""
    printed = subprocess.run(
        [sys.executable, "produce.py", "--cases"], cwd=example, capture_output=True, text=True, check=True
    ).stdout
    assert printed == (example / "cases.csv").read_text()
    rows = list(csv.DictReader(printed.splitlines()))
    counts = [len({row[column] for row in rows}) for column in ("scenario", "caller", "environment", "case")]
    assert counts == [25, 5, 3, 375]


def test_the_readme_names_every_assertion_that_fails(example: Path, planted: Failures) -> None:
    """Its table is about the defects that there are."""
    readme = (example / "README.md").read_text()
    for assertion, _ in planted:
        assert f"`{assertion}`" in readme
