from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

Shell = Callable[..., subprocess.CompletedProcess[str]]

DOCUMENT = "version: 1\nassertions:\n  - {id: said, kind: phrase, regex: '{{word}}'}\n"
AGENT = """
import json, os, sys
out, word = sys.argv[1:3]
if word == "crash":
    sys.exit("no model: jo@example.com")
if word == "hang":
    import time
    open("hanging-" + str(os.getpid()), "w").close()
    time.sleep(600)
if word == "wait":
    import time
    while not os.path.exists("gone"):
        time.sleep(0.01)
with open(out, "w") as file:
    json.dump({"transcript": [{"role": "agent", "text": "my word is " + word}]}, file)
"""
SUITE = """
version: 1
suite:
  - name: agent
    document: d.yaml
    produce: ["PYTHON", -S, agent.py, "{out}", "{say}"]
    cases: cases.csv
    repeat: 2
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line in `sh`, in a folder with a suite."""
    (tmp_path / "averment.yaml").write_text(SUITE.replace("PYTHON", sys.executable), encoding="utf-8")
    (tmp_path / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "cases.csv").write_text("case,say,word\ngood,yes,yes\n", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["sh", "-c", line],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PATH": path, **environment},
            timeout=300,
        )
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def add(tmp_path: Path) -> Callable[[str], None]:
    """`add(row)`: one more case."""

    def added(row: str) -> None:
        with (tmp_path / "cases.csv").open("a", encoding="utf-8") as file:
            file.write(f"{row}\n")

    return added


def test_a_bare_run_runs_the_suite(shell: Shell, tmp_path: Path) -> None:
    """Every conversation is judged; the produced files stand beside it."""
    done = shell("averment run")
    assert done.returncode == 0, done.stderr
    assert "exit 0  agent: good  1 pass\nexit 0  agent: good #2  1 pass\n" in done.stdout
    assert (tmp_path / ".averment/produced/agent/good/2.json").is_file()
    assert (tmp_path / ".averment" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.parametrize(
    ("row", "option", "code"),
    [
        ("bad,yes,no", "", 1),
        ("crash,crash,yes", "", 0),
        ("crash,crash,yes", "--inconclusive-policy fail", 1),
        ("crash,crash,yes", "--inconclusive-policy refuse", 2),
    ],
)
def test_the_exit_code_is_the_worst_of_all(
    shell: Shell, add: Callable[[str], None], row: str, option: str, code: int
) -> None:
    """A FAIL says no; what was not produced says what the policy says, and is no FAIL."""
    add(row)
    done = shell(f"averment run {option} --results r.jsonl; code=$?; cat r.jsonl; exit $code")
    assert done.returncode == code, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    last = lines[-1]
    assert len(lines) == 4
    assert last["case"] == {
        "suite": "agent",
        "name": row.split(",", maxsplit=1)[0],
        "repeat": 2,
        "repeats": 2,
    }
    assert last["produced"]["file"] == f".averment/produced/agent/{last['case']['name']}/2.json"
    if option or code == 0:
        assert last["envelope"]["results"][0]["code"] == "not_produced"
        assert "jo@example.com" not in done.stdout
        assert "the last line of its log is: no model: [REDACTED]" in done.stdout


def test_the_same_bytes_whatever_runs_at_once(shell: Shell, add: Callable[[str], None]) -> None:
    """Standard output, envelopes and lines of results, under any number of jobs, hash seed and locale."""
    for number in range(4):
        add(f"c{number},yes,{'yes' if number % 2 else 'no'}")
    add("crash,crash,yes")
    line = "averment run -j {} --output {} --results {}; cat {} {}"
    one = shell(line.format(1, "e1", "r1", "e1", "r1"), PYTHONHASHSEED="1", LC_ALL="C")
    many = shell(line.format(5, "e2", "r2", "e2", "r2"), PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    assert one.stdout == many.stdout
    assert one.stdout.count('"averment.results.v1"') == 12


def test_a_suite_is_named_or_that_of_a_folder(shell: Shell, tmp_path: Path) -> None:
    """Its paths are relative to it, and what is shown to where one works."""
    (tmp_path / "inner").mkdir()
    for option in ("averment.yaml", "."):
        assert shell(f"averment run --suite {option}").returncode == 0
        done = shell(f"cd inner && averment run --suite ../{option} --results r; cat r")
        assert done.stdout.startswith("../d.yaml\n"), done.stderr
        assert '"conversation":"../.averment/produced/agent/good/1.json"' in done.stdout


def test_only_what_is_chosen_runs(shell: Shell, add: Callable[[str], None], tmp_path: Path) -> None:
    """Repeatable, as patterns; a name that chooses nothing is told with the nearest."""
    add("other,yes,yes")
    add("third,yes,yes")
    done = shell("averment run --only 'oth*' --only agent/third")
    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / ".averment/produced/agent").iterdir()) == [
        "other",
        "third",
    ]
    done = shell("averment run --only god")
    assert done.returncode == 2
    assert "error[nothing_chosen]: no entry and no case is called `god`" in done.stderr
    assert "did you mean `good`?" in done.stderr


