from __future__ import annotations

import textwrap

import pytest

from averment.oracle.child import scan_names
from averment.oracle.child.scan import CODES, scan


def found(source: str) -> list[tuple[str, str]]:
    """Code and name of each entry."""
    return [(each["code"], each["name"]) for each in scan(textwrap.dedent(source))]


@pytest.mark.parametrize(
    ("source", "code", "name"),
    [
        # clocks
        ("import time\ntime.time()", "reads_clock", "time.time"),
        ("import time as t\nnow = t.time_ns", "reads_clock", "time.time_ns"),
        ("from time import time as now\nnow()", "reads_clock", "time.time"),
        ("import time\nclock = time\nclock.monotonic()", "reads_clock", "time.monotonic"),
        ("import time\ntime.localtime()", "reads_clock", "time.localtime"),
        ("import time\ntime.localtime(None)", "reads_clock", "time.localtime"),
        ("import time\ntime.strftime('%Y')", "reads_clock", "time.strftime"),
        ("import time\ntime.ctime()", "reads_clock", "time.ctime"),
        ("import datetime\ndatetime.datetime.now().date()", "reads_clock", "datetime.datetime.now"),
        ("import datetime as dt\ndt.datetime.now(dt.timezone.utc)", "reads_clock", "datetime.datetime.now"),
        ("from datetime import datetime\ndatetime.utcnow()", "reads_clock", "datetime.datetime.utcnow"),
        ("from datetime import date\ndate.today()", "reads_clock", "datetime.date.today"),
        (
            "from datetime import datetime\ndef f(now=datetime.now): ...",
            "reads_clock",
            "datetime.datetime.now",
        ),
        # randomness
        ("import random\nrandom.choice([1])", "unseeded_random", "random.choice"),
        ("from random import shuffle as mix\nmix([1])", "unseeded_random", "random.shuffle"),
        ("import random\nrandom.Random()", "unseeded_random", "random.Random"),
        ("import random\nrandom.Random(None)", "unseeded_random", "random.Random"),
        ("import random\nrandom.seed()", "unseeded_random", "random.seed"),
        ("import random\nrandom.SystemRandom()", "unseeded_random", "random.SystemRandom"),
        ("import uuid\nstr(uuid.uuid4())", "unseeded_random", "uuid.uuid4"),
        ("from uuid import uuid1\nuuid1()", "unseeded_random", "uuid.uuid1"),
        ("import secrets\nsecrets.token_hex()", "unseeded_random", "secrets.token_hex"),
        ("import os\nos.urandom(8)", "unseeded_random", "os.urandom"),
        ("import numpy as np\nnp.random.rand()", "unseeded_random", "numpy.random.rand"),
        ("import numpy as np\nnp.random.default_rng()", "unseeded_random", "numpy.random.default_rng"),
        # environment
        ("import os\nos.environ['HOME']", "reads_environment", "os.environ"),
        ("from os import environ\nenviron.get('HOME')", "reads_environment", "os.environ"),
        ("from os import getenv\ngetenv('HOME')", "reads_environment", "os.getenv"),
        ("import os\nos.getcwd()", "reads_environment", "os.getcwd"),
        ("from pathlib import Path\nPath.cwd()", "reads_environment", "pathlib.Path.cwd"),
        ("import locale\nlocale.getlocale()", "reads_environment", "locale.getlocale"),
        ("import platform\nplatform.node()", "reads_environment", "platform.node"),
        ("import socket\nsocket.gethostname()", "reads_environment", "socket.gethostname"),
        ("import time\ntime.localtime(0)", "reads_environment", "time.localtime"),
        (
            "import datetime as dt\ndt.datetime.fromtimestamp(0)",
            "reads_environment",
            "datetime.datetime.fromtimestamp",
        ),
        (
            "def f(ctx):\n    ctx.clock.astimezone()",
            "reads_environment",
            "datetime.datetime.astimezone",
        ),
        ("input()", "reads_environment", "builtins.input"),
        # files
        ("open('fixtures.json')", "reads_file", "builtins.open"),
        ("PLACE = '/etc/passwd'\nopen(PLACE, 'r')", "reads_file", "builtins.open"),
        ("import os\nopen(os.path.join('/tmp', 'a'))", "reads_file", "builtins.open"),
        ("import os\nos.listdir()", "reads_file", "os.listdir"),
        ("from pathlib import Path\nPath('a').read_text()", "reads_file", "pathlib.Path.read_text"),
        (
            "from pathlib import Path\nHERE = Path('/tmp')\n(HERE / 'a').resolve().exists()",
            "reads_file",
            "pathlib.Path.exists",
        ),
        ("from pathlib import Path\nPath('a').open()", "reads_file", "pathlib.Path.open"),
        ("def f(path):\n    open(path, 'w')", "writes_file", "builtins.open"),
        ("open(__file__, mode='a')", "writes_file", "builtins.open"),
        ("def f(path):\n    path.write_text('')", "writes_file", "pathlib.Path.write_text"),
        (
            "from pathlib import Path\nPath(__file__).with_name('a').unlink()",
            "writes_file",
            "pathlib.Path.unlink",
        ),
        ("from pathlib import Path\nPath('a').open('wb')", "writes_file", "pathlib.Path.open"),
        ("import os\nos.remove('a')", "writes_file", "os.remove"),
        ("import shutil\nshutil.rmtree('a')", "writes_file", "shutil.rmtree"),
        ("import tempfile\ntempfile.mkdtemp()", "writes_file", "tempfile.mkdtemp"),
        ("import sqlite3\nsqlite3.connect('a.db')", "writes_file", "sqlite3.connect"),
        # networks, processes, threads, native code
        ("import socket\nsocket.socket()", "uses_network", "socket.socket"),
        ("import urllib.request\nurllib.request.urlopen('x')", "uses_network", "urllib.request.urlopen"),
        ("from urllib import request\nrequest.urlopen('x')", "uses_network", "urllib.request.urlopen"),
        (
            "from http.client import HTTPSConnection\nHTTPSConnection('x')",
            "uses_network",
            "http.client.HTTPSConnection",
        ),
        ("import requests\nrequests.get('x').json()", "uses_network", "requests.get"),
        ("import httpx\nwith httpx.Client() as c: c.get('x')", "uses_network", "httpx.Client"),
        ("import subprocess\nsubprocess.run(['a'])", "starts_process", "subprocess.run"),
        ("import os\nos.system('a')", "starts_process", "os.system"),
        ("import os\nos.fork()", "starts_process", "os.fork"),
        ("import multiprocessing as mp\nmp.Process()", "starts_process", "multiprocessing.Process"),
        ("import threading\nthreading.Thread()", "starts_thread", "threading.Thread"),
        (
            "from concurrent.futures import ThreadPoolExecutor as T\nT()",
            "starts_thread",
            "concurrent.futures.ThreadPoolExecutor",
        ),
        (
            "import multiprocessing.pool\nmultiprocessing.pool.ThreadPool()",
            "starts_thread",
            "multiprocessing.pool.ThreadPool",
        ),
        ("import ctypes\nctypes.CDLL(None)", "native_code", "ctypes.CDLL"),
        ("from cffi import FFI\nFFI()", "native_code", "cffi.FFI"),
        # hashes
        ("hash('a')", "hash_order", "hash"),
        ("def f(x):\n    return f'{id(x)}'", "hash_order", "id"),
        ("def f(x):\n    return str(id(x))", "hash_order", "id"),
        ("def f(x):\n    return list(set(x))", "hash_order", "set"),
        ("def f(x):\n    return ','.join(set(x) - {'a'})", "hash_order", "set"),
        ("def f(x):\n    return [each for each in frozenset(x)]", "hash_order", "set"),
        ("def f(x):\n    return next(iter({'a', 'b'}))", "hash_order", "set"),
        ("def f(x):\n    return set(x).pop()", "hash_order", "set"),
        # patches
        ("import json\njson.dumps = str", "patches_module", "json.dumps"),
        ("import builtins\nbuiltins.open = None", "patches_module", "builtins.open"),
        (
            "from datetime import datetime\ndel datetime.min",
            "patches_module",
            "datetime.datetime.min",
        ),
        ("import json as j\nsetattr(j, 'dumps', str)", "patches_module", "json"),
        ("import sys\nsys.modules['json'] = None", "patches_module", "sys.modules"),
        ("import json\njson.__dict__['dumps'] = str", "patches_module", "json.__dict__"),
    ],
)
def test_the_scan_names_what_is_read_or_changed(source: str, code: str, name: str) -> None:
    """Once, under its full name, whatever it is called in the file."""
    assert found(source) == [(code, name)]


