"""The plugin for pytest: documents and suites as tests, and a fixture that judges what a test did.

`refunds.averment.yaml` beside a folder `refunds/` of recordings is a test for every assertion and conversation, and
`averment.yaml` one for every assertion and case of a suite. In a test of one's own:

    from averment.pytest_plugin import Averment


    def test_a_refund_is_issued(averment: Averment) -> None:
        verdicts = averment.run("refunds.yaml", transcript=transcript, trace=spans)
        verdicts.assert_passes("refund-issued")

pytest imports this module in every session, used or not: whatever else it takes is imported on first use.
`pytest -p no:averment` turns all of it off.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from averment.pytesting.fixture import Averment, Verdicts

__all__ = ["Averment", "Verdicts", "averment"]

_ENDINGS = (".averment.yaml", ".averment.yml", ".averment.json")
_SUITE = "averment.yaml"
_POLICY = "averment_inconclusive_policy"
_POLICIES = ("", "report", "fail", "refuse")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the one setting."""
    parser.addini(
        _POLICY,
        "what INCONCLUSIVE does to a test that averment collects: report (it is skipped), fail or refuse (it fails); "
        "by default as the document says",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuses a setting that says nothing."""
    policy = config.getini(_POLICY)
    if policy not in _POLICIES:
        known = ", ".join(_POLICIES[1:])
        raise pytest.UsageError(f"{_POLICY}: expected one of {known}, found {policy!r}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects `x.averment.yaml` and `averment.yaml`."""
    name = file_path.name
    if not (name == _SUITE or (name.endswith(_ENDINGS) and not name.startswith("."))):
        return None
    from averment.pytesting.items import reporting

    reporting(parent.config)
    if name == _SUITE:
        from averment.pytesting.suite import SuiteFile

        return SuiteFile.from_parent(parent, path=file_path)
    from averment.pytesting.collect import DocumentFile

    return DocumentFile.from_parent(parent, path=file_path)


@pytest.fixture
def averment(request: pytest.FixtureRequest) -> Averment:
    """Judges evidence by assertion documents: `averment.run(document, evidence)`; see `Averment`."""
    from averment.pytesting.fixture import Averment

    return Averment(request.path.parent)


def __getattr__(name: str) -> object:
    if name in ("Averment", "Verdicts"):
        from averment.pytesting import fixture

        return getattr(fixture, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
