from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from live_workers import OBEDIENT, PATIENT, Live, live

from averment.oracle.model.options import Options
from averment.oracle.oracles import Context, OracleError
from averment.oracle.worker.backend import Workers

SHORT = {
    op: msgspec.structs.replace(PATIENT, **{name: 0.4})
    for op, name in (
        ("import", "import_timeout_s"),
        ("reset", "reset_timeout_s"),
        ("call_tool", "tool_timeout_s"),
    )
}
"""Little time for one step, and much for all others."""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """An obedient pack with fixtures."""
    folder = tmp_path_factory.mktemp("pack")
    with live(folder, fixtures='{"books": [{"id": 1}]}') as found:
        yield found


def _hurried(root: Path, code: str, *, until: Callable[[OracleError], object]) -> OracleError:
    """The error that code ends in at its deadline: a short one, and where the code was too slow, a longer one."""
    for seconds in (0.4, 4, 40):
        with live(root, options=msgspec.structs.replace(PATIENT, tool_timeout_s=seconds)) as found:
            error = found.fails(code)
        assert error.trouble == "timeout"
        if until(error):
            break
    return error


def _of(root: Path, backend: str, last: str = "call", options: Options = PATIENT) -> OracleError:
    """The error that a reset and one step more of a backend end in."""

    def run(found: Live) -> None:
        with found.oracle.episode(Context()) as episode:
            episode.reset()
            getattr(episode, last)(*(["do", {}] if last == "call" else []))

    with live(root, {"backend.py": backend}, options=options) as found, pytest.raises(OracleError) as raised:
        run(found)
    return raised.value


def test_the_context_is_what_the_parent_says(pack: Live) -> None:
    """Clock, seed, timeout and task arrive to the bit, the same in both worlds."""
    context = Context(clock="2026-03-02T09:00:00+07:00", seed=2**64 - 1, timeout_s=2.5, task_id="t:ä")
    code = "value = [ctx.clock.isoformat(), ctx.seed, ctx.timeout_s, ctx.task_id, ctx.turn_index, repr(ctx)]"
    said = []
    for world in ("plain", "shifted"):
        with pack.oracle.episode(context, world) as episode:
            episode.reset()
            said.append(episode.call("do", {"code": code})["value"])
    assert said[0] == said[1]
    assert said[0][:5] == ["2026-03-02T09:00:00+07:00", 2**64 - 1, 2.5, "t:ä", 0]
    assert said[0][5].startswith("RunContext(clock=")


def test_the_turn_reaches_the_context_of_each_call(pack: Live) -> None:
    """0 at reset and where nothing is said, else what the call says."""
    with pack.oracle.episode(Context()) as episode:
        episode.reset()
        turns = [
            episode.call("do", {"code": "value = ctx.turn_index"}, turn_index=turn)["value"]
            for turn in (0, 3, 1)
        ]
    assert turns == [0, 3, 1]


@pytest.mark.parametrize(
    "code",
    [
        "ctx.seed = 1",
        "del ctx.seed",
        "ctx.more = 1",
        "setattr(ctx, 'clock', None)",
        "vars(ctx)",
    ],
)
def test_the_context_can_not_be_changed(pack: Live, code: str) -> None:
    """It is frozen, and has no room for more."""
    assert pack.fails(code).error_type in ("AttributeError", "TypeError")


def test_every_reset_gives_a_fresh_copy_of_the_fixtures(pack: Live) -> None:
    """What a pack does to what it was given does not show at the next reset."""
    with pack.oracle.episode(Context()) as episode:
        episode.reset()
        episode.call("do", {"code": "STATE['books'][0]['id'] = 7; STATE['books'].append(1)"})
        assert episode.state() == {"books": [{"id": 7}, 1]}
        episode.reset()
        assert episode.state() == {"books": [{"id": 1}]}


def test_the_state_is_the_same_object_while_nothing_changes(pack: Live) -> None:
    """Which tells whoever asks that nothing did; after a change it is another."""
    with pack.oracle.episode(Context()) as episode:
        episode.reset()
        first, second = episode.state(), episode.state()
        episode.call("do", {"code": "STATE['x'] = 1"})
        third = episode.state()
    assert first is second
    assert third is not second
    assert third["x"] == 1


def test_episodes_know_nothing_of_each_other(pack: Live) -> None:
    """Each is a process: what one leaves in modules, files and globals is not there for the next."""
    code = """
        import os, sys
        value = [os.path.exists("left"), hasattr(sys, "left"), os.getpid()]
        open("left", "w").close()
        sys.left = True
    """
    first, second = pack.do(code), pack.do(code)
    assert first[:2] == second[:2] == [False, False]
    assert first[2] != second[2]


