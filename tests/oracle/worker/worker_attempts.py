"""What a pack might try in a worker and must not get: each attempt in Python and past Python, with what it comes to.

As a program, `worker_attempts.py FOLDER` makes every attempt in workers and prints what came of each as JSON: so they can
be made as another user.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from live_workers import live

from averment.oracle.oracles import OracleError

__all__ = ["IN_PYTHON", "PAST_PYTHON", "SYSTEM_CALLS", "attempt_all", "prepared"]

IN_PYTHON: dict[str, tuple[str, str]] = {
    # name: kind of the note in the audit log, and what is tried
    "tcp socket": ("network", "import socket; socket.socket()"),
    "udp socket": ("network", "import socket; socket.socket(type=socket.SOCK_DGRAM)"),
    "unix socket": ("", "import socket; socket.socket(socket.AF_UNIX)"),
    "connection": ("network", "import socket; socket.create_connection(('127.0.0.1', 9))"),
    "name lookup": ("network", "import socket; socket.getaddrinfo('localhost', 80)"),
    "os.fork": ("process", "import os; os.fork()"),
    "os.forkpty": ("process", "import os; os.forkpty()"),
    "os.system": ("process", "import os; os.system('true')"),
    "os.execv": ("process", "import os; os.execv('/bin/true', ['true'])"),
    "os.posix_spawn": ("process", "import os; os.posix_spawn('/bin/true', ['true'], {})"),
    "subprocess": ("process", "import subprocess; subprocess.run(['true'])"),
    "fork_exec": (
        "",
        "import multiprocessing.util as u; u.spawnv_passfds(b'/bin/true', [b'true'], ())",
    ),
    "kill the parent": ("process", "import os; os.kill(os.getppid(), 0)"),
    "kill process 1": ("process", "import os; os.kill(1, 0)"),
    "kill the group": ("process", "import os; os.killpg(0, 9)"),
    "open a file of the system": ("read", "open('/etc/passwd')"),
    "open a file beside the pack": ("read", "open(beside)"),
    "open it from inside": ("read", "open(pack + '/../beside.txt')"),
    "open a folder of the system": (
        "read",
        "import os; os.open('passwd', 0, dir_fd=os.open('/', os.O_PATH))",
    ),
    "list a folder": ("read", "import os; os.listdir('/etc')"),
    "scan a folder": ("read", "import os; list(os.scandir('/'))"),
    "memory of the parent": ("read", "import os; open(f'/proc/{os.getppid()}/mem')"),
    "memory of itself": ("read", "open('/proc/self/mem')"),
    "write into the pack": ("write", "open(pack + '/new.txt', 'w')"),
    "append to its own file": ("write", "open(pack + '/backend.py', 'a')"),
    "write beside the pack": ("write", "open(beside, 'r+')"),
    "create by os.open": ("write", "import os; os.open(outside + '/new', os.O_CREAT | os.O_WRONLY)"),
    "mkdir": ("write", "import os; os.mkdir(outside + '/new')"),
    "rmdir": ("write", "import os; os.rmdir(outside + '/empty')"),
    "unlink": ("write", "import os; os.unlink(pack + '/backend.py')"),
    "rename": ("write", "import os; os.rename(beside, beside + '.new')"),
    "rename into the pack": (
        "write",
        "import os; open('x', 'w').close(); os.rename('x', pack + '/backend.py')",
    ),
    "link": ("write", "import os; os.link(beside, 'linked')"),
    "symlink": ("write", "import os; os.symlink('/etc', outside + '/new')"),
    "symlink in the scratch folder": ("write", "import os; os.symlink('/etc/passwd', 'link')"),
    "chmod": ("write", "import os; os.chmod(beside, 0o777)"),
    "chown": ("write", "import os; os.chown(beside, 1, 1)"),
    "utime": ("write", "import os; os.utime(beside, (1, 1))"),
    "truncate": ("write", "import os; os.truncate(beside, 0)"),
    "database": ("write", "import sqlite3; sqlite3.connect(beside)"),
    "own limits": ("", "import resource as r; r.setrlimit(r.RLIMIT_CPU, (1, 1))"),
    "trace": ("hook", "import sys; sys.settrace(print)"),
    "profile": ("hook", "import sys; sys.setprofile(print)"),
    "all objects": ("hook", "import gc; gc.get_objects()"),
    "another audit hook": ("hook", "import sys; sys.addaudithook(print)"),
}
"""What is tried in Python ends in an exception; most are in the audit log, the rest is refused by the kernel alone."""

PAST_PYTHON: dict[str, str] = {
    "socket": "c.socket(2, 1, 0)",
    "udp socket": "c.socket(2, 2, 0)",
    "unix socket": "c.socket(1, 1, 0)",
    "netlink socket": "c.socket(16, 3, 0)",
    "connect": "c.connect(0, b'0' * 16, 16)",
    "fork": "c.fork()",
    "vfork by number": "c.syscall(x86(58))",
    "system": "-1 if c.system(b'touch x') == 127 << 8 else 0",
    "posix_spawn": "spawn()",
    "execv": "c.execv(b'/bin/true', None)",
    "execveat": "c.syscall(x86(322), -100, b'/bin/true', 0, 0, 0)",
    "kill the parent": "c.kill(os.getppid(), 0)",
    "kill process 1": "c.kill(1, 0)",
    "kill everybody": "c.kill(-1, 0)",
    "kill its group": "c.kill(0, 0)",
    "tgkill the parent": "c.syscall(x86(234), os.getppid(), os.getppid(), 0)",
    "tkill": "c.syscall(x86(200), os.getppid(), 0)",
    "queue a signal": "c.sigqueue(os.getppid(), 0, None)",
    "pidfd of the parent": "c.syscall(x86(434), os.getppid(), 0)",
    "priority of the parent": "c.setpriority(0, os.getppid(), 19)",
    "processors of the parent": "c.sched_setaffinity(os.getppid(), 8, bytes([1]) + bytes(7))",
    "signals by ownership": "c.fcntl(0, 8, os.getppid())",
    "signals by ownership of a kind": "c.fcntl(0, 10, 9)",
    "signals by ioctl": "c.ioctl(0, 0x8901, struct.pack('i', os.getppid()))",
    "open a file of the system": "c.open(b'/etc/passwd', 0)",
    "open a file beside the pack": "c.open(beside.encode(), 0)",
    "open by descriptor": "c.openat(c.open(b'/', 0o10000000), b'etc/passwd', 0)",
    "open by handle": "c.open_by_handle_at(-100, bytes(64), 0)",
    "memory of the parent": "c.open(f'/proc/{os.getppid()}/mem'.encode(), 0)",
    "its own memory": "c.open(b'/proc/self/mem', 2)",
    "write into the pack": "c.open((pack + '/backend.py').encode(), 1)",
    "create in the pack": "c.creat((pack + '/new.py').encode(), 0o600)",
    "create outside": "c.creat((outside + '/new').encode(), 0o600)",
    "mkdir": "c.mkdir((outside + '/new').encode(), 0o700)",
    "rmdir": "c.rmdir((outside + '/empty').encode())",
    "unlink": "c.unlink((pack + '/backend.py').encode())",
    "rename": "c.rename(beside.encode(), (beside + '.new').encode())",
    "link": "c.link(beside.encode(), b'linked')",
    "symlink": "c.symlink(b'/etc', (outside + '/new').encode())",
    "symlink in the scratch folder": "c.symlink(b'/etc/passwd', b'link')",
    "mknod": "c.mknod((outside + '/new').encode(), 0o100600, 0)",
    "chmod": "c.chmod(beside.encode(), 0o777)",
    "fchmodat": "c.fchmodat(-100, beside.encode(), 0o777, 0)",
    "fchmodat2": "c.syscall(x86(452), -100, beside.encode(), 0o777, 0)",
    "chown": "c.chown(beside.encode(), 1, 1)",
    "utime": "c.utimes(beside.encode(), None)",
    "utimensat": "c.utimensat(-100, beside.encode(), None, 0)",
    "truncate": "c.truncate(beside.encode(), 0)",
    "setxattr": "c.setxattr(beside.encode(), b'user.a', b'b', 1, 0)",
    "setrlimit": "c.setrlimit(0, bytes(16))",
    "prlimit64": "c.syscall(x86(302), 0, 0, bytes(16), 0)",
    "limits of the parent": "c.prlimit(os.getppid(), 0, bytes(16), None)",
    "ptrace the parent": "c.ptrace(16, os.getppid(), 0, 0)",
    "read the parent's memory": "c.process_vm_readv(os.getppid(), bytes(16), 1, bytes(16), 1, 0)",
    "io_uring_setup": "c.syscall(x86(425), 8, bytes(120))",
    "unshare": "c.unshare(0x10000000)",
    "setns": "c.setns(0, 0)",
    "mount": "c.mount(b'none', outside.encode(), b'tmpfs', 0, None)",
    "chroot": "c.chroot(outside.encode())",
    "setsid": "c.setsid()",
    "setpgid": "c.setpgid(0, 0)",
    "bpf": "c.syscall(x86(321), 0, bytes(64), 64)",
    "keyctl": "c.syscall(x86(250), 0, -3, 1)",
    "shared memory": "c.shmget(0, 4096, 0o1600)",
    "set the clock": "c.clock_settime(0, bytes(16))",
    "survive its parent": "c.prctl(1, 0, 0, 0, 0)",
    "become root": "c.setresuid(0, 0, 0)",
    "regain capabilities": "c.syscall(x86(126), struct.pack('=Ii', 0x20080522, 0), bytes(24))",
    "set the hostname": "c.sethostname(b'x', 1)",
    "load a module": "c.syscall(x86(313), 0, b'', 0)",
    "x32 calls": "c.syscall(0x40000000 | 41, 2, 1, 0)",
    "clone": "c.syscall(x86(56), 17, 0, 0, 0, 0)",
    "clone3": "c.syscall(435, bytes([17] * 1) + bytes(87), 88)",
    "a call of next year": "c.syscall(500)",
    "the newest calls": "c.syscall(451)",
    "a call that no kernel has": "c.syscall(100000)",
}
"""Expressions of C calls that have to give -1. `c` is the C library, `x86` a number where it is right, else one too high."""

SYSTEM_CALLS = {
    **dict.fromkeys(("clone3", "a call of next year", "the newest calls", "fchmodat2", "x32 calls"), 38),
    "a call that no kernel has": 38,
    "link": 18,
}
"""What has another error than EPERM or EACCES: mostly ENOSYS, so that libraries fall back to what they used before."""

_PAST = """
import ctypes, os, struct
c = ctypes.CDLL(None, use_errno=True)
def x86(number):
    return number if os.uname().machine == "x86_64" else 100000
