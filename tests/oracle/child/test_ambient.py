from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_workers import Live, live

NEW_YEAR = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

CLOCKS = {
    "time.time": "import time; value = time.time()",
    "time.time_ns": "import time; value = time.time_ns() / 1e9",
    "from time import time": "from time import time; value = time()",
    "clock_gettime": "import time; value = time.clock_gettime(time.CLOCK_REALTIME)",
    "clock_gettime_ns": "import time; value = time.clock_gettime_ns(time.CLOCK_REALTIME) / 1e9",
    "the coarse clock": "import time; value = time.clock_gettime(5)",
    "atomic time": "import time; value = time.clock_gettime(getattr(time, 'CLOCK_TAI', 0))",
    "gmtime": "import time, calendar; value = calendar.timegm(time.gmtime())",
    "localtime": "import time; value = time.mktime(time.localtime())",
    "ctime": "import time; value = time.mktime(time.strptime(time.ctime()))",
    "asctime": "import time; value = time.mktime(time.strptime(time.asctime()))",
    "strftime": "import time; value = time.mktime(time.strptime(time.strftime('%Y %j %H %M %S'), '%Y %j %H %M %S'))",
    "datetime.now": "from datetime import datetime; value = datetime.now().timestamp()",
    "datetime.now with a zone": "from datetime import datetime, UTC; value = datetime.now(UTC).timestamp()",
    "datetime.utcnow": "import datetime as d; value = d.datetime.utcnow().replace(tzinfo=d.UTC).timestamp()",
    "datetime.today": "import datetime; value = datetime.datetime.today().timestamp()",
    "date.today": "import datetime, time; value = time.mktime(datetime.date.today().timetuple())",
    "the C module": "import _datetime; value = _datetime.datetime.now().timestamp()",
    "a subclass": "from datetime import datetime\nclass D(datetime): pass\nvalue = D.now().timestamp()",
    "logging": "import logging; value = logging.makeLogRecord({}).created",
    "email": "import email.utils as u; value = u.parsedate_to_datetime(u.formatdate()).timestamp()",
}
CHANCE = {
    "random.random": "import random; value = random.random()",
    "from random import": "from random import randint; value = [randint(0, 9) for _ in range(20)]",
    "shuffle": "import random; value = list(range(30)); random.shuffle(value)",
    "random.seed()": "import random; random.seed(); value = random.random()",
    "random.Random()": "import random; value = random.Random().random()",
    "SystemRandom": "import random; value = random.SystemRandom().random()",
    "os.urandom": "import os; value = os.urandom(8).hex()",
    "os.getrandom": "import os; value = (os.getrandom if hasattr(os, 'getrandom') else os.urandom)(8).hex()",
    "posix.urandom": "import posix; value = posix.urandom(8).hex()",
    "secrets": "import secrets; value = secrets.token_hex(8)",
    "uuid4": "import uuid; value = str(uuid.uuid4())",
    "uuid1": "import uuid; value = str(uuid.uuid1())",
    "a temporary name": "import tempfile, os; value = os.path.basename(tempfile.mktemp())",
}
WORLD = {
    "hash of a text": "value = hash('a')",
    "order of a set": "value = list({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'})",
    "time zone": "import time; value = [time.tzname, time.timezone]",
    "variables of the locale": "import os; value = [os.environ['LANG'], os.environ['LC_ALL']]",
    "depth of the folder": "import os; value = os.getcwd().count('/')",
    "name of the folder": "import os; value = os.getcwd()",
    "home": "import os; value = os.path.expanduser('~')",
    "name of the machine": "import platform, socket, os; value = [platform.node(), socket.gethostname(), os.uname()[1]]",
    "processors": "import os; value = os.cpu_count()",
    "all of the environment": "import os; value = dict(os.environ)",
}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """An obedient pack."""
    with live(tmp_path_factory.mktemp("pack")) as found:
        yield found


@pytest.mark.parametrize("name", CLOCKS)
def test_every_door_to_the_wall_clock_leads_to_a_made_up_one(pack: Live, name: str) -> None:
    """The plain world starts on New Year 2026, the other in another year, month, weekday and hour; each every time."""
    plain, again, shifted = (pack.do(CLOCKS[name], world) for world in ("plain", "plain", "shifted"))
    assert plain == again
    start = NEW_YEAR.timestamp()
    assert start <= plain < start + 60
    assert shifted - plain > 3 * 365 * 86400
    there = NEW_YEAR + dt.timedelta(seconds=shifted - plain)
    assert (there.year, there.month, there.weekday()) != (NEW_YEAR.year, NEW_YEAR.month, NEW_YEAR.weekday())


