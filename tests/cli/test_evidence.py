"""`averment evidence`, and what `averment run` takes of other formats and further records."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from averment.cli.main import main

DOCUMENT = {
    "version": 1,
    "assertions": [
        {"id": "said", "kind": "phrase", "regex": "refund"},
        {"id": "done", "kind": "tool_call", "name": "issue_refund"},
        {
            "id": "backed",
            "kind": "claim",
            "says": "refund sent",
            "tool": "issue_refund",
            "result": {"ok": True},
        },
    ],
}
CHAT = [
    {"role": "user", "content": "I want a refund"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_a", "function": {"name": "issue_refund", "arguments": '{"n": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": '{"ok": true}'},
    {"role": "assistant", "content": "refund sent"},
]
VTT = "WEBVTT\n\n00:09.000 --> 00:11.000\n<v Agent>refund sent\n"
TRACE = [{"type": "tool_call", "name": "issue_refund", "result": {"ok": True}, "start_sec": 1, "end_sec": 2}]


class Shell:
    """Runs `averment` in a folder of its own."""

    def __init__(self, folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        self.folder = folder
        self._capfd = capfdbinary

    def write(self, name: str, value: Any) -> str:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        (self.folder / name).write_bytes(data)
        return name

    def __call__(self, *args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as done:
            main(list(args))
        out, err = self._capfd.readouterr()
        assert b"Traceback" not in err
        assert b"internal_error" not in err
        return int(str(done.value.code)), out.decode(), err.decode()


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Shell:
    """A folder with a document and a conversation."""
    monkeypatch.chdir(tmp_path)
    made = Shell(tmp_path, capfdbinary)
    made.write("d.json", DOCUMENT)
    made.write("chat.json", CHAT)
    return made


@pytest.fixture
def many(shell: Shell) -> str:
    """A file of three conversations, of which the second has no id."""
    records: list[dict[str, Any]] = [{"call_id": "x"}, {}, {"call_id": "jane@example.com\x1b[2J"}]
    lines = [
        json.dumps({**record, "transcript": [{"role": "agent", "text": "refund"}]}) for record in records
    ]
    return shell.write("many.jsonl", "\n".join(lines).encode())


def verdicts(out: str) -> dict[str, tuple[str, str | None]]:
    return {each["id"]: (each["status"], each.get("code")) for each in json.loads(out)["results"]}


# averment evidence show.


def test_show_says_what_was_read(shell: Shell) -> None:
    """Format and why, coverage, timeline, how much."""
    code, out, err = shell("evidence", "show", "chat.json")
    assert (code, err) == (0, "")
    assert all(
        word in out for word in ("chat.json", "openai_chat (", "4 of 4 records", "coverage", "timeline")
    )
    code, out, _ = shell("evidence", "show", "chat.json", "--format", "json")
    assert json.loads(out)["counts"]["tool_calls"] == 1


def test_show_looks_into_archives(shell: Shell) -> None:
    """Packed by gzip or zip, a file is what it holds."""
    shell.write("chat.gz", gzip.compress(json.dumps(CHAT).encode()))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in "ab":
            archive.writestr(f"{name}.json", json.dumps(CHAT))
    shell.write("chats.zip", file.getvalue())
    assert "openai_chat" in shell("evidence", "show", "chat.gz")[1]
    code, out, _ = shell("evidence", "show", "chats.zip")
    assert (code, out.splitlines()[0]) == (
        0,
        "chats.zip holds 2 conversations; `--conversation ID` shows one, `--all` every one",
    )
    assert out.splitlines()[1].split()[0] == "#0"


@pytest.mark.parametrize(
    ("wanted", "found"), [("x", "x"), ("#1", "#1"), ("jane@example.com\x1b[2J", "\\u001b[2J")]
)
def test_show_shows_one_of_many(shell: Shell, many: str, wanted: str, found: str) -> None:
    """By its id, or by its place where it has none; what is printed of an id is fit to be."""
    code, out, _ = shell("evidence", "show", many, "--conversation", wanted)
    assert (code, out.count("timeline")) == (0, 1)
    assert found in out.splitlines()[0]
    assert "jane" not in out
    assert "\x1b" not in out


def test_show_shows_all_of_many(shell: Shell, many: str) -> None:
    """Each under its own name; for programs one in each line."""
    code, out, _ = shell("evidence", "show", many, "--all")
    assert (code, out.count("timeline")) == (0, 3)
    assert "jane" not in out
    assert "\x1b" not in out
    _, out, _ = shell("evidence", "show", many, "chat.json", "--format", "json")
    assert len([json.loads(line) for line in out.splitlines()]) == 4
    assert "jane" not in out


def test_show_names_a_conversation_that_is_not_there(shell: Shell, many: str) -> None:
    """With what would list them."""
    code, _, err = shell("evidence", "show", many, "--conversation", "#7")
    assert (code, "conversation_not_found" in err, "averment evidence show" in err) == (2, True, True)
    _, _, err = shell("evidence", "show", many, "--conversation", "jane@example.com\x1b[3J")
    assert "did you mean" in err
    assert "\x1b[2J" not in err


def test_show_writes_to_a_file(shell: Shell) -> None:
    """With --output nothing is printed."""
    assert shell("evidence", "show", "chat.json", "--output", "s.txt")[:2] == (0, "")
    assert "timeline" in (shell.folder / "s.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show"], "usage"),
        (["convert"], "usage"),
        (["show", "chat.json", "--to", "openai"], "usage"),
        (["convert", "chat.json"], "usage"),
        (["convert", "chat.json", "chat.json", "--to", "voice_trace"], "usage"),
        (["show", "-", "-"], "stdin_twice"),
        (["show", "nowhere.json"], "file_not_found"),
        (["show", "chat.json", "--from", "openai"], "unknown_format"),
        (["show", "chat.json", "--from", "x", "--mapping", "y"], "usage"),
        (["frobnicate"], "usage"),
    ],
)
def test_a_wrong_command_is_told(shell: Shell, arguments: list[str], code: str) -> None:
    """With exit code 2 and what to do."""
    exit_code, _, err = shell("evidence", *arguments)
    assert (exit_code, f"error[{code}]" in err) == (2, True), err


def test_formats_lists_every_format(shell: Shell) -> None:
    """Each with its name for --from."""
    code, out, _ = shell("evidence", "formats")
    names = [line.split()[0] for line in out.splitlines()]
    assert code == 0
    assert {"conversation", "evidence", "openai_chat", "otlp"} <= set(names)


# averment evidence convert.


def test_averments_own_form_comes_back_to_the_same_bytes(shell: Shell) -> None:
    """Converting what was converted changes nothing."""
    assert shell("evidence", "convert", "chat.json", "--to", "averment", "--output", "e.json")[0] == 0
    code, out, _ = shell("evidence", "convert", "e.json", "--to", "averment")
    assert (code, out.encode()) == (0, (shell.folder / "e.json").read_bytes())


@pytest.mark.parametrize("form", ["openai", "voice_trace"])
def test_another_form_says_what_it_cannot_hold(shell: Shell, form: str) -> None:
    """On standard error; what it holds can be judged."""
    code, out, err = shell("evidence", "convert", "chat.json", "--to", form)
    assert (code, f"`{form}` can't hold" in err) == (0, True)
    shell.write("c.json", out.encode())
    _, out, _ = shell("run", "d.json", "c.json", "--format", "json")
    assert verdicts(out)["done"][0] == "PASS"


def test_many_conversations_are_converted_to_lines(shell: Shell, many: str) -> None:
    """With --all, or several files; without, the refusal says how to choose."""
    code, _, err = shell("evidence", "convert", many, "--to", "averment")
    assert (code, "--conversation ID" in err, "--all" in err) == (2, True, True)
    assert shell("evidence", "convert", many, "--all", "--to", "voice_trace")[0] == 2
    _, out, _ = shell("evidence", "convert", many, "--all", "--to", "averment")
    assert len([json.loads(line) for line in out.splitlines()]) == 3
    _, out, _ = shell("evidence", "convert", "chat.json", "chat.json", "--to", "averment")
    assert len([json.loads(line) for line in out.splitlines()]) == 2
    shell.write("lines.jsonl", out.encode())
    assert shell("evidence", "show", "lines.jsonl", "--conversation", "#1")[0] == 0
    assert shell("evidence", "convert", many, "--conversation", "#1", "--to", "averment")[0] == 0


def test_a_file_that_cannot_be_converted_leaves_no_output(shell: Shell) -> None:
    """Whole files or nothing."""
    assert shell("evidence", "convert", "chat.json", "d.json", "--to", "openai", "--output", "o.json")[0] == 2
    assert not (shell.folder / "o.json").exists()


# averment run.


def test_a_run_reads_any_format(shell: Shell) -> None:
    """Recognised by what it holds, or as it was said to be."""
    for more in ([], ["--from", "openai_chat"]):
        code, out, _ = shell("run", "d.json", "chat.json", "--format", "json", *more)
        assert (code, {status for status, _ in verdicts(out).values()}) == (0, {"PASS"})
    code, _, err = shell("run", "d.json", "chat.json", "--from", "openai-chat")
    assert (code, "did you mean `openai_chat`?" in err) == (2, True)


def test_a_run_takes_one_of_many_by_its_place(shell: Shell, many: str) -> None:
    """`#0` is the first; a file with many says how to choose."""
    code, _, err = shell("run", "d.json", many)
    assert (code, "--conversation ID" in err, "--all" in err) == (2, True, True)
    _, out, _ = shell("run", "d.json", many, "--conversation", "#1", "--format", "json")
    assert verdicts(out)["said"] == ("PASS", None)
    code, out, _ = shell("run", "d.json", many, "--all")
    assert "3 conversations" in out
    assert "jane" not in out
    assert "\x1b" not in out


def test_a_file_of_no_conversations_is_no_verdict(shell: Shell) -> None:
    """There is nothing to judge, and nothing passes."""
    shell.write("none.json", {"simulations": [], "tasks": []})
    for more in ([], ["--all"]):
        code, _, err = shell("run", "d.json", "none.json", *more)
        assert (code, "error[no_conversation]" in err) == (2, True), err


def test_a_further_record_is_joined_by_ids(shell: Shell) -> None:
    """A transcript and a trace that have the conversation's id in common."""
    talk = shell.write(
        "talk.json", {"conversation_id": "c", "transcript": [{"role": "agent", "text": "refund sent"}]}
    )
    trace = shell.write("trace.json", {"conversation_id": "c", "trace": TRACE})
    _, out, _ = shell("run", "d.json", talk, "--format", "json")
    assert verdicts(out)["done"] == ("INCONCLUSIVE", "trace_absent")
    for arguments in ([talk, "--evidence", trace], ["--evidence", talk, "--evidence", trace]):
        code, out, _ = shell("run", "d.json", *arguments, "--format", "json")
        assert (code, verdicts(out)["done"][0]) == (0, "PASS")


