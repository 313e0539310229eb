"""The world around a worker, made up: its wall clock, its randomness, its environment.

Certification asks whether a pack reads the world. If the clock and the entropy were real, the answer would depend on
the day and on luck; so a worker of either condition has a wall clock that starts at a moment of its own and moves by
what is asked of it, and randomness that comes from a key of its own. What reads neither gives the same answer in both
conditions; what reads one gives two answers, the same two on every run.

Replaced, as Python code sees them: `time.time` and its relatives, `datetime.now`, `utcnow` and `today`, `os.urandom`,
everything in `random`, `secrets` and `uuid4` that is not seeded, `os.environ`, the name of the machine and the number of
its processors. Not replaced: `time.monotonic` and
`time.perf_counter` (event loops wait by them), and what C code asks of the system by itself. Each read is noted for the
audit log.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import posix
import random
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["LogicalClock", "install"]

_Note = Callable[[str, str], None]

_TICK_NS = 1_000_000
_WALL_CLOCKS = frozenset(
    getattr(time, name) for name in ("CLOCK_REALTIME", "CLOCK_TAI") if hasattr(time, name)
) | {5, 8}  # CLOCK_REALTIME_COARSE and CLOCK_REALTIME_ALARM of Linux, which `time` does not name


class LogicalClock:
    """A wall clock that moves a millisecond with every look at it, and by what was slept."""

    def __init__(self, start_ns: int) -> None:
        self._start_ns = self.now_ns = start_ns

    def rewind(self) -> None:
        """Start again."""
        self.now_ns = self._start_ns

    def read(self) -> int:
        """The time in nanoseconds since 1970."""
        self.now_ns += _TICK_NS
        return self.now_ns


class _Entropy:
    """Bytes that look random and follow from a key."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()
        self._count = 0

    def rewind(self) -> None:
        self._count = 0

    def take(self, size: int) -> bytes:
        self._count += 1
        block = self._key + self._count.to_bytes(8, "big")
        return hashlib.shake_256(block).digest(size)


def install(*, start_ns: int, key: str, note: _Note) -> Callable[[], None]:
    """Replace what this process knows of the world.

    Args:
        start_ns: where its wall clock starts, in nanoseconds since 1970.
        key: what its randomness follows from, and the name of its machine.
        note: is told of every read, as its kind and its name.

    Returns:
        What starts that world again, whatever was read of it before.
    """
    clock, entropy = LogicalClock(start_ns), _Entropy(key)
    _replace_time(clock, note)
    _replace_datetime(clock, note)
    seed = _replace_entropy(entropy, note)
    _replace_environment(note)
    _replace_machine(key, note)

    def rewind() -> None:
        clock.rewind()
        entropy.rewind()
        seed(entropy.take(32))

    return rewind


def _replace_time(clock: LogicalClock, note: _Note) -> None:
    real_sleep, real_clock_gettime, real_clock_gettime_ns = (
        time.sleep,
        time.clock_gettime,
        time.clock_gettime_ns,
    )

    def read_ns(name: str) -> int:
        note("clock", name)
        return clock.read()

    def sleep(seconds: float, /) -> None:
        real_sleep(seconds)
        clock.now_ns += int(seconds * 1e9)

    def clock_gettime(which: int, /) -> float:
        return read_ns("time.clock_gettime") / 1e9 if which in _WALL_CLOCKS else real_clock_gettime(which)

    def clock_gettime_ns(which: int, /) -> int:
        if which in _WALL_CLOCKS:
            return read_ns("time.clock_gettime_ns")
        return real_clock_gettime_ns(which)

    replaced: dict[str, Any] = {
        "time": lambda: read_ns("time.time") / 1e9,
        "time_ns": lambda: read_ns("time.time_ns"),
        "sleep": sleep,
        "clock_gettime": clock_gettime,
        "clock_gettime_ns": clock_gettime_ns,
    }
    for name in ("localtime", "gmtime", "ctime"):
        replaced[name] = _of_seconds(getattr(time, name), f"time.{name}", read_ns)
    replaced["asctime"] = _of_tuple(time.asctime, "time.asctime", read_ns)
    real_strftime = time.strftime

    def strftime(text: str, when: Any = None, /) -> str:
        given = when if when is not None else _local(read_ns("time.strftime"))
        return real_strftime(text, given)

    replaced["strftime"] = strftime
    for name, function in replaced.items():
        setattr(time, name, function)


_real_localtime = time.localtime


def _local(now_ns: int) -> time.struct_time:
    return _real_localtime(now_ns / 1e9)


def _of_seconds(real: Callable[[float], Any], name: str, read_ns: Callable[[str], int]) -> Callable[..., Any]:
    def replaced(seconds: float | None = None, /) -> Any:
        return real(read_ns(name) / 1e9 if seconds is None else seconds)

    return replaced


def _of_tuple(real: Callable[..., str], name: str, read_ns: Callable[[str], int]) -> Callable[..., str]:
    def replaced(when: Any = None, /) -> str:
        return real(_local(read_ns(name)) if when is None else when)

    return replaced


class _SameKind(type):
    """Instances of the real class count as instances of the one that stands in for it."""

    real: type

    def __instancecheck__(cls, instance: object) -> bool:
        if "real" not in cls.__dict__:  # a class that the pack has derived
            return super().__instancecheck__(instance)
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if "real" not in cls.__dict__:
            return super().__subclasscheck__(subclass)
        return issubclass(subclass, cls.real)


