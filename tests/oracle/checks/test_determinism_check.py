from __future__ import annotations

from pathlib import Path

import pytest
from small_packs import CASES, Smallest, assert_earned, case, failures, write

from averment.oracle.checks.determinism_check import CHECK
from averment.oracle.findings import Failure


def look(*body: str) -> str:
    """`look`, whose body is this."""
    lines = "\n            ".join(body)
    return f"""
        def look(arguments, ctx):
            {lines}
        """


TODAY = look("import datetime", "return {'today': str(datetime.date.today())}")
FOUND = {"case": "found", "tool": "look"}
ONCE = look(
    "import os",
    "if os.environ['LANG'].startswith('tr'):",
    "    raise KeyError('I')",
    "return {}",
)
SMALLEST = {
    "no_success_case_to_repeat": Smallest({"cases": CASES[1:]}, "tools.json", "$[0]", {"tool": "look"}),
    "nondeterministic": Smallest(
        {"also": TODAY, "cases": [CASES[0], *CASES[2:]]},
        "validation_cases.yaml",
        "$[0]",
        {
            **FOUND,
            "what": "result",
            "differs_at": "$.today",
            "suspects": ["backend.py:45: date.today"],
        },
    ),
    "raised": Smallest(
        {"also": ONCE, "cases": [CASES[0], *CASES[2:]]},
        "backend.py",
        "raise KeyError",
        {**FOUND, "repeated": True, "trouble": "raised", "op": "call_tool"},
    ),
}


@pytest.mark.parametrize("reason", SMALLEST)
def test_each_reason_has_its_smallest_pack(tmp_path: Path, reason: str) -> None:
    """One mistake is one failure, at its place."""
    smallest = SMALLEST[reason]
    root = write(tmp_path / "pack", **smallest.change)
    assert_earned(failures(root, "D1"), reason, smallest, root)


WORLD = {
    "date": (["import datetime", "return {'x': str(datetime.date.today())}"], "date.today"),
    "now": (["import datetime", "return {'x': datetime.datetime.now().isoformat()}"], "datetime.now"),
    "hour": (["import time", "return {'x': time.strftime('%H')}"], "time.strftime"),
    "weekday": (["from datetime import datetime", "return {'x': datetime.now().weekday()}"], "datetime.now"),
    "uuid4": (["import uuid", "return {'x': str(uuid.uuid4())}"], "os.urandom"),
    "random": (["import random", "return {'x': random.random()}"], "random.random"),
    "generator": (["import random", "return {'x': random.Random().random()}"], "random.Random()"),
    "secrets": (["import secrets", "return {'x': secrets.token_hex(4)}"], "os.urandom"),
    "hash": (["return {'x': hash('box')}"], "hash"),
    "environment": (["import os", "return {'x': os.environ.get('LANG')}"], "LANG"),
    "locale": (["import locale", "return {'x': locale.getlocale()[0]}"], "locale.getlocale"),
    "time_zone": (["import time", "return {'x': time.tzname[0]}"], "time.tzname"),
    "working_folder": (
        ["import os", "return {'x': os.getcwd()}"],
        "os.getcwd",
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, Failure]]:
    """A backend that reads each of them for a box of that name: its lines, and what is found, by name."""
    branches = [
        line
        for name, (body, _) in WORLD.items()
        for line in (f"if arguments['box_id'] == '{name}':", *(f"    {each}" for each in body))
    ]
    cases = [case(name, box=name) for name in WORLD]
    root = write(tmp_path_factory.mktemp("world"), also=look(*branches), cases=cases)
    found = {failure.facts["case"]: failure for failure in failures(root, "D1") if "case" in failure.facts}
    return (root / "backend.py").read_text("utf-8").splitlines(), found


@pytest.mark.parametrize("name", WORLD)
def test_what_reads_the_world_and_shows_it_is_found(
    world: tuple[list[str], dict[str, Failure]], name: str
) -> None:
    """On every run, and with the place in the backend that reads it."""
    lines, found = world
    body, suspect = WORLD[name]
    assert (found[name].reason, found[name].facts["differs_at"]) == ("nondeterministic", "$.x")
    number = lines.index(f"        {body[-1]}") + 1
    suspects = found[name].facts["suspects"]
    assert [each for each in suspects if each.startswith(f"backend.py:{number}: ") and suspect in each], (
        suspects
    )


