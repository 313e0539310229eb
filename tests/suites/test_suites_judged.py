from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from averment.errors import EvidenceError, UsageError
from averment.suites import Outcome, Suite
from averment.text.jsontext import sha256
from averment.verdicts.judged import Case

Judged = Callable[..., list[Outcome]]
Script = Callable[..., list[str]]
Write = Callable[..., None]


def _statuses(outcomes: list[Outcome]) -> list[str]:
    return [outcome.envelope.results[0].status.value for outcome in outcomes]


def _why(outcome: Outcome) -> str:
    result = outcome.envelope.results[0]
    assert result.status == "INCONCLUSIVE"
    assert result.code == "not_produced"
    return str(result.reason)


def test_recordings_are_judged_in_order_of_their_names(write: Write, judged: Judged, folder: Path) -> None:
    """Entry by entry; a recording is named by its file, and nothing was produced."""
    (folder / "recordings" / "c.json").write_text('{"transcript": []}', encoding="utf-8")
    write(
        {"document": "d.yaml", "conversations": "recordings/**"},
        {"name": "again", "document": "d.yaml", "conversations": ["recordings/c.json", "recordings/a.json"]},
    )
    outcomes = judged()
    assert Suite.load("averment.yaml").count == 5
    assert [(outcome.conversation, outcome.case) for outcome in outcomes] == [
        ("recordings/a.json", Case(suite="d")),
        ("recordings/b.json", Case(suite="d")),
        ("recordings/c.json", Case(suite="d")),
        ("recordings/c.json", Case(suite="again")),
        ("recordings/a.json", Case(suite="again")),
    ]
    assert _statuses(outcomes) == ["PASS", "PASS", "FAIL", "FAIL", "PASS"]
    assert all(outcome.produced is None for outcome in outcomes)
    assert not (folder / ".averment").exists()


