"""Run the benchmarks: `python benchmarks/run.py [--only SECTION] [--conversations N] [--hotato PYTHON]`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import platform
import subprocess
import sys

_SECTIONS = ("in_process", "readers", "documents", "startup", "scale", "episodes", "replays")


def main() -> None:
    """Run every section in a process of its own, or the one that is asked for in this one."""
    parser = argparse.ArgumentParser(
        description="Medians and ratios of averment, floors and a peer, in one run."
    )
    parser.add_argument("--only", choices=_SECTIONS, help="run one section")
    parser.add_argument("--conversations", type=int, default=40, metavar="N", help="how many to judge (40)")
    parser.add_argument(
        "--hotato",
        default=os.environ.get("AVERMENT_BENCH_HOTATO") or None,
        metavar="PYTHON",
        help="interpreter of an environment that has hotato 1.20.0 (default: $AVERMENT_BENCH_HOTATO)",
    )
    options = parser.parse_args()
    if options.only is not None:
        importlib.import_module(options.only).report(options.conversations, options.hotato)
        return
    accelerated = "with" if importlib.util.find_spec("re2") else "without"
    print(
        f"Python {platform.python_version()} {accelerated} google-re2, {platform.machine()}, {os.cpu_count()} CPUs"
    )
    for section in _SECTIONS:
        sys.stdout.flush()
        # A fresh process: no caches, no memory and no garbage of the sections before.
        code = subprocess.run([sys.executable, *sys.argv, "--only", section], check=False).returncode
        if code != 0:
            sys.exit(code)


if __name__ == "__main__":
    main()
