"""The kernel's limits on a worker: no network, no new process, no file outside the pack and the scratch folder.

Three mechanisms of Linux, each laid on by the worker itself before it loads the pack, none of which it can take off:

- resource limits (`setrlimit`): address space, processor time, size of files, number of open files;
- Landlock (Linux 5.13): files may be read below the pack and the interpreter, and written below the scratch folder;
- a seccomp filter: system calls that reach the network, other processes or the machine are refused with EPERM.

They bind the whole process, so that native code (`ctypes`, extension modules) meets them as well. Where one is missing,
`Seal` says so; the audit hook still refuses what Python code tries, which is a guard rail and not a boundary.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterator, Sequence

from averment.oracle.child.syscalls import (
    CLONE,
    CLONE3,
    FCNTL,
    IOCTL,
    KILL,
    MACHINES,
    NEWEST,
    PRCTL,
    PRLIMIT64,
    REFUSED,
    SEALING,
    TGKILL,
)

__all__ = ["LIMITS", "Seal"]

LIMITS = {
    "address_space": 1 << 30,
    "cpu_seconds": 120,
    "file_size": 16 << 20,
    "open_files": 64,
}
"""What a worker gets, in bytes, seconds and files."""

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 38, 22
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446
_CAPSET = {"x86_64": 126, "aarch64": 91}


class Seal:
    """The limits, prepared where workers are forked from, so that each only has to lay them on.

    Args:
        root: the pack's folder, all of whose folders may be listed.
        readable: folders and files that may be read, with all below them.
        limits: as `LIMITS`.
    """

    def __init__(self, root: str, readable: Sequence[str], limits: dict[str, int]) -> None:
        self._root = root
        self._readable = readable
        self._limits = limits
        self._is_linux = sys.platform.startswith("linux")
        self._machine = os.uname().machine
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._program = _program(self._machine)

    def limit(self) -> bool:
        """Lay the limits on resources on this process; whether the platform has them all."""
        return _limit(self._limits)

    def lay_on_origin(self, scratch: str) -> None:
        """Seal the process that workers are forked from, as far as it can be and still fork, signal and seal them.

        Libraries that a pack names are loaded in it: nothing that they do at import may reach further than a worker.

        Args:
            scratch: the folder that all workers' scratch folders lie in.
        """
        libc = self._libc
        if self._is_linux and not libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            _landlock(libc, self._root, self._readable, scratch)
            _drop_capabilities(libc, self._machine)
            _seccomp(libc, _program(self._machine, forks=True))

    def lay_on(self, scratch: str) -> list[str]:
        """Lay every limit on this process that the platform has.

        Args:
            scratch: the one folder that may be written to.

        Returns:
            What is enforced: of `limits`, `filesystem`, `system_calls`.
        """
        enforced = ["limits"] if self.limit() else []
        libc = self._libc
        if not self._is_linux:
            return enforced
        libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            return enforced
        if _landlock(libc, self._root, self._readable, scratch):
            enforced.append("filesystem")
        _drop_capabilities(libc, self._machine)
        if self._program and _seccomp(libc, self._program):
            enforced.append("system_calls")
        return enforced


def _limit(limits: dict[str, int]) -> bool:
    """Set soft and hard limits alike, and say whether all hold; macOS refuses a limit on address space."""
    wanted = (
        (resource.RLIMIT_AS, limits["address_space"]),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CORE, 0),
    )
    complete = True
    for what, most in wanted:
        hard = resource.getrlimit(what)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(what, (bound, bound))
        except (OSError, ValueError):
            complete = False
    return complete


def _drop_capabilities(libc: ctypes.CDLL, machine: str) -> None:
    """A worker that runs as root keeps no right of root's: with none of them, what belongs to others stays theirs."""
    number = _CAPSET.get(machine)
    if number is not None:
        header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
        libc.syscall(number, header, bytes(24))


# Landlock: https://docs.kernel.org/userspace-api/landlock.html

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_SYM, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 12, 1 << 13, 1 << 14, 1 << 15
_READS = _READ_FILE | _READ_DIR
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def _landlock(libc: ctypes.CDLL, root: str, readable: Sequence[str], scratch: str) -> bool:
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    handled = (1 << 13) - 1
    handled |= _REFER if version >= 2 else 0
    handled |= _TRUNCATE if version >= 3 else 0
    handled |= _IOCTL_DEV if version >= 5 else 0
    network = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0  # abstract sockets and signals stay inside
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(
        _LANDLOCK_CREATE_RULESET, struct.pack("=QQQ", handled, network, scoped)[:size], size, 0
    )
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(libc, ruleset, path, _READS & handled)
        _allow(libc, ruleset, root, _READ_DIR & handled)
        _allow(libc, ruleset, "/dev/null", (_READ_FILE | _WRITE_FILE) & handled)
        _allow(libc, ruleset, scratch, handled & ~(_EXECUTE | _MAKE_SYM))
        return not libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a folder of the import path that is not there
    try:
        is_folder = os.path.isdir(path)
        rule = struct.pack("=Qi", rights if is_folder else rights & _FILE_RIGHTS, place)
        libc.syscall(_LANDLOCK_ADD_RULE, ruleset, 1, rule, 0)
    finally:
        os.close(place)