@pytest.mark.parametrize(
    "source",
    [
        # given a value, these ask for nothing
        "import time\ntime.gmtime(0), time.strftime('%Y', (1,)), time.sleep(0)",
        "import datetime as dt\ndt.datetime.fromtimestamp(0, dt.timezone.utc), dt.datetime(2026, 1, 1)",
        "import time\ndef f(*args): return time.localtime(*args)",
        "def f(ctx): return ctx.clock.astimezone(None or zone)",
        "def f(ctx): return ctx.clock.now()",
        # generators with seeds
        "import random\nrng = random.Random(7)\nrng.choice([1])",
        "import random\ndef f(ctx): return random.Random(ctx.seed).random()",
        "import random\ndef f(rng: random.Random): return rng.random()",
        "import random\nrandom.seed(7)\nrandom.choice([1])",
        "import numpy as np\nnp.random.default_rng(7).random()",
        "import numpy as np\nnp.random.seed(7)\nnp.random.rand()",
        "import uuid\nuuid.uuid5(uuid.NAMESPACE_URL, 'a')",
        "import secrets\nsecrets.compare_digest('a', 'b')",
        # names that mean something else
        "def f(time): return time.time()",
        "import time\ntime = Clock()\ntime.time()",
        "import time\ndef f():\n    time = Clock()\n    return time.time()",
        "import random\n[random.choice() for random in rngs]",
        "from . import time\ntime.time()",
        "from .time import time\ntime()",
        "class datetime:\n    def now(self): ...\ndatetime.now()",
        "import time\nclass A:\n    time = 3\n    def f(self, time=None): return time",
        "def open(path): ...\nopen('a')",
        "def f(open): open('a', 'w')",
        "import time\nclass A:\n    def f(self):\n        global time\n        time = 3",
        "try:\n    import random\nexcept ImportError as random:\n    pass\nrandom.choice()",
        "import time\nmatch x:\n    case [*time]: time.time()\n    case {**time}: time.time()\n    case time: time.time()",
        # types in hints and classes that are only named
        "import socket\ndef f(s: socket.socket) -> socket.socket: ...",
        "import threading\nx: threading.Thread\nisinstance(x, threading.Thread)",
        "import subprocess\ntry: ...\nexcept subprocess.CalledProcessError: ...",
        "import requests\nraise requests.HTTPError('a')",
        "import socket\nsocket.AF_INET",
        "import threading\nthreading.Lock()",
        "import ctypes\nctypes.c_int32(7).value",
        # files that lie beside the module, or wherever the caller says
        "open(__file__)",
        "import os\nopen(os.path.join(os.path.dirname(__file__), 'a.json'))",
        "from pathlib import Path\nHERE = Path(__file__).parent\n(HERE / 'a.json').read_text()",
        "from pathlib import Path\nHERE = Path(__file__).parent\nTEXT = HERE / 'a'\nwith TEXT.open() as f: ...",
        "from importlib import resources\nresources.files('a').joinpath('b').read_text()",
        "def f(path):\n    return open(path), path.read_text(), path.exists()",
        "import sqlite3\nsqlite3.connect(':memory:')",
        "def f(text): return text.replace('a', 'b')",
        "def f(shop): return shop.open('w')",
        # hashes that stay inside
        "class A:\n    def __hash__(self): return hash((self.a, self.b))",
        "hash(7)",
        "class A:\n    def __repr__(self): return f'<A {id(self)}>'",
        "def f(x, seen):\n    seen.add(id(x))",
        "def f(x): return sorted(set(x)), sorted(list(set(x))), len(list(set(x)))",
        "def f(x):\n    ids = list(set(x))\n    ids.sort()\n    return ids",
        "def f(x):\n    ids = list(set(x))\n    return sorted(ids)",
        "list({1, 2}), list(set())",
        "for each in set(x): total += 1",
        # modules that are the pack's own, and settings that each module may change
        "import store\nstore.rows = {}",
        "import sys\nsys.dont_write_bytecode = True\nsys.path[:0] = ['a']",
        "import decimal\ndecimal.getcontext().prec = 10",
        "import threading\nlocal = threading.local()\nlocal.x = 1",
        "class A: ...\nA.x = 1\nsetattr(A, 'x', 1)",
        # what only runs as a program
        "import time\nif __name__ == '__main__':\n    print(time.time())",
        # text
        "'time.time()'",
        "'''\nimport time\ntime.time()\n'''",
    ],
)
def test_the_scan_is_silent_about_what_it_is_not_sure_of(source: str) -> None:
    """A warning that is wrong costs more than one that is missing: the runs in two worlds find what the scan misses."""
    assert found(source) == []


