from __future__ import annotations

import re
from pathlib import Path

import pytest

from averment.oracle.child import syscalls
from averment.oracle.child.syscalls import REFUSED

HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"),),
}
JUDGED = ("CLONE", "CLONE3", "FCNTL", "IOCTL", "KILL", "PRCTL", "PRLIMIT64", "TGKILL")
ALIASES = {"fstatat": "newfstatat", "umount2": "umount2"}


def _numbers(machine: str) -> dict[str, int]:
    for header in HEADERS[machine]:
        if header.exists():
            text = header.read_text(encoding="utf-8")
            found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)
            return {name: int(number) for name, number in found}
    pytest.skip(f"no header with the numbers of {machine} is installed")


@pytest.mark.parametrize("machine", HEADERS)
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    """Each call has the number that the kernel gave it, and None where the machine has no such call."""
    known = _numbers(machine)
    column = syscalls.MACHINES[machine][0]
    for name, numbers in REFUSED.items():
        if numbers[column] is not None or name in known:
            assert numbers[column] == known[name], name
    for name in JUDGED:
        assert getattr(syscalls, name)[column] == known[name.lower()], name


@pytest.mark.parametrize("column", [0, 1])
def test_no_number_stands_twice_and_none_is_beyond_the_newest(column: int) -> None:
    """A number that stands under two names would be a slip in one of them."""
    numbers = [each[column] for each in REFUSED.values() if each[column] is not None]
    numbers += [getattr(syscalls, name)[column] for name in JUDGED]
    assert len(numbers) == len(set(numbers))
    assert max(number for number in numbers if number is not None) <= syscalls.NEWEST


def test_what_sealing_needs_is_refused_afterwards() -> None:
    """What the origin of workers may still do, workers may not."""
    assert REFUSED.keys() >= syscalls.SEALING