def test_all_conversations_of_a_recording_are_judged(write: Write, judged: Judged, folder: Path) -> None:
    """Each under its id, or its number; all of them are the same case."""
    lines = [
        {"conversation_id": "x\u202e", "transcript": []},
        {"transcript": [{"role": "agent", "text": "refund"}]},
    ]
    (folder / "many.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    write(document="d.yaml", conversations="many.jsonl")
    outcomes = judged()
    assert [outcome.conversation for outcome in outcomes] == ["many.jsonl [x\\u202e]", "many.jsonl [#1]"]
    assert _statuses(outcomes) == ["FAIL", "PASS"]


def test_a_case_is_judged_over_its_own_recordings_with_its_own_values(
    write: Write, judged: Judged, folder: Path
) -> None:
    """`{column}` in a glob is the value, no wildcard; `{{column}}` in the document is the value with its type."""
    (folder / "c.csv").write_text("case,x,word\nA,a,refund\nB,b,never\n", encoding="utf-8")
    (folder / "v.yaml").write_text(
        "version: 1\nassertions: [{id: a, kind: phrase, regex: '{{word}}'}]\n", encoding="utf-8"
    )
    write(document="v.yaml", conversations="recordings/{x}.json", cases="c.csv")
    outcomes = judged()
    assert [(outcome.conversation, outcome.case.name) for outcome in outcomes] == [
        ("recordings/a.json", "A"),
        ("recordings/b.json", "B"),
    ]
    assert _statuses(outcomes) == ["PASS", "FAIL"]
    assert len({outcome.envelope.document_sha256 for outcome in outcomes}) == 2
    (folder / "c.csv").write_text("case,x,word\nA,*,refund\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no_conversations"):
        judged()


def test_a_recording_that_cant_be_read_is_no_verdict(write: Write, judged: Judged, folder: Path) -> None:
    """It was recorded, and something is wrong with it: that is told, as for any run."""
    (folder / "recordings" / "a.json").write_text("{", encoding="utf-8")
    write(document="d.yaml", conversations="recordings/*.json")
    with pytest.raises(EvidenceError):
        judged()


def test_a_command_runs_once_for_each_case_and_repetition(
    write: Write, script: Script, judged: Judged, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its arguments and environment; what it writes is kept, hashed and judged."""
    for name in [name for name in os.environ if name.startswith("AVERMENT_")]:
        monkeypatch.delenv(name)  # what the gate sets, such as AVERMENT_REQUIRE_BROWSER
    (folder / "c.jsonl").write_text(
        '{"case": "A-17", "n": 1.50}\n{"case": "B", "n": "x y"}\n', encoding="utf-8"
    )
    command = script(
        "say('refund', metadata={'given': given, **{k: v for k, v in os.environ.items() if k[:9] == 'AVERMENT_'}})"
    )
    write(
        name="e",
        document="d.yaml",
        produce=[*command, "{case}", "{n}/{repeat}", "{{}}"],
        cases="c.jsonl",
        repeat=2,
    )
    outcomes = judged()
    assert [outcome.case for outcome in outcomes] == [
        Case(suite="e", name=name, repeat=repeat, repeats=2) for name in ("A-17", "B") for repeat in (1, 2)
    ]
    assert _statuses(outcomes) == ["PASS"] * 4
    files = [f".averment/produced/e/{name}/{repeat}.json" for name in ("A-17", "B") for repeat in (1, 2)]
    assert [outcome.conversation for outcome in outcomes] == files
    for outcome, file in zip(outcomes, files, strict=True):
        assert outcome.produced is not None
        assert outcome.produced.file == file
        assert outcome.produced.sha256 == sha256((folder / file).read_bytes())
        assert (folder / file).with_suffix(".log").read_bytes() == b""
    metadata = outcomes[3].evidence.model.metadata
    assert metadata == {
        "given": ["B", "x y/2", "{}"],
        "AVERMENT_OUT": str(folder / files[3]),
        "AVERMENT_CASE": "B",
        "AVERMENT_REPEAT": "2",
    }


def test_an_entry_without_cases_has_no_case(
    write: Write, script: Script, judged: Judged, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is one inherited from a run around this one."""
    monkeypatch.setenv("AVERMENT_CASE", "outer")
    write(
        document="d.yaml", produce=script("say('refund', metadata={'case': os.environ.get('AVERMENT_CASE')})")
    )
    (outcome,) = judged()
    assert outcome.case == Case(suite="d")
    assert outcome.evidence.model.metadata == {"case": None}
    assert (folder / ".averment/produced/d/1.json").is_file()


def test_a_command_may_be_a_line_and_is_read_by_no_shell(
    write: Write, script: Script, judged: Judged, folder: Path
) -> None:
    """Quotes part its words; whatever else a shell would do is text, also in what a case says."""
    (folder / "c.jsonl").write_text(
        json.dumps({"x": "'; touch stolen; $(touch stolen) {out}"}), encoding="utf-8"
    )
    command = " ".join(script("say('refund', metadata={'given': given})"))
    write(document="d.yaml", produce=f"{command} 'two words' $HOME '>' stolen x={{x}}", cases="c.jsonl")
    (outcome,) = judged()
    assert outcome.evidence.model.metadata == {
        "given": ["two words", "$HOME", ">", "stolen", "x='; touch stolen; $(touch stolen) {out}"]
    }
    assert not (folder / "stolen").exists()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("sys.exit(3)", "the command ended with exit status 3"),
        ("say('refund'); sys.exit(1)", "the command ended with exit status 1"),
        ("os.kill(os.getpid(), 9)", "the command was killed by SIGKILL"),
        ("pass", "the command wrote nothing to `{out}`"),
        ("open(out, 'w')", "the command wrote an empty file to `{out}`"),
        ("os.mkdir(out)", "what the command wrote to `{out}` is no regular file"),
        ("os.symlink('/etc/passwd', out)", "what the command wrote to `{out}` is no regular file"),
        ("os.mkfifo(out)", "what the command wrote to `{out}` is no regular file"),
        (
            "open(out, 'w').write('[]')",
            "what the command wrote can't be read: an empty list can be a transcript or a trace (ambiguous_format)",
        ),
        ("open(out, 'w').write('{\"x\": 4111111111111111}')", "what the command wrote can't be read: "),
        (
            "print('jo@example.com broke'); sys.exit(2)",
            "the command ended with exit status 2; the last line of its log is: [REDACTED] broke",
        ),
        ("import time; time.sleep(600)", "the command did not end within 0.5 seconds"),
    ],
)
def test_a_command_that_gives_no_conversation_is_inconclusive(
    write: Write, script: Script, judged: Judged, code: str, why: str
) -> None:
    """Never a FAIL, never left out; the reason says what became of it, and quotes nothing that it wrote."""
    write(document="d.yaml", produce=script(code), timeout=0.5 if "sleep" in code else 300, repeat=2)
    outcomes = judged()
    assert len(outcomes) == 2
    for outcome in outcomes:
        assert _why(outcome).startswith(why)
        assert "4111" not in _why(outcome)
        assert outcome.envelope.results[0].id == "said"
        assert outcome.envelope.exit_code == 0