def test_a_record_of_which_nothing_says_that_it_belongs_is_refused(shell: Shell) -> None:
    """Never joined by a guess; the refusal says what would relate them."""
    talk = shell.write("talk.json", {"conversation_id": "c", "transcript": []})
    trace = shell.write("trace.json", {"conversation_id": "d", "trace": TRACE})
    code, _, err = shell("run", "d.json", talk, "--evidence", trace)
    assert (code, "error[no_join_key]" in err, "--clock-offset" in err) == (2, True, True)


@pytest.mark.parametrize(("offset", "status"), [("0", "PASS"), ("100", "FAIL")])
def test_an_offset_relates_the_clocks_of_two_records(shell: Shell, offset: str, status: str) -> None:
    """Whether the call came before the words is told by the declared offset; without one it can't be."""
    shell.write("call.vtt", VTT.encode())
    shell.write("trace.json", TRACE)
    document = {"version": 1, "roles": {"agent": ["Agent"]}, "assertions": DOCUMENT["assertions"]}
    shell.write("d.json", document)
    given = ["run", "d.json", "call.vtt", "--evidence", "trace.json"]
    assert shell(*given)[0] == 2
    _, out, _ = shell(*given, "--clock-offset", offset, "--format", "json")
    assert verdicts(out)["backed"][0] == status
    parts = ["run", "d.json", "--transcript", "call.vtt", "--evidence", "trace.json"]
    _, out, _ = shell(*parts, "--clock-offset", offset, "--format", "json")
    assert verdicts(out)["backed"][0] == status
    _, out, _ = shell(
        "run", "d.json", "--transcript", "call.vtt", "--trace", "trace.json", "--format", "json"
    )
    assert verdicts(out)["backed"] == ("INCONCLUSIVE", "no_clock")