# seccomp: https://docs.kernel.org/userspace-api/seccomp_filter.html

_LOAD, _EQUALS, _ABOVE, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_ALLOWED, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD = 0x00010000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
# Whoever owns a file is sent signals about it, so naming an owner is a way to signal any process of the same user.
_NAMING_OWNERS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
_OWNERS_BY_IOCTL = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP


_OWN_PID = 0xFFFFFFF0  # no process has it; put in the place of the one that lays the filter on


def _program(machine: str, *, forks: bool = False) -> bytes:
    """The filter for a machine, or nothing where its numbers are not known.

    Args:
        machine: as `MACHINES` has it.
        forks: whether it is for the process that workers are forked from.
    """
    if machine not in MACHINES:
        return b""
    column, architecture = MACHINES[machine]
    refuse = (_RETURN, 0, 0, _ERRNO | _EPERM)
    unknown = (_RETURN, 0, 0, _ERRNO | _ENOSYS)
    allow = (_RETURN, 0, 0, _ALLOWED)
    number = (_LOAD, 0, 0, _NUMBER)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUALS, 1, 0, architecture),
        refuse,
        number,
        (_ABOVE, 0, 1, NEWEST),  # x32 calls too: their numbers have a high bit
        unknown,
        # glibc falls back from `clone3`, whose flags lie in memory that a filter can't read, to `clone`.
        (_EQUALS, 0, 1, CLONE3[column]),
        unknown,
        *_judged(FCNTL[column], 1, [(_EQUALS, command) for command in _NAMING_OWNERS], refuse, allow),
        *_judged(IOCTL[column], 1, [(_EQUALS, command) for command in _OWNERS_BY_IOCTL], refuse, allow),
    ]
    if not forks:
        steps += _judged(CLONE[column], 0, [(_ANY_BIT, _CLONE_THREAD)], allow, refuse)
        steps += _judged(KILL[column], 0, [(_EQUALS, _OWN_PID)], allow, refuse)
        steps += _judged(TGKILL[column], 0, [(_EQUALS, _OWN_PID)], allow, refuse)
        steps += _judged(PRCTL[column], 0, [(_EQUALS, _PR_SET_PDEATHSIG)], refuse, allow)
        steps += _setting_limits(PRLIMIT64[column], allow, refuse)
    numbers = {name: each[column] for name, each in REFUSED.items() if not (forks and name in SEALING)}
    steps += _search(sorted(number for number in numbers.values() if number is not None), allow, refuse)
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


_Step = tuple[int, int, int, int]


def _judged(
    number: int, argument: int, tests: Sequence[tuple[int, int]], passed: _Step, otherwise: _Step
) -> Iterator[_Step]:
    """The steps for a call that is judged by the low half of an argument; others go on with the number loaded.

    Args:
        number: the call.
        argument: which of its arguments, from 0.
        tests: kinds of comparison and what with; one that holds is enough.
        passed: what becomes of the call then.
        otherwise: and what if none holds.
    """
    yield (_EQUALS, 0, len(tests) + 3, number)
    yield (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)
    for index, (test, value) in enumerate(tests):
        yield (test, len(tests) - index, 0, value)
    yield otherwise
    yield passed


def _setting_limits(number: int, allow: _Step, refuse: _Step) -> Iterator[_Step]:
    """`prlimit64` reads limits where its third argument, a pointer, is null, and changes them elsewhere."""
    yield (_EQUALS, 0, 6, number)
    yield (_LOAD, 0, 0, _ARGUMENTS + 16)
    yield (_EQUALS, 0, 3, 0)
    yield (_LOAD, 0, 0, _ARGUMENTS + 20)
    yield (_EQUALS, 0, 1, 0)
    yield allow
    yield refuse


def _search(numbers: Sequence[int], allow: _Step, refuse: _Step) -> list[_Step]:
    """The steps that look a call's number up among sorted ones, by halves: the kernel walks them for every call."""
    if len(numbers) > 8:
        middle = len(numbers) // 2
        low, high = (_search(half, allow, refuse) for half in (numbers[:middle], numbers[middle:]))
        return [(_AT_LEAST, len(low), 0, numbers[middle]), *low, *high]
    compared = [(_EQUALS, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    return [*compared, allow, refuse]


def _seccomp(libc: ctypes.CDLL, program: bytes) -> bool:
    program = program.replace(struct.pack("=I", _OWN_PID), struct.pack("=I", os.getpid()))
    code = ctypes.create_string_buffer(program, len(program))
    size = struct.calcsize("=HBBI")
    described = struct.pack("@HP", len(program) // size, ctypes.addressof(code))
    return not libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, described, 0, 0)