def test_produced_files_are_kept_where_one_says(shell: Shell, tmp_path: Path) -> None:
    """And judged again without the suite."""
    assert shell("averment run --keep kept").returncode == 0
    assert (tmp_path / "kept/agent/good/1.json").is_file()
    (tmp_path / "p.yaml").write_text(DOCUMENT.replace("{{word}}", "yes"), encoding="utf-8")
    assert shell("averment run p.yaml kept/agent/good/*.json").returncode == 0
    assert "error[output_exists]" in shell("averment run --keep .").stderr


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("--suite averment.yaml d.yaml", ["DOC"]),
        ("--suite averment.yaml d.yaml c.json", ["DOC", "CONVERSATION"]),
        ("--suite averment.yaml -d d.yaml --pack pii-leak", ["--document", "--pack"]),
        (
            "--suite averment.yaml --transcript t --trace t --timing t --state t",
            ["--transcript", "--trace", "--timing", "--state"],
        ),
        ("--suite averment.yaml --evidence t --clock-offset 0", ["--evidence", "--clock-offset"]),
        ("--conversation x", ["--conversation"]),
        ("--all", ["--all"]),
        ("d.yaml c.json --only x --jobs 2 --keep k", ["--only", "--jobs", "--keep"]),
        ("-d d.yaml c.json -j 1", ["--jobs"]),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(shell: Shell, line: str, named: list[str]) -> None:
    """All of them at once, and nothing runs."""
    done = shell(f"averment run {line}")
    assert done.returncode == 2
    assert [
        text.split("`")[1] for text in done.stderr.splitlines() if text.startswith("error[usage]")
    ] == named
    assert not done.stdout


def test_without_a_suite_a_bare_run_says_what_to_do(shell: Shell, tmp_path: Path) -> None:
    """A document, or a suite."""
    (tmp_path / "averment.yaml").unlink()
    done = shell("averment run")
    assert done.returncode == 2
    assert "error[usage]: the following arguments are required: DOC\n" in done.stderr
    assert "averment.yaml" in done.stderr
    assert "`averment init`" in done.stderr


def test_a_glob_that_matches_nothing_is_no_verdict(shell: Shell, tmp_path: Path) -> None:
    """Exit 2, with every such glob, before any command runs."""
    text = (tmp_path / "averment.yaml").read_text(encoding="utf-8")
    more = "".join(f"  - {{name: {n}, document: d.yaml, conversations: ['{n}/*.json']}}\n" for n in "xy")
    (tmp_path / "averment.yaml").write_text(text + more, encoding="utf-8")
    done = shell("averment run --output e.json")
    assert done.returncode == 2
    assert done.stderr.count("error[no_conversations]") == 2
    assert "averment.yaml:10:" in done.stderr
    assert not done.stdout
    assert not (tmp_path / ".averment").exists()
    assert not (tmp_path / "e.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_a_run_ends_its_commands(
    shell: Shell, add: Callable[[str], None], tmp_path: Path, number: signal.Signals
) -> None:
    """Ctrl-C, or CI that cancels a job: no command goes on, no output is left half written."""
    assert shell("averment --version").returncode == 0
    add("slow,hang,yes")
    with subprocess.Popen(
        [sys.executable, "-m", "averment", "run", "-j", "2", "--output", "e.json"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests themselves run in the background, Ctrl-C is ignored by whatever they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no thread runs
    ) as running:
        while not (hanging := list(tmp_path.glob("hanging-*"))):
            threading.Event().wait(0.01)
            assert running.poll() is None
        running.send_signal(number)
        _, told = running.communicate(timeout=300)
    assert running.returncode == 3
    assert told == "error[interrupted]: stopped before a verdict\n"
    for each in hanging:
        with pytest.raises(ProcessLookupError):
            os.kill(int(each.name.partition("-")[2]), 0)
    assert not list(tmp_path.glob("e.json*"))


def test_a_reader_that_goes_away_ends_the_commands(
    shell: Shell, add: Callable[[str], None], tmp_path: Path
) -> None:
    """`| head` stops the run; nothing hangs on."""
    add("late,wait,yes")  # until nobody reads any more
    add("slow,hang,yes")
    done = shell("averment run -j 2 --format json | { head -1; exec 0<&-; touch gone; }")
    assert done.stdout == "{\n"
    for each in tmp_path.glob("hanging-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(each.name.partition("-")[2]), 0)


def test_the_schema_of_suites_is_published(shell: Shell, tmp_path: Path) -> None:
    """For editors; the suite of these tests fits it."""
    import jsonschema

    from averment.text.source import read_source

    schema = json.loads(shell("averment schema suite").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(read_source((tmp_path / "averment.yaml").read_bytes()).value, schema)


def test_a_suite_in_the_place_of_a_document_is_told(shell: Shell) -> None:
    """With the command that runs it."""
    assert "run it with `averment run --suite averment.yaml`" in shell("averment run averment.yaml").stderr
    for line in ("check averment.yaml", "run averment.yaml agent.py"):
        done = shell(f"averment {line}")
        assert done.returncode == 2
        assert "averment.yaml:2:1: error[not_a_document]: this is a suite" in done.stderr
        assert done.stderr.count("error[") == 1