def test_secrets_of_the_parent_are_invisible_from_the_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At import as in calls: the environment has what the world is made of, and nothing else."""
    monkeypatch.setenv("API_TOKEN", "secret")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/secret")
    top = "import os, ctypes\nSEEN = dict(os.environ)\nNATIVE = ctypes.CDLL(None).getenv(b'API_TOKEN')\n"
    with live(tmp_path, {"backend.py": top + OBEDIENT}) as found:
        seen, native = found.do("import averment_pack_backend as b; value = [b.SEEN, b.NATIVE]")
    assert set(seen) == {"PYTHONHASHSEED", "TZ", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "HOME"}
    assert native == 0


def test_the_parent_stays_as_it_was(pack: Live) -> None:
    """Its environment, working folder, import path and modules are not touched by running a pack."""
    import os
    import sys

    def seen() -> tuple[Any, ...]:
        return (
            dict(os.environ),
            os.getcwd(),
            list(sys.path),
            set(sys.modules),
            sys.dont_write_bytecode,
            os.umask(0o22),
        )

    pack.do("value = 1")
    before = seen()
    pack.do("import os, sys; os.environ['X'] = '1'; os.chdir('/'); sys.path.append('x'); import colorsys")
    assert seen() == before


@pytest.mark.parametrize(
    ("where", "op"),
    [
        ("while True: pass\n{0}", "import"),
        ("import time\ntime.sleep(600)\n{0}", "import"),
        ("{0}\ndef reset(*, ctx, fixtures=None):\n    while True: pass", "reset"),
        ("{0}\ndef call_tool(name, arguments, *, ctx):\n    import time; time.sleep(600)", "call_tool"),
    ],
    ids=["import", "sleeping import", "reset", "call_tool"],
)
def test_what_hangs_is_ended_at_its_deadline_and_named(tmp_path: Path, where: str, op: str) -> None:
    """The error names the step, and comes by the step's own deadline: all others are far away."""
    error = _of(tmp_path, where.format(OBEDIENT), options=SHORT[op])
    assert (error.trouble, error.op) == ("timeout", op)
    assert error.message == f"{op} did not end within its deadline, and was killed"


@pytest.mark.parametrize(("op", "method"), [("get_state", "state"), ("list_tools", "list_tools")])
def test_state_and_tools_have_the_deadline_of_a_tool(tmp_path: Path, op: str, method: str) -> None:
    """A step that only looks can hang as well."""
    error = _of(tmp_path, f"{OBEDIENT}\ndef {op}():\n    while True: pass", method, SHORT["call_tool"])
    assert (error.trouble, error.op) == ("timeout", op)


def test_an_episode_ends_at_its_own_deadline(tmp_path: Path) -> None:
    """Steps that are each in time are not, all together."""
    options = Options(tool_timeout_s=5, episode_timeout_s=0.5)

    def run(found: Live) -> None:
        with found.oracle.episode(Context()) as episode:
            episode.reset()
            for _ in range(20):
                episode.call("do", {"code": "import time; time.sleep(0.1)"})

    with live(tmp_path, options=options) as found, pytest.raises(OracleError) as raised:
        run(found)
    assert raised.value.trouble == "timeout"


def test_no_step_follows_a_failed_one(pack: Live) -> None:
    """The worker is gone; who asks on is told, and not answered by another."""
    with pack.oracle.episode(Context()) as episode:
        episode.reset()
        with pytest.raises(OracleError):
            episode.call("do", {"code": "raise ValueError"})
        with pytest.raises(OracleError) as raised:
            episode.call("do", {"code": "value = 1"})
    assert raised.value.trouble == "died"
    assert raised.value.message == "call_tool came after a step without an answer, which ended the worker"


