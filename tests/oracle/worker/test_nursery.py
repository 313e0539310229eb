from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_workers import OBEDIENT, Live, children, live

from averment.oracle.oracles import Context, OracleError
from averment.oracle.worker import nursery as rooms
from averment.oracle.worker.nursery import Nursery, _certified, _outermost

HERE = Path(__file__).parent
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scratch folders lie where the test can see what is left of them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))


def _scratch() -> list[str]:
    return sorted(os.listdir(tempfile.gettempdir()))


def _episode(pack: Live, code: str = "value = 1") -> Any:
    with pack.oracle.episode(Context()) as episode:
        episode.reset()
        value = episode.call("do", {"code": code})["value"]
        episode.state()
        return value


def _descriptors() -> int:
    gc.collect()  # what tests before have let go of is not counted at one time and not at another
    return len(os.listdir("/proc/self/fd"))


def _comes(happened: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether it happens sooner or later."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _is_gone(pid: int) -> bool:
    """Whether a process has ended; one whose parent has ended too may wait long for somebody to ask about it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def _gone(pids: list[int]) -> bool:
    """Whether all of these processes end."""
    return _comes(lambda: all(map(_is_gone, pids)))


@needs_proc
def test_five_hundred_episodes_leave_nothing(tmp_path: Path) -> None:
    """No descriptor, no process, no zombie, no file; failing ones and killed ones among them."""
    with live(tmp_path / "pack") as pack:
        for _ in range(3):
            _episode(pack)
        before = _descriptors()
        codes = [
            "value = 1",
            "raise ValueError",
            "import os; os._exit(3)",
            "open('x', 'w').write('y'); value = 1",
        ]
        for index in range(500):
            try:
                _episode(pack, codes[index % len(codes)])
            except OracleError:
                continue
        assert _descriptors() == before
        assert _comes(lambda: len(children()) == 2)  # the origin, and the worker that is made ahead
        (folder,) = Path(tempfile.gettempdir()).iterdir()
        assert len(list(folder.rglob("*"))) <= 4  # its own, and those of the worker that is made ahead
    assert children() == []
    assert _scratch() == []


@needs_proc
def test_threads_use_one_nursery_at_once(tmp_path: Path) -> None:
    """Four threads, two worlds, each episode its own worker: every answer is the one that was asked for."""
    with live(tmp_path / "pack") as pack:

        def one(index: int) -> list[int]:
            with pack.oracle.episode(Context(), "shifted" if index % 2 else "plain") as episode:
                episode.reset()
                code = f"value = [{index}, __import__('os').getpid()]"
                found: list[int] = episode.call("do", {"code": code})["value"]
                return found

        before = len(children())
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(one, range(120)))
        assert [index for index, _ in found] == list(range(120))
        assert len({pid for _, pid in found}) == 120
        assert before == 0
    assert children() == []


@needs_proc
def test_a_worker_is_made_ahead_and_goes_as_well(tmp_path: Path) -> None:
    """From the second of a kind on; the one that nobody came for is ended when the nursery closes."""
    with live(tmp_path / "pack") as pack:
        who = "import os; value = [os.getppid(), os.getpid()]"
        known = {pid for _ in range(2) for pid in _episode(pack, who)}
        assert len(known) == 3
        assert _comes(lambda: set(children()) - known)
        (ahead,) = set(children()) - known
        assert _episode(pack, who)[1] == ahead
    assert children() == []
    assert _scratch() == []


@needs_proc
def test_an_exception_in_the_middle_ends_everything(tmp_path: Path) -> None:
    """Whoever leaves an episode by an exception leaves no worker behind."""

    def interrupted(pack: Live) -> None:
        with pack.oracle.episode(Context()) as episode:
            episode.reset()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), live(tmp_path / "pack") as pack:
        interrupted(pack)
    assert children() == []
    assert _scratch() == []


@contextmanager
def _program(root: Path, body: str) -> Iterator[subprocess.Popen[str]]:
    """A process that certifies, in a temporary folder of its own; it doesn't outlive the test."""
    code = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from live_workers import children, live
with live(Path({str(root / "pack")!r})) as pack:
{textwrap.indent(textwrap.dedent(body), "    ")}
"""
    (root / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(root / "tmp")}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=_as_from_a_terminal,  # noqa: PLW1509 - no thread of the suite runs then
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def _as_from_a_terminal() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


BUSY = """
from threading import Barrier
from averment.oracle.oracles import Context

all_there = Barrier(5, timeout=120)

def busy(world):
    with pack.oracle.episode(Context(), world) as episode:
        episode.reset()
        pid = episode.call("do", {"code": "import os; value = os.getpid()"})["value"]
        print(f"{pid}\\n", end="", flush=True)  # in one piece: four threads print
        all_there.wait()
        episode.call("do", {"code": "while True: pass"})

pool = ThreadPoolExecutor(4)
workers = [pool.submit(busy, world) for world in ("plain", "shifted") * 2]
all_there.wait()
print("busy", flush=True)
for each in workers:
    each.result()
"""


@needs_proc
def test_a_certifier_that_is_killed_takes_its_workers_along(tmp_path: Path) -> None:
    """SIGKILL leaves it no time for anything: the origins notice, and end what they have forked."""
    with _program(tmp_path, BUSY) as program:
        assert program.stdout is not None
        workers = {int(pid) for pid in iter(program.stdout.readline, "busy\n")}
        assert len(workers) == 4
        below = children(program.pid)
        assert workers < set(below)  # and their origins
        program.kill()
        program.wait()
        assert _gone(below)


@needs_proc
def test_origins_that_are_killed_take_their_workers_along(tmp_path: Path) -> None:
    """Whoever kills the origin of a worker, and not the worker, has killed it too; the episode says what happened."""
    with live(tmp_path / "pack") as pack:
        with pack.oracle.episode(Context()) as episode:
            episode.reset()
            worker = episode.call("do", {"code": "import os; value = os.getpid()"})["value"]
            below = children()
            (origin,) = (pid for pid in below if worker in children(pid))
            os.kill(origin, signal.SIGKILL)
            with pytest.raises(
                OracleError, match="the process that workers are forked from has ended"
            ) as raised:
                episode.call("do", {"code": "while True: pass"})
            assert raised.value.trouble == "died"
        with pytest.raises(OracleError, match="the process that workers are forked from has ended"):
            pack.do("value = 1")
    assert _gone(below)


@needs_proc
def test_an_interrupted_certifier_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C in the middle of an episode: no process, no scratch folder."""
    with _program(tmp_path, "print('busy', flush=True)\npack.do('import time; time.sleep(600)')") as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "busy\n"
        assert _comes(lambda: len(children(program.pid)) == 2)
        below = children(program.pid)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=120)
        assert "KeyboardInterrupt" in said
        assert _gone(below)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_origin_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that a pack names and that hangs at import: the wait has an end, and the error a sentence."""
    monkeypatch.setattr(rooms, "_PATIENCE_S", 1)
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "hanging_library.py").write_text("import time\ntime.sleep(600)")
    monkeypatch.syspath_prepend(str(site))
    backend = f"def f():\n    import hanging_library\n{OBEDIENT}"
    from averment.oracle.model.options import Options

    options = Options(import_timeout_s=0.5)
    with live(tmp_path / "pack", {"backend.py": backend}, options=options) as pack:
        for _ in range(3):
            with pytest.raises(OracleError) as raised:
                pack.do("value = 1")
            assert raised.value.op == "import"
            assert raised.value.trouble in ("timeout", "died")  # before the library is loaded, in any case


def test_a_library_in_the_path_is_there_for_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed where this interpreter looks is found by workers; nothing else of its path is."""
    site, other = tmp_path / "site-packages", tmp_path / "other"
    for folder, name in ((site, "installed_library"), (other, "a_module_of_the_caller")):
        folder.mkdir()
        (folder / f"{name}.py").write_text("HERE = 1")
        monkeypatch.syspath_prepend(str(folder))
    with live(tmp_path / "pack") as pack:
        assert pack.do("import installed_library; value = installed_library.HERE") == 1
        assert pack.fails("import a_module_of_the_caller").error_type == "ModuleNotFoundError"