def _named(value: Any, stand_in: type, real: Any) -> str:
    """The text of a date: the interpreter leaves the module away for classes that are not its own."""
    text: str = real.__repr__(value)
    return f"datetime.{text}" if type(value) is stand_in else text


def _replace_datetime(clock: LogicalClock, note: _Note) -> None:
    real_date, real_datetime = dt.date, dt.datetime

    def now_ns(name: str) -> int:
        note("clock", name)
        return clock.read()

    class Date(real_date, metaclass=_SameKind):  # type: ignore[misc, valid-type]
        real = real_date

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now_ns("date.today") / 1e9)

        def __repr__(self) -> str:
            return _named(self, Date, real_date)

    class DateTime(real_datetime, metaclass=_SameKind):  # type: ignore[misc, valid-type]
        real = real_datetime

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(now_ns("datetime.now") / 1e9, tz)

        @classmethod
        def utcnow(cls) -> Any:
            moment = cls.fromtimestamp(now_ns("datetime.utcnow") / 1e9, dt.UTC)
            return moment.replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now_ns("datetime.today") / 1e9)

        def __repr__(self) -> str:
            return _named(self, DateTime, real_datetime)

    for stand_in, name in ((Date, "date"), (DateTime, "datetime")):
        stand_in.__module__ = "datetime"
        stand_in.__name__ = stand_in.__qualname__ = name
        setattr(dt, name, stand_in)
        setattr(sys.modules["_datetime"], name, stand_in)


def _replace_entropy(entropy: _Entropy, note: _Note) -> Callable[[bytes], None]:
    """Replace the sources of randomness; returns what seeds the one that the functions of `random` share."""

    def urandom(size: int, /) -> bytes:
        note("entropy", "os.urandom")
        return entropy.take(size)

    def getrandom(size: int, flags: int = 0) -> bytes:  # noqa: ARG001 - the signature of os.getrandom
        return urandom(size)

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:  # noqa: ARG001
        note("entropy", "uuid.uuid1")
        return uuid.UUID(bytes=entropy.take(16), version=1)

    for module in (os, posix):
        for replaced in (urandom, getrandom):
            if hasattr(module, replaced.__name__):
                setattr(module, replaced.__name__, replaced)
    uuid.uuid1 = uuid1
    random._urandom = urandom  # type: ignore[attr-defined]  # noqa: SLF001 - SystemRandom's, and so that of secrets
    real_seed = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None:
            note("entropy", "random.Random()")
            a = entropy.take(32)
        real_seed(self, a, version)

    random.Random.seed = seed  # type: ignore[method-assign]
    shared = random._inst  # noqa: SLF001 - the functions of the module are its methods
    _note_unseeded(shared, real_seed, note)
    return lambda key: real_seed(shared, key)


def _note_unseeded(shared: random.Random, real_seed: Callable[..., None], note: _Note) -> None:
    """The functions of `random` note that they are used until somebody seeds them."""
    functions = [name for name in random.__all__ if callable(getattr(shared, name, None)) and name.islower()]
    real = {name: getattr(random, name) for name in functions}

    def noting(name: str) -> Callable[..., Any]:
        def function(*args: Any, **named: Any) -> Any:
            note("entropy", f"random.{name}")
            return real[name](*args, **named)

        return function

    def seed(a: Any = None, version: int = 2) -> None:
        if a is None:
            note("entropy", "random.seed()")
            return
        real_seed(shared, a, version)
        for name, function in real.items():
            setattr(random, name, function)
        random.seed = seed

    for name in functions:
        if name not in ("seed", "setstate", "getstate"):
            setattr(random, name, noting(name))
    random.seed = seed


def _replace_environment(note: _Note) -> None:
    """`os.environ` keeps its class and tells who looks into it."""
    known: Any = type(os.environ)

    class Environ(known):  # type: ignore[misc]
        def __getitem__(self, key: str) -> str:
            note("environment", str(key)[:80])
            return str(super().__getitem__(key))

        def __iter__(self) -> Iterator[str]:
            note("environment", "*")
            return iter(super().__iter__())

        def __contains__(self, key: object) -> bool:
            note("environment", str(key)[:80])
            return bool(super().__contains__(key))

    os.environ.__class__ = Environ


def _replace_machine(name: str, note: _Note) -> None:
    """What tells machines apart: their names, and how many processors they have."""
    real_uname = os.uname
    if "platform" in sys.modules:
        sys.modules["platform"]._uname_cache = None  # type: ignore[attr-defined]  # noqa: SLF001 - `uuid` has asked
    processors = 2 + len(name)  # another number for another name

    def uname() -> Any:
        note("environment", "os.uname")
        fields = list(real_uname())
        fields[1] = name
        return os.uname_result(fields)

    def gethostname() -> str:
        note("environment", "socket.gethostname")
        return name

    def cpu_count() -> int:
        note("environment", "os.cpu_count")
        return processors

    os.uname = posix.uname = uname
    os.cpu_count = posix.cpu_count = cpu_count
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        os.process_cpu_count = cpu_count
    socket.gethostname = gethostname