def spawn():
    arguments = (ctypes.c_char_p * 2)(b"true", None)
    code = c.posix_spawn(ctypes.byref(ctypes.c_int()), b"/bin/true", None, None, arguments, arguments)
    ctypes.set_errno(code)
    return -1 if code else 0
ctypes.set_errno(0)
value = [{expression}, ctypes.get_errno()]
"""


def prepared(folder: Path) -> dict[str, str]:
    """The names that attempts know: the pack, a file beside it, another folder that could be written to."""
    pack, outside = folder / "pack", folder / "outside"
    pack.mkdir(parents=True)
    (outside / "empty").mkdir(parents=True)
    (folder / "beside.txt").write_text("secret")
    return {"pack": str(pack), "outside": str(outside), "beside": str(folder / "beside.txt")}


def attempt_all(folder: Path, given: dict[str, str]) -> dict[str, Any]:
    """What came of each attempt: of the first kind error, file, line and notes; of the second the result and errno."""
    found: dict[str, Any] = {}
    with live(folder / "pack") as pack:
        for name, (_, code) in IN_PYTHON.items():
            try:
                outcome: list[Any] = ["nothing", None, str(pack.do(code, given=given)), None]
            except OracleError as error:
                outcome = [error.trouble, error.error_type, error.message, error.file]
            notes = [[each.kind, each.what, each.file] for each in pack.tried()]
            found[name] = [*outcome, notes]
        for name, expression in PAST_PYTHON.items():
            found[f"C: {name}"] = pack.do(_PAST.format(expression=expression), given=given)
        found["enforced"] = pack.workers.probe()
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    names = {
        "pack": str(place / "pack"),
        "outside": str(place / "outside"),
        "beside": str(place / "beside.txt"),
    }
    os.umask(0o077)
    json.dump(attempt_all(place, names), sys.stdout)