def test_what_a_failing_command_has_written_is_kept_and_not_judged(
    write: Write, script: Script, judged: Judged, folder: Path
) -> None:
    """With its digest, for whoever looks into it."""
    write(document="d.yaml", produce=script("say('refund'); sys.exit(1)"))
    (outcome,) = judged()
    assert outcome.produced is not None
    assert outcome.produced.sha256 == sha256((folder / outcome.produced.file).read_bytes())
    write(document="d.yaml", produce=script("pass"))
    (outcome,) = judged()
    assert outcome.produced is not None
    assert outcome.produced.sha256 is None


@pytest.mark.parametrize(
    "case",
    [
        (None, None, None, 0),
        ("fail", None, None, 1),
        ("refuse", "fail", None, 1),
        ("fail", "report", None, 0),
        ("fail", "report", "refuse", 2),
    ],
)
def test_the_policy_of_the_command_line_wins_over_that_of_the_entry_and_the_document(
    write: Write,
    judged: Judged,
    script: Script,
    folder: Path,
    case: tuple[str | None, str | None, str | None, int],
) -> None:
    """For what was not produced as for anything else that can't be decided."""
    own, entry, option, code = case
    policy = "" if own is None else f"inconclusive_policy: {own}\n"
    text = (folder / "d.yaml").read_text(encoding="utf-8")
    (folder / "d.yaml").write_text(policy + text, encoding="utf-8")
    (folder / "blind.json").write_text('{"spans": []}', encoding="utf-8")
    fields = {} if entry is None else {"inconclusive_policy": entry}
    write(
        {"document": "d.yaml", "conversations": "blind.json", **fields},
        {"name": "e", "document": "d.yaml", "produce": script("sys.exit(1)"), **fields},
    )
    assert [outcome.envelope.exit_code for outcome in judged(policy=option)] == [code, code]


def test_all_conversations_that_a_command_writes_are_judged(
    write: Write, script: Script, judged: Judged
) -> None:
    """Under one case and one repetition."""
    code = 'open(out, \'w\').write(\'{"transcript": []}\\n{"transcript": [{"role": "agent", "text": "refund"}]}\\n\')'
    write(name="e", document="d.yaml", produce=script(code))
    outcomes = judged()
    assert _statuses(outcomes) == ["FAIL", "PASS"]
    assert [outcome.conversation for outcome in outcomes] == [
        ".averment/produced/e/1.json [#0]",
        ".averment/produced/e/1.json [#1]",
    ]
    assert {outcome.case for outcome in outcomes} == {Case(suite="e")}


def test_the_order_of_verdicts_is_that_of_the_suite(
    write: Write, script: Script, judged: Judged, folder: Path
) -> None:
    """Whichever command ends first, and however many run at once: the same outcomes, to the byte."""
    (folder / "c.csv").write_text(
        "case,wait\n" + "".join(f"c{n},{(5 - n) / 50}\n" for n in range(6)), encoding="utf-8"
    )
    command = script(
        "import time; time.sleep(float(given[1])); say('refund' if given[0] != 'c3' else given[0])"
    )
    write(
        {"name": "e", "document": "d.yaml", "produce": [*command, "{case}", "{wait}"], "cases": "c.csv"},
        {"document": "d.yaml", "conversations": "recordings/*.json"},
        {"name": "f", "document": "d.yaml", "produce": [*command[:-1], "{out}", "x", "0"], "repeat": 3},
    )

    def seen(jobs: int) -> list[Any]:
        return [
            (outcome.envelope.to_json(), outcome.conversation, outcome.case, outcome.produced)
            for outcome in judged(jobs=jobs)
        ]

    one = seen(1)
    assert [case.name or case.suite for _, _, case, _ in one] == [
        *(f"c{n}" for n in range(6)),
        "d",
        "d",
        "f",
        "f",
        "f",
    ]
    assert seen(4) == one


