"""Sessions: what an unused plugin costs, turning it off, and living with what pytest and other plugins can do."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

Lay = Callable[..., None]

CASES = ("bad", "blind", "good")
OUTCOMES = {"passed": 6, "failed": 1, "skipped": 1, "xfailed": 1}


def _run(pytester: pytest.Pytester, *args: str, folder: str = ".") -> pytest.RunResult:
    """Runs pytest in a process of its own, with warnings as errors."""
    os.chdir(pytester.path / folder)  # `pytester` brings the working folder back
    return pytester.runpytest_subprocess("-W", "error", *args)


def test_an_unused_plugin_imports_nothing(pytester: pytest.Pytester) -> None:
    """In a session without such files the plugin is two small modules, and nothing that they would need."""
    pytester.makepyfile("def test_it():\n    pass\n")
    pytester.makeconftest(
        "import sys\n\n"
        "def pytest_unconfigure():\n"
        "    print(sorted(name for name in sys.modules if name.partition('.')[0] in ('averment', 'msgspec', 'yaml')))\n"
    )
    done = _run(pytester, "-p", "no:hypothesispytest")
    done.assert_outcomes(passed=1)
    loaded = ast.literal_eval(done.outlines[-1])
    assert loaded == ["averment", "averment._version", "averment.pytest_plugin"]


def test_the_plugin_can_be_turned_off(pytester: pytest.Pytester, lay: Lay) -> None:
    """With `-p no:averment` nothing is collected, and there is no fixture."""
    lay("good", files={"test_it.py": "def test_it(averment):\n    pass\n"})
    done = pytester.runpytest_inprocess("-p", "no:averment")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*fixture 'averment' not found"])


def test_without_other_plugins_it_works_alone(pytester: pytest.Pytester, lay: Lay) -> None:
    """No plugin is needed but this one: marks of pytest-xdist are not set where it is not there, strict or not."""
    lay(*CASES)
    done = pytester.runpytest_inprocess("-p", "no:xdist", "--strict-markers", "--strict-config")
    done.assert_outcomes(**OUTCOMES)


@pytest.mark.parametrize("dist", ["load", "loadscope"])
def test_several_processes_come_to_the_same(
    pytester: pytest.Pytester, lay: Lay, several: str, dist: str
) -> None:
    """Under pytest-xdist outcomes and explanations are those of one process; a scope is a file of recordings."""
    lay(*CASES, files={"refunds/[odd] @name.jsonl": several})
    done = _run(pytester, "-n", "2", "--dist", dist, "-v", "--strict-markers")
    done.assert_outcomes(passed=12, failed=2, skipped=2, xfailed=2)
    done.stdout.fnmatch_lines(
        [
            "FAIL  refund-issued  tool_call · outcome · refunds.averment.yaml:3",
            "    `issue_refund` was not called; tools called: `look_up`",
        ]
    )
    if dist == "loadscope":
        workers: dict[str, set[str]] = {}
        for line in done.outlines:
            if line.startswith("[gw") and "::" in line:
                workers.setdefault(line.rpartition("::")[0].rpartition(" refunds.")[2], set()).add(line[:4])
        files = {scope.partition("::")[2] for scope in workers}
        assert files == {"bad.json", "blind.json", "good.json", "(odd) @name.jsonl"}
        assert all(len(names) == 1 for names in workers.values())


def test_tests_of_a_conversation_are_one_group(pytester: pytest.Pytester, lay: Lay, several: str) -> None:
    """Each has the mark that `--dist loadgroup` looks for, in words that pytest-xdist takes for a group."""
    lay("good", files={"refunds/[odd] @name.jsonl": several})
    items, _ = pytester.inline_genitems()
    groups = [mark.args[0] for item in items if (mark := item.get_closest_marker("xdist_group"))]
    assert groups[::3] == [
        "refunds/(odd) +name.jsonl good",
        "refunds/(odd) +name.jsonl bad",
        "refunds/(odd) +name.jsonl #2",
        "refunds/good.json",
    ]
    assert groups[::3] == groups[1::3] == groups[2::3]


def test_last_failures_first_failure_and_order(pytester: pytest.Pytester, lay: Lay) -> None:
    """`--lf` runs what failed, `-x` stops at it, and `--collect-only` runs nothing."""
    lay(*CASES)
    pytester.runpytest_inprocess().assert_outcomes(**OUTCOMES)
    pytester.runpytest_inprocess("--lf").assert_outcomes(failed=1)
    pytester.runpytest_inprocess("-x", "--ff").assert_outcomes(failed=1)
    pytester.runpytest_inprocess("--collect-only").assert_outcomes()


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_import_modes_make_no_difference(pytester: pytest.Pytester, lay: Lay, mode: str) -> None:
    """A folder of recordings is no package; the test beside it finds the document by its own folder."""
    test = "def test_it(averment):\n    averment.run('refunds.averment.yaml', 'refunds/good.json').assert_passes()\n"
    lay(*CASES, files={"test_it.py": test})
    done = pytester.runpytest_inprocess(f"--import-mode={mode}")
    done.assert_outcomes(**{**OUTCOMES, "passed": 7})


def test_folders_with_spaces_and_a_root_elsewhere(pytester: pytest.Pytester, lay: Lay) -> None:
    """Ids are relative to the root, places to the folder in which pytest was started."""
    lay(*CASES, files={"root dir/pytest.ini": "[pytest]\n", "my tests/start here/x": ""})
    for name in ("refunds.averment.yaml", "refunds"):
        (pytester.path / name).rename(pytester.path / "my tests" / name)
    done = _run(
        pytester,
        "..",
        "--rootdir=../../root dir",
        "-c",
        "../../root dir/pytest.ini",
        folder="my tests/start here",
    )
    done.assert_outcomes(**OUTCOMES)
    done.stdout.fnmatch_lines(
        [
            "../refunds.averment.yaml over ../refunds/bad.json",
            "FAIL  refund-issued  * · ../refunds.averment.yaml:3",
        ]
    )


def test_the_same_ids_in_the_same_order(pytester: pytest.Pytester, lay: Lay, several: str) -> None:
    """Under any hash seed, locale and time zone."""
    lay(*CASES, files={"refunds/calls.jsonl": several, "refunds/b/a.json": "[]", "refunds/B.json": "[]"})
    outputs = set()
    for seed, locale, zone in (("1", "C", "UTC"), ("2", "C.UTF-8", "Asia/Tokyo")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone}
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:hypothesispytest"]
        done = subprocess.run(
            command, capture_output=True, check=True, cwd=pytester.path, env=environment, timeout=300
        )
        outputs.add(done.stdout.rpartition(b"\n\n")[0])
    (only,) = outputs
    assert only.count(b"::refund-issued") == 8


def test_what_is_imported_by_name_is_what_the_fixture_is_made_of() -> None:
    """`Averment` and `Verdicts` can be imported from the plugin, and nothing else that is not there."""
    from averment import pytest_plugin
    from averment.pytesting import fixture

    assert pytest_plugin.Averment is fixture.Averment
    assert pytest_plugin.Verdicts is fixture.Verdicts
    with pytest.raises(AttributeError, match="Nothing"):
        _ = pytest_plugin.Nothing