@pytest.mark.parametrize("offset", ["nan", "inf", "-inf", "1e10", "soon"])
def test_an_offset_that_is_no_time_is_refused(shell: Shell, offset: str) -> None:
    """Before anything is read."""
    code, _, err = shell("run", "d.json", "chat.json", "--evidence", "chat.json", f"--clock-offset={offset}")
    assert (code, "error[usage]" in err) == (2, True)
    assert shell("run", "d.json", "chat.json", "--clock-offset", "1")[0] == 2


def test_further_records_of_many_conversations_find_theirs(shell: Shell) -> None:
    """Each by its id; an offset alone says nothing about which belongs to which."""
    talks = [{"conversation_id": name, "transcript": [{"role": "agent", "text": "refund"}]} for name in "ab"]
    traces = [{"conversation_id": name, "trace": TRACE} for name in "ba"]
    shell.write("talks.json", talks)
    shell.write("traces.json", traces)
    shell.write("lone.json", {"conversation_id": "z", "trace": TRACE})
    code, out, _ = shell("run", "d.json", "talks.json", "--all", "--evidence", "traces.json")
    assert (code, "2 conversations" in out) == (0, True)
    for more in ([], ["--clock-offset", "0"]):
        code, _, err = shell("run", "d.json", "talks.json", "--all", "--evidence", "lone.json", *more)
        assert (code, "error[no_join_key]" in err) == (2, True)


def test_a_part_of_another_format_is_taken_for_its_part(shell: Shell) -> None:
    """Turns of a chat as the transcript, its calls as the trace, and not over calls that are there already."""
    _, out, _ = shell("run", "d.json", "--transcript", "chat.json", "--format", "json")
    assert verdicts(out)["done"] == ("INCONCLUSIVE", "trace_absent")
    _, out, _ = shell("run", "d.json", "--trace", "chat.json", "--format", "json")
    assert (verdicts(out)["said"][0], verdicts(out)["done"][0]) == ("INCONCLUSIVE", "PASS")
    other = shell.write("other.json", [{"type": "tool_call", "name": "lookup"}])
    _, out, _ = shell("run", "d.json", "chat.json", "--trace", other, "--format", "json")
    assert verdicts(out)["done"][0] == "PASS", "the calls of the chat were written over"