@pytest.mark.parametrize("name", CLOCKS)
def test_reading_the_wall_clock_is_noted(pack: Live, name: str) -> None:
    """The audit log has the line; what a library reads for itself is the library's affair."""
    pack.tried()
    pack.do(CLOCKS[name])
    noted = [(each.kind, each.file) for each in pack.tried()]
    by_library = name in ("logging", "email")
    assert noted == ([] if by_library else [("clock", "backend.py")] * len(noted))
    assert by_library or noted


@pytest.mark.parametrize("name", CHANCE)
def test_chance_follows_from_the_world(pack: Live, name: str) -> None:
    """The same in every worker of one world, another in the other; and noted."""
    pack.tried()
    plain, again, shifted = (pack.do(CHANCE[name], world) for world in ("plain", "plain", "shifted"))
    assert plain == again
    assert plain != shifted
    assert {(each.kind, each.file) for each in pack.tried()} == {("entropy", "backend.py")}


@pytest.mark.parametrize("name", WORLD)
def test_the_worlds_differ_and_each_is_the_same_every_time(pack: Live, name: str) -> None:
    """What a pack must not read shows, because it is another in the other world."""
    plain, again, shifted = (pack.do(WORLD[name], world) for world in ("plain", "plain", "shifted"))
    assert plain != shifted
    if name not in (
        "name of the folder",
        "home",
        "all of the environment",
    ):  # each worker has a folder of its own
        assert plain == again


def test_randomness_with_a_seed_is_pythons_own(pack: Live) -> None:
    """A seed gives what it gives everywhere, by `random.seed`, `random.Random` and their relatives, and isn't noted."""
    code = """
        import random
        random.seed(1)
        first = [random.random(), random.randint(1, 6), random.choice("abc"), random.gauss(0, 1)]
        random.seed("text")
        own = random.Random(1)
        class Mine(random.Random):
            pass
        value = [first, random.random(), own.random(), Mine(2).random(), own.sample(range(9), 3)]
    """
    pack.tried()
    there = {world: pack.do(code, world) for world in ("plain", "shifted")}
    code = textwrap.dedent(code) + "\nimport json; print(json.dumps(value))"
    here = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert there == {"plain": here, "shifted": here}
    assert pack.tried() == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("value = isinstance(ctx.clock, datetime) and isinstance(ctx.clock, date)", True),
        ("value = isinstance(ctx.clock.date(), date) and not isinstance(ctx.clock.date(), datetime)", True),
        ("value = type(ctx.clock) is datetime and issubclass(datetime, date)", True),
        ("value = ctx.clock.tzinfo is not None and ctx.clock.isoformat()", "2026-01-01T00:00:00+00:00"),
        ("value = (ctx.clock + timedelta(days=1)).isoformat()", "2026-01-02T00:00:00+00:00"),
        ("value = (ctx.clock - datetime(2025, 1, 1, tzinfo=timezone.utc)).days", 365),
        ("value = ctx.clock == datetime.fromisoformat('2026-01-01T00:00:00+00:00')", True),
        ("value = copy.deepcopy(ctx.clock) == pickle.loads(pickle.dumps(ctx.clock)) == ctx.clock", True),
        ("value = type(copy.copy(ctx.clock)) is datetime", True),
        ("value = datetime.strptime('2026-03-04', '%Y-%m-%d').isoformat()", "2026-03-04T00:00:00"),
        ("value = date.fromisoformat('2026-03-04').isocalendar()[1]", 10),
        (
            "value = datetime.combine(date(2026, 1, 2), datetime.min.time()).isoformat()",
            "2026-01-02T00:00:00",
        ),
        ("value = str(datetime.fromtimestamp(0, timezone.utc))", "1970-01-01 00:00:00+00:00"),
        ("value = ctx.clock.astimezone(ZoneInfo('Asia/Kolkata')).isoformat()", "2026-01-01T05:30:00+05:30"),
        ("value = sorted([datetime(2026, 1, 2), datetime(2026, 1, 1)])[0].day", 1),
        ("value = repr(datetime(2026, 1, 2))", "datetime.datetime(2026, 1, 2, 0, 0)"),
        ("value = len({datetime(2026, 1, 2), datetime(2026, 1, 2)})", 1),
        ("value = f'{ctx.clock:%d.%m.%Y}'", "01.01.2026"),
        (
            "class Day(date): pass\nvalue = [isinstance(date(2026, 1, 1), Day), isinstance(Day(2026, 1, 1), date)]",
            [False, True],
        ),
        (
            "import _pydatetime as p\nvalue = p.datetime(2026, 1, 1).year"
            if sys.version_info >= (3, 12)
            else "value = 2026",
            2026,
        ),
    ],
)
def test_dates_are_dates(pack: Live, code: str, expected: Any) -> None:
    """That the clock is made up is not in the way of anything that code does with dates."""
    imports = "import copy, pickle\nfrom datetime import date, datetime, timedelta, timezone\nfrom zoneinfo import ZoneInfo\n"
    for world in ("plain", "shifted"):
        assert pack.do(imports + code, world) == expected