def test_an_order_that_follows_from_hashes_is_found_in_results_and_in_states(tmp_path: Path) -> None:
    """A set of strings is in another order in every process."""
    names = "set('the quick brown fox jumps over the lazy dog'.split())"
    shown = failures(
        write(tmp_path / "shown", also=look(f"return {{'x': list({names})}}"), cases=[CASES[0]]), "D1"
    )
    assert shown[-1].facts["what"] == "result"
    assert shown[-1].facts["differs_at"].startswith("$.x[")
    kept = look(f"state['words'] = list({names})", "return {}")
    found = failures(write(tmp_path / "kept", also=kept, cases=[CASES[0]]), "D1")
    assert found[-1].facts["what"] == "state"
    assert found[-1].facts["differs_at"].startswith("$.words[")


@pytest.mark.parametrize(
    "body",
    [
        ["import datetime", "datetime.datetime.now()", "return {}"],
        ["import random", "return {'x': random.Random(ctx.seed).random()}"],
        ["return {'x': ctx.clock.isoformat()}"],
        ["return {'x': sorted({'b', 'a', 'c'})}"],
        ["import os", "return {'x': bool(os.getcwd())}"],
    ],
)
def test_what_does_not_show_is_no_difference(tmp_path: Path, body: list[str]) -> None:
    """Reading the clock for nothing, or taking time and chance from `ctx`."""
    root = write(tmp_path / "pack", also=look(*body), cases=[CASES[0], *CASES[2:]])
    assert failures(root, "D1") == []


def test_what_is_read_at_import_and_at_reset_is_found_before_the_first_call(tmp_path: Path) -> None:
    """In the state that the reset leaves."""
    also = """
        import datetime
        LOADED = str(datetime.date.today())
        _reset = reset

        def reset(*, ctx, fixtures=None):
            _reset(ctx=ctx, fixtures=fixtures)
            state["loaded"] = LOADED
        """
    found = failures(write(tmp_path / "pack", also=also), "D1")
    assert {(failure.facts["what"], failure.facts["differs_at"]) for failure in found} == {
        ("state before the call", "$.loaded")
    }
    assert len(found) == len(CASES)


def test_only_the_first_difference_of_a_chain_is_told(tmp_path: Path) -> None:
    """What comes after follows from it."""
    chain = [CASES[0], case("again", reset_before=False), case("more", reset_before=False), case("new")]
    root = write(tmp_path / "pack", also=TODAY, cases=[*chain, *CASES[2:]])
    assert [failure.facts["case"] for failure in failures(root, "D1")] == ["found", "new"]


def test_what_one_episode_leaves_no_other_finds(tmp_path: Path) -> None:
    """Counters in a module and files in the scratch folder are gone with the process: every episode counts from one."""
    also = """
        import os
        COUNT = []

        def look(arguments, ctx):
            COUNT.append(1)
            with open(os.path.join(os.environ["TMPDIR"], "count"), "a+") as file:
                file.write("1")
                file.seek(0)
                return {"memory": len(COUNT), "disk": len(file.read())}
        """
    again = [case(f"again{index}", expect={"memory": 1, "disk": 1}) for index in range(3)]
    chained = case("chained", reset_before=False, expect={"memory": 2, "disk": 2})
    root = write(tmp_path / "pack", also=also, cases=[*again, chained, *CASES[2:]])
    assert failures(root, "D1") == []
    assert [failure.reason for failure in failures(root, "5")] == ["incomplete_validation_coverage"]


def test_a_probe_that_raises_in_both_worlds_is_left_to_check_5(tmp_path: Path) -> None:
    """It gave the same twice: nothing."""
    root = write(tmp_path / "pack", also=look("raise KeyError"))
    assert [failure.reason for failure in failures(root, "D1")] == ["no_success_case_to_repeat"]


def test_the_assertions_are_no_suspects(tmp_path: Path) -> None:
    """They have no part in what the oracle answers."""
    assertions = "import time\n\ndef assert_looked(*, state, trace, task, ctx):\n    assert time.time()\n"
    root = write(tmp_path / "pack", also=TODAY, assertions=assertions, cases=[CASES[0]])
    found = failures(root, "D1")
    assert found[-1].facts["suspects"] == ["backend.py:45: date.today"]


def test_every_reason_is_tested_here() -> None:
    """None is left without a test."""
    assert set(CHECK.reasons) == set(SMALLEST)
    assert (CHECK.id, CHECK.name) == ("D1", "determinism_check")


def test_the_good_pack_passes(tmp_path: Path) -> None:
    """Nothing is reported."""
    assert failures(write(tmp_path / "pack"), "D1") == []
