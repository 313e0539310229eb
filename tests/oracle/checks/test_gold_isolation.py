from __future__ import annotations

from pathlib import Path

import pytest
from small_packs import Smallest, assert_earned, failures, write

from averment.oracle.checks.gold_isolation import CHECK


def tried(*body: str) -> dict[str, str]:
    """A backend that does this when it is imported, and goes on whatever comes of it."""
    lines = "\n            ".join(body)
    return {
        "also": f"""
        try:
            {lines}
        except Exception:
            pass
        """
    }


def smallest(what: str, *body: str) -> Smallest:
    return Smallest(tried(*body), "backend.py", body[-1], {"what": what})


SMALLEST = {
    "network_attempted": smallest("socket.__new__", "import socket", "socket.socket()"),
    "process_attempted": smallest("os.system", "import os", "os.system('true')"),
    "outside_read_attempted": smallest("open .../passwd", "open('/etc/passwd')"),
    "outside_write_attempted": smallest("open backend.py", "open(__file__, 'a')"),
    "interpreter_watched": smallest("sys.settrace", "import sys", "sys.settrace(None)"),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """What was tried is one failure, however often it was tried, at the line that tried it."""
    root = write(tmp_path / "pack", **SMALLEST[reason].change)
    assert_earned(failures(root, "I1"), reason, SMALLEST[reason], root)


def test_replacing_a_part_of_python_is_told_by_its_name(tmp_path: Path) -> None:
    """Nobody saw the line."""
    also = "import json\njson.dumps = lambda *args, **named: '{}'"
    (failure,) = failures(write(tmp_path / "pack", also=also), "I1")
    assert (failure.reason, failure.file) == ("python_patched", None)
    assert "json.dumps" in failure.facts["what"]


def test_a_thread_that_goes_on_after_the_step_is_told(tmp_path: Path) -> None:
    """One that is finished with is not."""
    also = """
        import threading, time
        thread = threading.Thread(target=time.sleep, args=({},), daemon=True)
        thread.start()
        {}
        """
    left = failures(write(tmp_path / "left", also=also.format(60, "")), "I1")
    assert [failure.reason for failure in left] == ["thread_left_running"]
    assert failures(write(tmp_path / "joined", also=also.format(0, "thread.join()")), "I1") == []


def test_reading_the_world_is_no_failure_by_itself(tmp_path: Path) -> None:
    """Whether it shows is what check D1 asks."""
    also = (
        "import datetime, os, random\nseen = datetime.datetime.now(), os.environ.get('HOME'), random.random()"
    )
    assert failures(write(tmp_path / "pack", also=also), "I1") == []


def test_the_packs_own_files_and_the_scratch_folder_may_be_used(tmp_path: Path) -> None:
    """They are what it is given."""
    also = """
        from pathlib import Path
        read = Path(__file__).with_name("fixtures.json").read_text()
        Path("note.txt").write_text("mine")
        """
    assert failures(write(tmp_path / "pack", also=also), "I1") == []


def test_every_reason_is_tested_here() -> None:
    """None is left without a test; the contract's own can't be earned, as the check's page says."""
    assert set(CHECK.reasons) == {*SMALLEST, "python_patched", "thread_left_running"}
    assert (CHECK.id, CHECK.name) == ("I1", "gold_isolation")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported."""
    assert failures(write(tmp_path / "pack"), "I1") == []