def test_commands_run_at_once_and_no_more_than_asked(write: Write, script: Script, judged: Judged) -> None:
    """Two of them meet; a third is not there."""
    code = (
        "import time\n"
        "name = os.environ['AVERMENT_REPEAT']\n"
        "open(f'running-{name}', 'w').close()\n"
        "most = looks = 0\n"
        "while looks < 20 or not os.path.exists('met'):\n"
        "    most = max(most, sum(each.startswith('running-') for each in os.listdir('.')))\n"
        "    if most > 1:\n"
        "        open('met', 'w').close()\n"
        "    looks += 1\n"
        "    time.sleep(0.005)\n"
        "os.remove(f'running-{name}')\n"
        "say('refund', metadata={'most': most})\n"
    )
    write(document="d.yaml", produce=script(code), repeat=6, timeout=60)
    most = [outcome.evidence.model.metadata["most"] for outcome in judged(jobs=2)]  # type: ignore[index]
    assert max(most) == 2


def test_production_runs_ahead_of_judging_by_a_bounded_number(
    write: Write, script: Script, folder: Path
) -> None:
    """Whoever stops reading has not had ten thousand conversations produced."""
    write(document="d.yaml", produce=script("say('refund')"), repeat=10_000)
    with contextlib.closing(Suite.load("averment.yaml").judge(jobs=2)) as judging:
        next(judging)
    assert 1 <= len(list((folder / ".averment/produced/d").glob("*.json"))) <= 9


def test_whoever_stops_ends_the_commands(write: Write, script: Script, folder: Path) -> None:
    """Closing the iterator kills what runs, and returns at once."""
    code = "import time\nif os.environ['AVERMENT_REPEAT'] != '1':\n    open('slow', 'w').close()\n    time.sleep(600)\nsay('x')"
    write(document="d.yaml", produce=script(code), repeat=4)
    with contextlib.closing(Suite.load("averment.yaml").judge(jobs=2)) as judging:
        next(judging)
        while not (folder / "slow").exists():
            threading.Event().wait(0.01)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


def test_an_old_run_leaves_nothing_to_the_next(
    write: Write, script: Script, judged: Judged, folder: Path
) -> None:
    """Files of cases and repetitions that are no more are gone; those of other entries stay."""
    (folder / "c.csv").write_text("case\nA\nB\n", encoding="utf-8")
    command = script("say('refund')")
    write(
        {"name": "e", "document": "d.yaml", "produce": command, "cases": "c.csv", "repeat": 2},
        {"name": "f", "document": "d.yaml", "produce": command},
    )
    judged()
    root = folder / ".averment/produced"
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*.json")) == [
        *("e/A/1.json", "e/A/2.json", "e/B/1.json", "e/B/2.json", "f/1.json")
    ]
    write(name="e", document="d.yaml", produce=script("pass"), cases="c.csv")
    judged(only=["A"])
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*.json")) == [
        *("e/B/1.json", "e/B/2.json", "f/1.json")
    ]
    judged()
    assert [path.relative_to(root).as_posix() for path in root.rglob("*.json")] == ["f/1.json"]


def test_produced_files_are_judged_again_like_any_recording(
    write: Write, script: Script, judged: Judged
) -> None:
    """The same evidence, with no command run."""
    write(name="e", document="d.yaml", produce=script("say('refund')"), repeat=2)
    produced = judged()
    write(name="e", document="d.yaml", conversations=".averment/produced/e/*.json", repeat=2)
    recorded = judged()
    assert [outcome.envelope for outcome in recorded] == [outcome.envelope for outcome in produced]
    assert [outcome.case for outcome in recorded] == [outcome.case for outcome in produced]