def test_code_for_other_modules_of_the_pack_is_not_taken_for_pythons() -> None:
    """A helper may be called like a module of the standard library."""
    source = "import random\nfrom secrets import token_hex\nrandom.choice([1])\ntoken_hex()"
    assert len(scan(source)) == 2
    assert scan(source, local={"random", "secrets"}) == []


def test_names_in_a_class_body_are_not_seen_by_its_methods() -> None:
    """As Python has it: the method reads the module's `time`."""
    source = "import time\nclass A:\n    time = 3\n    def f(self): return time.time()"
    assert found(source) == [("reads_clock", "time.time")]


def test_an_entry_says_what_and_where_in_code_points() -> None:
    """Columns count characters, not bytes."""
    assert scan("import time\nx = 'größer', time.time()\n") == [
        {
            "code": "reads_clock",
            "line": 2,
            "column": 15,
            "name": "time.time",
            "message": "`time.time` reads the clock",
        }
    ]


def test_entries_stand_in_the_order_of_the_text() -> None:
    """Whatever rule found them; two on one line by column."""
    source = """
    import os, time
    def f():
        return hash(os.environ["A"]), time.time(), open("x")
    time.time()
    """
    assert found(source) == [
        ("hash_order", "hash"),
        ("reads_environment", "os.environ"),
        ("reads_clock", "time.time"),
        ("reads_file", "builtins.open"),
        ("reads_clock", "time.time"),
    ]


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [("def f(:\n", 1, 7), ("x = 1\ny = (", 2, 5), ("a\0b", 1, 2), ("(" * 5_000, 1, None)],
)
def test_a_file_that_is_not_python_is_one_entry(source: str, line: int, column: int | None) -> None:
    """With the place; nothing else can be said of it."""
    [entry] = scan(source)
    assert (entry["code"], entry["line"]) == ("unparsable", line)
    assert column in {None, entry["column"]}


