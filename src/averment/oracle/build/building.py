"""Building the benchmark of a pack.

The pack is certified, and refused below the tier that is asked for. Its tasks are made side by side and written in their
order: the rows of gold tasks to `benchmark.jsonl`, every other task with its reason to `dropped.jsonl`. Every file appears
whole and in one step; `run_manifest.json` comes last and is the mark of a build that is complete: starting another one
removes it first. What was made is kept in a journal until then, so that a build that was stopped goes on, to the same bytes.

A folder whose manifest is of this very build, made on such a machine, with files that are as it says, is left as it is; at
most formats are added or removed.

What varies between machines stands in `build_environment.json`, and in what the report on the pack says of isolation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, cast

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.build.artifacts import Artifacts, claimed
from averment.oracle.build.complete import (
    DROPPED,
    EVERY,
    JOURNAL,
    KILLS,
    MANIFEST,
    REPORT,
    ROWS,
    TIERS,
    Run,
    complete,
    conclude,
    rows_in,
)
from averment.oracle.build.dropped import dropped_row
from averment.oracle.build.formats import Formats
from averment.oracle.build.journal import Entry, Journal
from averment.oracle.build.manifest import (
    RunManifest,
    environment_of,
    manifest_of,
    subject_of,
)
from averment.oracle.build.production import Progress, Tally, Watch, produce
from averment.oracle.build.rows import row
from averment.oracle.certify import Certification, certify
from averment.oracle.checks.base import Check
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.gold.making import Made
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.report import report
from averment.oracle.running import refuse_drift, running
from averment.oracle.tasks.dependent import VERDICT as NOT_DERIVED
from averment.oracle.tasks.dependent import NotDerivedError, nothing_derived
from averment.text.jsontext import canonical, decode

__all__ = ["Built", "build"]


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A build that is complete.

    Attributes:
        manifest: what `run_manifest.json` says.
        resumed: how many tasks were there from an earlier start.
        was_complete: whether all of them were, and their files.
    """

    manifest: RunManifest
    resumed: int = 0
    was_complete: bool = False


def build(
    path: str | Path,
    out: str | Path,
    options: Options | None = None,
    *,
    jobs: int = 2,
    allow: Literal["gold", "silver"] = "gold",
    strict: bool = False,
    require: str | None = None,
    exports: Iterable[str] = (),
    parquet: bool = False,
    checking: Callable[[Check], object] = lambda _: None,
    progress: Callable[[Progress], object] = lambda _: None,
) -> Built:
    """Build the benchmark of a pack.

    Args:
        path: the pack's directory.
        out: the folder to build in, outside the pack; made where it is not there.
        options: the run's options; the defaults where None.
        jobs: how many tasks are made side by side; the outcome is the same for any number.
        allow: the lowest tier that is built; rows say which they are of.
        strict: take unknown keys for mistakes.
        require: refuse to run code with less isolation than this level.
        exports: of `formats.CHOICES`: written beside the rows.
        parquet: whether to write `benchmark.parquet`.
        checking: is told each check of the pack before it runs.
        progress: is told after every task.

    Raises:
        PackError: the pack can't be loaded or can make no tasks; it is below the tier (`tier_too_low`) or none of its
            tasks is gold (`nothing_gold`); its oracle can't be used, or it has changed meanwhile; or another build is
            at work in the folder.
        UsageError: the folder can't be written to.
    """
    options = options or Options()
    formats = Formats.of(exports, with_parquet=parquet)
    folder = Path(out)
    pack = load_pack(path, strict=strict)
    _refuse_inside(pack, folder)
    with running(pack, options, both=False) as at_work:
        kitchen = Kitchen.of(pack, options, at_work.oracle, at_work.runner)
        run = Run(
            kitchen=kitchen,
            bound=kitchen.bound(),
            subject=subject_of(kitchen),
            environment=environment_of(at_work.isolation(require)),
            formats=formats,
            artifacts=Artifacts(folder),
            folder=folder,
        )
        if (folder / MANIFEST).is_file():
            with claimed(folder):
                manifest = complete(run, allow)
            if manifest is not None:
                return Built(manifest=manifest, resumed=manifest.stage_counts.expanded, was_complete=True)
        certified = certify(path, options, strict=strict, jobs=jobs, require=require, progress=checking)
        refuse_drift(pack)
        tier = _tier(certified, allow)
        with claimed(folder):
            return _built(run, certified, tier, jobs=jobs, progress=progress)