@pytest.mark.parametrize(
    ("code", "trouble", "said"),
    [
        ("raise ValueError('no')", "raised", "call_tool raised ValueError: no"),
        ("raise ValueError", "raised", "call_tool raised ValueError"),
        ("raise SystemExit(3)", "raised", "call_tool raised SystemExit: 3"),
        ("raise KeyboardInterrupt", "raised", "call_tool raised KeyboardInterrupt"),
        (
            "import os; os._exit(0)",
            "died",
            "the worker ended itself with status 0 during call_tool, without an answer",
        ),
        (
            "import os; os.abort()",
            "died",
            "the worker was ended by SIGABRT during call_tool, without an answer",
        ),
        (
            "import ctypes; ctypes.string_at(0)",
            "died",
            "the worker was ended by SIGSEGV during call_tool, without an answer",
        ),
        ("import os; os.kill(os.getpid(), 9)", "raised", "can't start or signal processes (os.kill)"),
        (
            "value = float('nan')",
            "result_not_json",
            "what call_tool gave is not JSON: Out of range float values",
        ),
        ("value = {1: 2}", "result_not_json", "a key at $.value is of type int"),
        ("value = {1, 2}", "result_not_json", "Object of type set is not JSON serializable"),
        ("value = ctx", "result_not_json", "Object of type RunContext is not JSON serializable"),
        (
            "value = []\nvalue.append(value)",
            "result_not_json",
            "more than 200 values stand inside each other",
        ),
        ("value = '\\ud800'", "result_not_json", "half of a surrogate pair"),
        ("value = 'x' * (11 << 20)", "result_too_large", "it has more than 10485760 bytes of JSON"),
        ("value = 'x' * (1 << 30)", "raised", "call_tool raised MemoryError"),
        ("value = ['x' * 1000000] * 1000", "result_too_large", "it has more than 10485760 bytes of JSON"),
        ("def f(): return f()\nf()", "raised", "call_tool raised RecursionError"),
        (
            "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
            "raised",
            "call_tool raised E: its text can't be had",
        ),
        (
            "class E(Exception):\n    def __str__(self): return 'x' * (100 << 20)\nraise E",
            "raised",
            "call_tool raised E: xxxx",
        ),
        (
            "class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\nraise E",
            "raised",
            "call_tool raised E",
        ),
        ("raise ValueError('\\ud800')", "raised", "call_tool raised ValueError: \\ud800"),
        ("import errno\nraise OSError(errno.EFBIG, 'x')", "raised", "more than 16777216 bytes were printed"),
    ],
    ids=range(23),
)
def test_what_a_call_can_come_to(pack: Live, code: str, trouble: str, said: str) -> None:
    """Each end has its own trouble and sentence, and none of them is the parent's."""
    error = pack.fails(code)
    assert (error.trouble, error.op) == (trouble, "call_tool")
    assert said in error.message
    assert len(error.message) < 2200


def test_a_result_of_five_megabytes_returns_promptly(pack: Live) -> None:
    """Pipes hold little, and both sides keep reading and writing, without a wait between."""
    started = time.monotonic()
    assert len(pack.do("value = 'ä' * (5 << 19)")) == 5 << 19
    assert time.monotonic() - started < 30


def test_a_large_argument_arrives(pack: Live) -> None:
    """The other way round."""
    assert pack.do("value = len(text)", given={"text": "x" * 3_000_000}) == 3_000_000


def test_what_was_printed_is_told_with_the_error(pack: Live) -> None:
    """Standard output and standard error, by Python and past it, to the last line before the end."""
    code = """
        import os, sys
        print("out")
        print("err", file=sys.stderr)
        os.write(1, b"raw\\n")
        print("unfinished", end="")
        raise ValueError
    """
    assert (pack.fails(code).output or "").split() == ["out", "err", "raw", "unfinished"]
    assert pack.fails("print('last words')\nimport os\nos._exit(1)").output == "last words"


def test_what_was_printed_before_it_hung_is_told(tmp_path: Path) -> None:
    """A worker that is killed can't write any more, so lines are written when they end."""
    error = _hurried(tmp_path, "print('so far')\nwhile True: pass", until=lambda error: error.output)
    assert error.output == "so far"


def test_paths_of_this_machine_are_not_told(pack: Live) -> None:
    """Neither the pack's folder nor the scratch folder stand in an error."""
    error = pack.fails(
        "import os; print(pack); print(os.getcwd()); raise ValueError(f'{pack}/backend.py {os.getcwd()}/x')",
        given={"pack": str(pack.root)},
    )
    assert error.message == "call_tool raised ValueError: backend.py <scratch>/x"
    assert error.output is not None
    assert str(pack.root) not in error.output
    assert "averment-" not in error.output


PIPES = """
import os, stat
def pipes():
    found = []
    for fd in range(3, 40):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                found.append(fd)
        except OSError:
            pass
    return found
def say(data):
    for fd in pipes():
        try:
            os.write(fd, data)
        except OSError:
            pass
"""


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("say(b'garbage, much of it')", "protocol"),
        ("say((7).to_bytes(4, 'big') + b'garbage')", "protocol"),
        ("say((2).to_bytes(4, 'big') + b'{}')", "protocol"),
        ("say((9).to_bytes(4, 'big') + b'{\"err\":1}')", "protocol"),
        ("for fd in range(200):\n    try: os.close(fd)\n    except OSError: pass", "died"),
        ("for fd in pipes(): os.close(fd)\nwhile True: pass", "died"),
    ],
)
def test_whoever_disturbs_the_pipes_gets_no_answer(pack: Live, code: str, trouble: str) -> None:
    """Garbage and closed descriptors: each has its end, before any deadline."""
    assert pack.fails(PIPES + code).trouble == trouble