def test_a_long_chain_of_operators_is_walked() -> None:
    """Deep trees are walked by hand, not by recursion."""
    source = "import time\nx = " + " + ".join(["time.time()"] * 900)
    assert len(scan(source)) in {900, 1}  # some versions of Python refuse to parse as deep a tree


@pytest.mark.parametrize(
    "source",
    [
        "import a\n" + ("x = a" + ".b" * 800 + "\n") * 20,
        "X = [" + "1, " * 20_000 + "*x]\n" + "open(X)\n" * 2_000,
    ],
    ids=["chains", "places"],
)
def test_the_time_of_a_scan_grows_with_the_length_of_the_file_and_no_faster(source: str) -> None:
    """These would take minutes if every node were followed to its end, each time anew."""
    assert scan(source) == []


def test_a_name_that_means_itself_has_an_end() -> None:
    """Chains of assignments may be circular."""
    assert scan("a = b.x\nb = a.x\nb.time()\nopen(a)\n(a / 'x').read_text()") == []


def test_every_code_has_a_meaning_and_a_mend() -> None:
    """And every name in the tables has a code of the table."""
    tables = (scan_names.REFERENCES, scan_names.CALLS, scan_names.PACKAGES)
    assert {code for table in tables for code in table.values()} <= set(CODES)
    for each in CODES.values():
        assert set(each) == {"about", "mend"}
        assert all(text.endswith(".") for text in each.values())