def _built(
    run: Run,
    certified: Certification,
    tier: Literal["gold", "silver"],
    *,
    jobs: int,
    progress: Callable[[Progress], object],
) -> Built:
    kitchen, bound, artifacts = run.kitchen, run.bound, run.artifacts
    pack = kitchen.pack
    subject = {
        "run_id": run.subject.digest(),
        "tier": tier,
        "endpoint_metadata": certified.endpoint_metadata,
        "environment": msgspec.to_builtins(run.environment),
    }
    watch = Watch(pack)
    with Journal(run.folder / JOURNAL, subject) as journal:
        artifacts.remove(EVERY)
        tally, resumed = produce(
            bound.tasks,
            journal,
            make=kitchen.maker.make,
            entry_of=lambda made: _entry(made, pack, tier),
            watch=watch,
            wanted=kitchen.wanted,
            jobs=jobs,
            progress=progress,
        )
        refuse_drift(pack)
        _write_rows(artifacts, journal, DROPPED, are_gold=False)
        _refuse_nothing(pack, tally, journal)
        _write_rows(artifacts, journal, ROWS, are_gold=True)
        artifacts.write(KILLS, {name: kills.by_kind for name, kills in certified.kills.items()})
        artifacts.write(REPORT, report(certified), local=True)
        run.formats.write(artifacts, lambda: rows_in(run.folder))
        manifest = manifest_of(
            run.subject,
            certified,
            bound,
            tally,
            tier=tier,
            exports=run.formats.names,
            digests=artifacts.same,
        )
        conclude(run, manifest)
        journal.remove()
    return Built(manifest=manifest, resumed=resumed)


def _write_rows(artifacts: Artifacts, journal: Journal, name: str, *, are_gold: bool) -> None:
    with artifacts.writing(name) as file:
        for entry in journal.entries():
            if (entry.reason is None) == are_gold:
                file.write(entry.row + b"\n")


def _entry(made: Made, pack: Pack, tier: Literal["gold", "silver"]) -> Entry:
    shown = row(made, pack, tier=tier) if made.drop is None else dropped_row(made, pack)
    return Entry(
        task_id=made.task.task_id,
        reason=None if made.drop is None else made.drop.reason,
        row=canonical(msgspec.to_builtins(shown)),
    )


def _refuse_nothing(pack: Pack, tally: Tally, journal: Journal) -> None:
    """See that there is a benchmark: some gold, and no template whose calls could be worked out for none of its tasks.

    Raises:
        PackError: with every such template; or `nothing_gold`.
    """
    underived = {
        template
        for template, count in tally.drops.get(NOT_DERIVED, {}).items()
        if count == tally.made[template]
    }
    problems: list[Problem] = []
    for template in pack.templates:
        if template.template_id in underived:
            dropped = list(_not_derived(journal, template.template_id))
            problems += nothing_derived(dropped).refusal(pack, template).problems
    if problems:
        raise PackError(problems)
    if not tally.gold.total():
        reasons = ", ".join(f"{name} {count}" for name, count in tally.reasons().items())
        raise PackError(
            Problem(
                code="nothing_gold",
                message=f"none of the {tally.done} tasks is gold",
                found=reasons,
                mend=f"Read `{DROPPED}` in the folder, and mend what it tells.",
            )
        )


def _not_derived(journal: Journal, template_id: str) -> Iterator[NotDerivedError]:
    for entry in journal.entries():
        if entry.reason == NOT_DERIVED:
            known = decode(entry.row).value
            if known["template_id"] == template_id:
                facts = dict(known["failures"][0])
                yield NotDerivedError(facts.pop("reason"), known["detail"], **facts)


def _tier(certified: Certification, allow: str) -> Literal["gold", "silver"]:
    """The tier of the rows.

    Raises:
        PackError: it is lower than what is asked for: `tier_too_low`.
    """
    if TIERS.index(certified.tier) >= TIERS.index(allow):
        return cast("Literal['gold', 'silver']", certified.tier)
    failed = [each for each in certified.rows if each.status != "pass"]
    first = next((failure for each in failed for failure in each.failures), None)
    may = ", or give `--allow-tier silver`" if certified.tier == "silver" else ""
    raise PackError(
        Problem(
            code="tier_too_low",
            message=f"the pack is {certified.tier}, and {allow} is asked for; in the way: "
            + ", ".join(f"{each.id} {each.name}" for each in failed),
            found=None if first is None else f"{first.reason}: {first.message}",
            mend=f"See `averment pack check`, and mend what it tells{may}.",
        )
    )


def _refuse_inside(pack: Pack, folder: Path) -> None:
    try:
        place = folder.resolve()
    except (OSError, ValueError):
        return  # it can't be made either
    if place == pack.root or pack.root in place.parents:
        raise PackError(
            Problem(
                code="output_inside_pack",
                message="the folder to build in is a part of the pack, which it would change",
                file=str(folder),
                mend="Give a folder outside the pack.",
            )
        )
