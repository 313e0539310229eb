"""`averment pack build`.

Build the benchmark of an oracle pack: its templates bind to tasks, and every task that reproduces and passes is a row.

The pack is certified first and refused below gold; `--allow-tier silver` builds all the same, and every row says so. In the
folder: benchmark.jsonl, dropped.jsonl with the reason for every other task, kill_table.json, the report on the pack, and last
of all run_manifest.json, without which a build is not complete. A build that was stopped goes on where it was when the same
command is given again, to the same bytes; one that is complete is left as it is.

Exit 0: built. Exit 1: the pack is below the tier, or no task is gold. Exit 2: the pack can't be loaded, nothing can be made
of it, or the folder not be written to.

Examples:
  averment pack build lending --out benchmark
  averment pack build clinic --out benchmark-es --language es --tasks-per-category 40 -j 4
  averment pack build lending --out benchmark --export chat --export bfcl --parquet
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from averment.cli.parser import Parser, positive
from averment.errors import ExitCode, PackError

__all__ = ["configure", "execute"]

_NO = ("tier_too_low", "nothing_gold")
_NAMED = 3
"""Templates that the summary names for a reason."""


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("pack", metavar="DIR", help="the pack's directory")
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="the folder to build in, outside the pack"
    )
    about = "tasks for each category of templates; by default one for each template of the widest"
    parser.add_argument("--tasks-per-category", metavar="N", type=positive, help=about)
    parser.add_argument("--seed", metavar="N", type=_seed, help="the seed of the run; 0 by default")
    parser.add_argument(
        "--language", metavar="L", help="the language of the conversations; the pack's own by default"
    )
    parser.add_argument("--config", metavar="FILE", help="run options, YAML or JSON; options given here win")
    parser.add_argument(
        "--allow-tier", choices=["gold", "silver"], default="gold", help="the lowest tier to build"
    )
    about = (
        "write chat.jsonl and chat_prompts.jsonl, or the question and answer files of BFCL; may be repeated"
    )
    parser.add_argument("--export", choices=["chat", "bfcl"], action="append", default=[], help=about)
    parser.add_argument(
        "--parquet", action="store_true", help="write benchmark.parquet too; needs averment[corpus]"
    )
    about = "how to print; text by default, `json` is the manifest"
    parser.add_argument("--format", choices=["text", "json"], default="text", help=about)
    parser.add_argument("--strict", action="store_true", help="take unknown keys for mistakes")
    about = "refuse to run code with less: `guarded` is a process with limits, `confined` the kernel's refusal as well"
    parser.add_argument("--require-isolation", metavar="LEVEL", choices=["guarded", "confined"], help=about)
    about = "tasks that are made side by side; by default one for each processor, at most 8"
    parser.add_argument("-j", "--jobs", metavar="N", type=positive, help=about)


def execute(args: argparse.Namespace) -> int:
    """Builds and reports."""
    from averment.cli.outputs import say
    from averment.oracle.build.building import build
    from averment.text.jsontext import pretty

    options = _options(args)
    if options.warnings:
        say("".join(f"{warning.render()}\n" for warning in options.warnings), err=True)
    bar = _Bar()
    try:
        built = build(
            args.pack,
            args.out,
            options,
            jobs=args.jobs or min(os.cpu_count() or 1, 8),
            allow=args.allow_tier,
            strict=args.strict,
            require=args.require_isolation,
            exports=args.export,
            parquet=args.parquet,
            checking=bar.check,
            progress=bar.task,
        )
    except PackError as error:
        if not all(problem.code in _NO for problem in error.problems):
            raise
        bar.clear()
        say(f"{error}\n", err=True)
        return ExitCode.NO
    except KeyboardInterrupt:
        bar.clear()
        if bar.done:
            say(f"stopped after {bar.done} tasks; the same command goes on from there\n", err=True)
        raise
    finally:
        bar.clear()
    if built.manifest.notes and (options.tasks_per_category or options.candidate_tasks_per_category):
        say("".join(f"{note.render()}\n" for note in built.manifest.notes), err=True)
    say(pretty(built.manifest.plain()) if args.format == "json" else _summary(args.out, built))
    return ExitCode.YES


def _summary(out: str, built: Any) -> str:
    from averment.text.shown import printable

    manifest = built.manifest
    counts = manifest.stage_counts
    lines = [f"{printable(out, 1000)}: {counts.published} rows of tier {manifest.tier}"]
    if built.was_complete:
        lines[0] += ", complete already"
    elif built.resumed:
        lines.append(f"  {built.resumed} tasks were there from an earlier start")
    for reason, drops in manifest.drops.items():
        most = sorted(drops.by_template.items(), key=lambda item: (-item[1], item[0]))
        named = [f"{printable(name, 60)} {count}" for name, count in most[:_NAMED]]
        if len(most) > _NAMED:
            named.append(f"{len(most) - _NAMED} more")
        lines.append(f"  dropped {drops.count}: {reason} ({', '.join(named)})")
    if manifest.drops:
        lines.append("  dropped.jsonl says why of each")
    lines += [
        f"  vacuous: {printable(name, 100)} passes whatever is done to its evidence"
        for name in manifest.vacuous_assertions
    ]
    return "\n".join(lines) + "\n"


def _options(args: argparse.Namespace) -> Any:
    from msgspec.structs import replace

    from averment.oracle.model.options import Options, load_options

    options = Options() if args.config is None else load_options(args.config, strict=args.strict)
    given = {
        "tasks_per_category": args.tasks_per_category,
        "random_seed": args.seed,
        "language": args.language,
    }
    return replace(options, **{name: value for name, value in given.items() if value is not None})


def _seed(text: str) -> int:
    """A seed: an unsigned integer of 64 bits."""
    from averment.oracle.model.options import MAX_SEED

    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed <= MAX_SEED:
        raise argparse.ArgumentTypeError(f"expected an integer from 0 to {MAX_SEED}, found {text!r}")
    return seed


class _Bar:
    """How far the build is, on a terminal and nowhere else."""

    def __init__(self) -> None:
        self.done = 0

    def check(self, check: Any) -> None:
        """The check of the pack that runs."""
        self._show(f"{check.id} {check.name} ...")

    def task(self, progress: Any) -> None:
        """How many tasks there are, what was dropped, and how quick it goes."""
        self.done = progress.done
        text = f"{progress.done} of {progress.of} tasks"
        if progress.per_second is not None:
            text += f", {progress.per_second:.0f} tasks/s"
        drops = ", ".join(f"{reason} {count}" for reason, count in progress.drops.items())
        self._show(f"{text}, dropped: {drops}" if drops else text)

    def clear(self) -> None:
        """Nothing."""
        self._show("")

    def _show(self, text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