def test_produced_files_may_be_kept_elsewhere(
    write: Write, script: Script, judged: Judged, folder: Path
) -> None:
    """In a folder that is named, relative to the working folder."""
    write(name="e", document="d.yaml", produce=script("say('refund')"))
    (outcome,) = judged(keep="kept")
    assert outcome.conversation == "kept/e/1.json"
    assert (folder / "kept/e/1.json").is_file()
    assert not (folder / ".averment").exists()
    with pytest.raises(UsageError, match="output_exists"):  # told before anything runs
        Suite.load("averment.yaml", keep="recordings")


def test_hostile_names_of_cases_stay_in_their_folder(
    write: Write, script: Script, judged: Judged, folder: Path
) -> None:
    """Whatever a case is called, it is called so in the verdict, and its file is where it belongs."""
    names = ["../x", "/etc/x", "a" * 300, "\u202e\x1b[2J", "..", "-rf", "é💥", "a\nb"]
    (folder / "c.jsonl").write_text("\n".join(json.dumps({"case": name}) for name in names), encoding="utf-8")
    write(
        name="../evil",
        document="d.yaml",
        produce=[*script("say('refund', metadata={'g': given})"), "{case}"],
        cases="c.jsonl",
    )
    outcomes = judged(jobs=2)
    assert [outcome.case.name for outcome in outcomes] == names
    assert [outcome.evidence.model.metadata for outcome in outcomes] == [{"g": [name]} for name in names]
    root = folder / ".averment/produced"
    files = {(folder / outcome.conversation).resolve() for outcome in outcomes}
    assert len(files) == len(names)
    assert all(
        file.is_relative_to(root.resolve()) and len(file.relative_to(root).parts) == 3 for file in files
    )


def test_a_suite_elsewhere_runs_its_commands_in_its_own_folder(
    write: Write, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they are told is relative to it; what we show is relative to where we are; the evidence is the same."""
    write(name="e", document="d.yaml", produce=script("say('refund', metadata={'out': out})"))
    (here,) = Suite.load("averment.yaml").judge()
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    (there,) = Suite.load("../averment.yaml").judge()
    assert there.conversation == "../.averment/produced/e/1.json"
    assert there.produced == here.produced
    assert there.envelope.to_json() == here.envelope.to_json()
    assert here.evidence.model.metadata == {"out": ".averment/produced/e/1.json"}


def test_a_trial_is_judged_by_itself(write: Write, script: Script, folder: Path) -> None:
    """For those who run tests one by one, in processes of their own: it leaves the files of others alone."""
    write(name="e", document="d.yaml", produce=script("say('refund')"), repeat=2)
    (entry,) = Suite.load("averment.yaml").entries
    one, two = entry.trials()
    assert entry.count == 2
    assert [one.name, two.name] == ["e", "e #2"]
    assert [assertion.id for assertion in entry.plan(one).document.assertions] == ["said"]
    (second,) = entry.judge(two)
    (first,) = entry.judge(one, inconclusive_policy="refuse")
    assert (first.case.repeat, second.case.repeat) == (1, 2)
    assert (folder / second.conversation).is_file()
    assert first.envelope.inconclusive_policy == "refuse"


def test_conversations_are_read_as_the_entry_says(write: Write, judged: Judged, folder: Path) -> None:
    """By the name of a format; the option for all entries stands behind it."""
    (folder / "t.json").write_text('[{"role": "agent", "text": "refund"}]', encoding="utf-8")
    write(document="d.yaml", conversations="t.json", **{"from": "transcript"})
    assert _statuses(judged(reading="har")) == ["PASS"]
    write(document="d.yaml", conversations="t.json")
    with pytest.raises(EvidenceError):
        judged(reading="har")


def test_a_command_never_inherits_standard_input(write: Write, judged: Judged, folder: Path) -> None:
    """One that asks a person gets an end of file, not a prompt that nobody sees."""
    assert folder.is_dir()
    write(document="d.yaml", produce=[sys.executable, "-c", "print(input(''))", "{out}"])
    (outcome,) = judged()
    assert _why(outcome).endswith("EOFError: EOF when reading a line")
    assert os.path.exists(".averment/produced/d/1.log")