@pytest.mark.parametrize("exception", [OSError(24, "too many"), MemoryError()])
def test_what_fails_while_a_worker_is_made_leaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exception: Exception
) -> None:
    """Descriptors that were opened before it are closed."""
    with live(tmp_path / "pack") as pack:
        _episode(pack)
        before = _descriptors() if sys.platform == "linux" else 0
        real = os.open

        def failing(path: str, *args: int) -> int:
            if str(path).endswith(".notes"):
                raise exception
            return real(path, *args)

        monkeypatch.setattr(os, "open", failing)
        with pytest.raises(type(exception)):
            pack.do("value = 1")
        monkeypatch.undo()
        assert (_descriptors() if sys.platform == "linux" else 0) == before


def test_texts_are_shown_without_this_machine(tmp_path: Path) -> None:
    """Folders of the pack and of scratch are names of their own."""
    with Nursery(tmp_path) as found:
        scratch = found._scratch
        assert found.shown(f"{tmp_path}/a.py {tmp_path} {scratch}/w/7/x") == "a.py <pack> <scratch>/w/7/x"


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    """And a nursery that has started nobody has nothing to end."""
    found = Nursery(tmp_path)
    found.close()
    found.close()
    assert _scratch() == []


def _tree(root: Path, names: list[str]) -> Callable[[list[str]], list[str]]:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return lambda paths: sorted(os.path.relpath(path, root) for path in paths)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["."]),
        (["a.py", "b/c.py"], ["."]),
        (["a.py", "b/c.py", "__pycache__/a.pyc"], ["a.py", "b"]),
        (["a.py", "b/c.py", "b/d/e.py", "b/__pycache__/a.pyc"], ["a.py", "b/c.py", "b/d"]),
        ([".git/config", "x/.averment/report.json", "x/y"], ["x/y"]),
        (["__pycache__/a.pyc"], []),
    ],
)
def test_a_pack_may_read_what_is_certified(tmp_path: Path, names: list[str], expected: list[str]) -> None:
    """All of its folder, or where something in it is no part of the fingerprint, all but that."""
    shown = _tree(tmp_path, names)
    assert shown(_certified(str(tmp_path))) == expected


def test_links_in_a_pack_lead_nowhere(tmp_path: Path) -> None:
    """A pack with links is not loaded; and if one appears, it opens nothing."""
    shown = _tree(tmp_path, ["a.py"])
    (tmp_path / "link").symlink_to("/etc")
    assert shown(_certified(str(tmp_path))) == ["a.py"]


def test_folders_inside_others_are_left_out(tmp_path: Path) -> None:
    """What can be read already needs no rule; links and what is not there are resolved."""
    shown = _tree(tmp_path, ["lib/python/x", "other/y"])
    (tmp_path / "linked").symlink_to(tmp_path / "other")
    paths = [str(tmp_path / name) for name in ("lib/python", "lib", "linked", "other", "missing")]
    assert shown(_outermost(paths)) == ["lib", "other"]


def test_scratch_folders_are_removed_even_when_full(tmp_path: Path) -> None:
    """Folders inside, and what was made unreadable on the way."""
    code = "import os; os.makedirs('a/b'); open('a/b/c', 'w').write('x'); os.mkdir('d', 0); value = 1"
    with live(tmp_path / "pack") as pack:
        assert _episode(pack, code) == 1
    assert _scratch() == []