def test_sleeping_moves_the_clock_by_what_was_slept(pack: Live) -> None:
    """And looking at it moves it a little: time passes, the same time on every machine."""
    code = """
        import time
        first = time.time_ns()
        second = time.time_ns()
        time.sleep(0.05)
        value = [second - first, time.time_ns() - second]
    """
    assert pack.do(code) == [1_000_000, 51_000_000]


def test_waiting_is_real(pack: Live) -> None:
    """Event loops and locks wait by clocks that are not made up."""
    code = """
        import threading, time
        start = time.monotonic()
        threading.Event().wait(0.02)
        value = 0.02 <= time.monotonic() - start < 60 and time.perf_counter() != time.perf_counter()
    """
    assert pack.do(code) is True


def test_what_the_pack_does_in_one_worker_does_not_show_in_the_next(pack: Live) -> None:
    """Each worker's world starts anew, however much of it another has read."""
    code = "import random, time; value = [random.random(), time.time(), __import__('os').urandom(4).hex()]"
    first = pack.do(code)
    pack.do("import random, time\nfor _ in range(50): random.random(), time.time()")
    assert pack.do(code) == first


def test_a_pack_may_set_its_time_zone(pack: Live) -> None:
    """`time.tzset` works; a zone that the pack sets is the same in both worlds."""
    code = "import os, time; os.environ['TZ'] = 'EST5'; time.tzset(); value = time.tzname[0]"
    assert [pack.do(code, world) for world in ("plain", "shifted")] == ["EST", "EST"]


def test_reading_the_environment_is_noted_by_name(pack: Live) -> None:
    """Of the variables the names are noted, never what they hold; of all of them, that it was all."""
    pack.tried()
    pack.do("import os; os.getenv('SECRET'); os.environ.get('TZ'); 'X' in os.environ; list(os.environ)")
    assert [(each.kind, each.what) for each in pack.tried()] == [
        ("environment", name) for name in ("*", "SECRET", "TZ", "X")
    ]


def test_a_world_is_the_same_in_every_run(tmp_path: Path) -> None:
    """Two runs of everything, each with processes of its own, read the same world to the byte."""
    code = f'''
import json, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent.parent / "worker")!r})
sys.path.insert(0, {str(Path(__file__).parent)!r})
from live_workers import live
code = """
value = []
for text in codes:
    scope = {{}}
    exec(text, scope)
    value.append(scope["value"])
"""
given = {{"codes": json.load(sys.stdin)}}
with live(Path({str(tmp_path)!r}) / "pack") as pack:
    print(json.dumps([pack.do(code, world, given=given) for world in ("plain", "shifted")]))
'''
    same = [
        code
        for name, code in WORLD.items()
        if name not in ("name of the folder", "home", "all of the environment")
    ]
    codes = json.dumps([*CLOCKS.values(), *CHANCE.values(), *same])
    run = [
        subprocess.run(
            [sys.executable, "-c", code], input=codes, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert run[0] == run[1]
    plain, shifted = json.loads(run[0])
    assert len(plain) == len(json.loads(codes))
    assert all(a != b for a, b in zip(plain, shifted, strict=True))