def test_whoever_says_half_a_message_is_waited_for_until_the_deadline(tmp_path: Path) -> None:
    """And no longer."""
    code = f"{PIPES}\nsay(b'\\0\\0\\0\\x09{{')\nimport time; time.sleep(600)"
    with live(tmp_path, options=SHORT["call_tool"]) as found:
        assert found.fails(code).trouble == "timeout"


def test_a_forged_answer_says_what_the_pack_could_have_said(pack: Live) -> None:
    """It can't be told from a real one, and is no more than that: a result of the pack's own making."""
    forged = PIPES + 'data = b\'{"ok":{"value":"forged"}}\'\nsay(len(data).to_bytes(4, \'big\') + data)'
    assert pack.do(forged) == "forged"


def test_symbols_are_what_the_contract_calls(tmp_path: Path) -> None:
    """Each function: whether it is there, where, and whether it takes what it will be given."""
    backend = """
        reset = 7
        def list_tools(more): pass
        def call_tool(name, arguments, ctx): pass
    """
    with live(tmp_path, {"backend.py": backend}) as found:
        symbols = found.oracle.inspect()
    assert symbols["reset"] == {"callable": False, "line": None, "mismatch": None}
    assert symbols["list_tools"]["line"] == 3
    assert "more" in (symbols["list_tools"]["mismatch"] or "")
    assert symbols["call_tool"]["mismatch"] is None
    assert symbols["get_state"]["callable"] is False


def test_a_forged_inspection_is_a_failure_of_the_protocol(tmp_path: Path) -> None:
    """What the parent reads of a module has a shape, whoever wrote it."""
    forged = (
        PIPES
        + 'class Odd:\n    @property\n    def __code__(self):\n        data = b\'{"ok":{"reset":[]}}\'\n'
        + "        say(len(data).to_bytes(4, 'big') + data)\n    def __call__(self): pass\nlist_tools = Odd()\n"
    )
    with live(tmp_path, {"backend.py": forged}) as found, pytest.raises(OracleError) as raised:
        found.oracle.inspect()
    assert (raised.value.trouble, raised.value.op) == ("protocol", "inspect")


def test_a_missing_function_is_named(tmp_path: Path) -> None:
    """Not as an exception of the pack, but as what is not there."""
    error = _of(tmp_path, "def reset(*, ctx, fixtures=None): pass\n")
    assert (error.trouble, error.message) == ("missing_symbol", "there is no function `call_tool`")


def test_workers_without_a_pack_answer_for_the_framework(pack: Live) -> None:
    """What is enforced, and what stands in a text, is asked of a worker in which no code of the pack is."""
    assert set(pack.workers.probe()) <= {"limits", "filesystem", "system_calls"}
    found = pack.workers.scan({"backend.py": "import time\ntime.time()\n"})
    assert [(each["code"], each["line"]) for each in found["backend.py"]] == [("reads_clock", 2)]


def test_a_step_that_never_returns_is_ended(pack: Live) -> None:
    """What check T1 relies on."""
    with pytest.raises(OracleError) as raised:
        pack.workers.hang(0.2)
    assert raised.value.trouble == "timeout"


def test_kinds_of_notes_that_nobody_knows_are_not_believed(pack: Live) -> None:
    """The file of notes can be written to by the pack; what is no kind of ours is nothing."""
    pack.tried()
    code = """
        import os, stat
        for fd in range(3, 40):
            try:
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    os.write(fd, b'{"kind": "magic", "what": "x"}\\n{"kind": "clock", "what": "forged"}\\n')
            except OSError:
                pass
    """
    pack.do(code)
    assert [(each.kind, each.what) for each in pack.tried()] == [("clock", "forged")]


def test_the_clock_of_the_context_is_a_date_of_the_worker(pack: Live) -> None:
    """`ctx.clock` is an aware datetime with the offset that was said."""
    assert pack.do("value = ctx.clock.utcoffset().total_seconds()") == 0
    assert dt.datetime.fromisoformat(pack.do("value = str(ctx.clock)")).tzinfo is not None


def test_what_all_workers_enforce_is_remembered(pack: Live) -> None:
    """The least of what any of them said."""
    workers = Workers(pack.workers.nursery, Options())
    assert workers.enforced is None
    workers.probe()
    assert workers.enforced == set(pack.workers.probe())
