"""What a build says of itself: what its bytes follow from and what came of it; and apart from that, where it ran.

The first is `run_manifest.json`, the second `build_environment.json`. The manifest has the fields of the contract (7.3) that say something here, under its names. It leaves out:

- `created_at`, because a build has the same bytes whenever it is made; `run_id` names what was built, and not when.
- `runtime`, which varies between machines: it is `build_environment.json`. `resolved_config_hash` is
  `generation_config_hash`, because options hold no path.
- `surface_guard_rejections`, `trace_drop_rejections`: `drops` has every reason, and the templates.
- `models`, `prompt_bundle_hash`, `paraphrase_rejections`, `lineage_policy`: no model has a part in a build.
- `publication`, `bias_targets`, `bias_applicability`: nothing is balanced and nothing gated but by the tier.

Digests of files that vary between machines stand in the environment: the report on the pack, which says what the kernel
enforces, and `benchmark.parquet`, whose bytes depend on the library that writes them.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from averment._version import __version__
from averment.errors import Problem
from averment.oracle.build.production import Tally
from averment.oracle.build.rows import SCHEMA_VERSION
from averment.oracle.certify import Certification
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.gold.reasons import STAGES
from averment.oracle.report import LOGIC_VERSION
from averment.oracle.tasks.budget import Bound
from averment.oracle.worker.isolation import Isolation
from averment.text.jsontext import digest

__all__ = ["Environment", "RunManifest", "Subject", "environment_of", "manifest_of", "subject_of"]

Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]


class PackIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The pack that was built: its fingerprint, and the digest of each file."""

    pack_id: str
    version: str
    content_hash: Digest
    files: dict[str, Digest]


class Seeds(msgspec.Struct, frozen=True, kw_only=True):
    """The seed of the run, and how those of tasks follow from it."""

    base: Annotated[int, Meta(description="`random_seed` of the options.")] = msgspec.field(name="global")
    derivation: str = "the first 64 bits of the SHA-256 over what a task is made of, and the seed of the run"


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """What built it."""

    name: str = "averment"
    version: str = __version__


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a build."""

    content_hash: Digest


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a category: tasks that were bound, rows, and what was held out from it where that left it short."""

    category: str
    expanded: int
    published: int
    withheld: list[str]


class Drops(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks were dropped for a reason."""

    count: int
    by_template: dict[str, int]


class Reservations(msgspec.Struct, frozen=True, kw_only=True):
    """What the pack holds out: no row is made of it."""

    version: str
    fixtures: Annotated[dict[str, int], Meta(description="How many rows of each collection.")]
    templates: list[str]
    fixtures_in_backend_state: bool
    seed: int


class StageCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks there were after each stage; those that no full category needed are in the first count alone."""

    expanded: int
    surface_passed: int
    trace_derived: int
    schema_passed: int
    replay_passed: int
    published: int


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What is built: all that its bytes follow from, but for the tier that certification comes to."""

    row_schema: str = SCHEMA_VERSION
    engine: Engine = Engine()
    pack: PackIdentity
    oracle_kind: Literal["backend", "endpoint"]
    oracle_clock: str
    generation_mode: Literal["template_only"] = "template_only"
    generation_config_hash: Digest
    options: Annotated[
        dict[str, Any],
        Meta(description="The run options, with what they leave to the pack; not where things are written."),
    ]
    language: str
    system_prompt_id: str
    seeds: Seeds

    def digest(self) -> str:
        """The digest of all that: the `run_id`."""
        return digest(msgspec.to_builtins(self))


class RunManifest(Subject, frozen=True, kw_only=True):
    """A build that is complete: what was built, what came of it, and the digests of its files."""

    schema: Literal["averment.run_manifest.v1"] = "averment.run_manifest.v1"
    run_id: Annotated[Digest, Meta(description="A digest over what was built: the same for the same build.")]
    tier: Literal["gold", "silver"]
    gold_eligible: bool
    gold_ineligibility_reasons: Annotated[list[str], Meta(description="The checks that did not pass.")]
    endpoint_metadata: Annotated[Any, Meta(description="What a service said that it is; null for a backend.")]
    held_out: Reservations | None
    categories: list[Share]
    stage_counts: StageCounts
    drops: Annotated[dict[str, Drops], Meta(description="The dropped tasks, by reason.")]
    notes: Annotated[list[Problem], Meta(description="Categories that have fewer tasks than they may have.")]
    vacuous_assertions: Annotated[
        list[str], Meta(description="Those that pass whatever is done to the evidence.")
    ]
    exports: Annotated[list[str], Meta(description="The further formats that were asked for.")]
    artifacts: Annotated[dict[str, Artifact], Meta(description="The files that every machine makes alike.")]

    def plain(self) -> dict[str, Any]:
        """As it is written: what it is first."""
        known = msgspec.to_builtins(self)
        return {"schema": known.pop("schema"), "run_id": known.pop("run_id"), **known}


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that built it, and what it enforced on workers; `artifacts` are the files that vary between machines."""

    schema: Literal["averment.build_environment.v1"] = "averment.build_environment.v1"
    python: str
    implementation: str
    platform: str
    machine: str
    isolation: Isolation
    artifacts: dict[str, Artifact] = {}


def subject_of(kitchen: Kitchen) -> Subject:
    """What a kitchen's tasks make up."""
    pack, options = kitchen.pack, kitchen.options
    # What is left open is what the pack comes to, so that saying it makes no other build.
    decided = {"language": kitchen.wording.language, "tasks_per_category": kitchen.wanted}
    deciding = {**options.deciding(), **decided}
    return Subject(
        pack=PackIdentity(
            pack_id=pack.manifest.pack_id,
            version=pack.manifest.version,
            content_hash=pack.fingerprint,
            files=pack.digests,
        ),
        oracle_kind="endpoint" if pack.endpoint is not None else "backend",
        oracle_clock=options.clock,
        generation_config_hash=digest({"logic": LOGIC_VERSION, "options": deciding}),
        options=deciding,
        language=kitchen.wording.language,
        system_prompt_id=kitchen.wording.system_prompt.id,
        seeds=Seeds(base=options.random_seed),
    )


def environment_of(isolation: Isolation) -> Environment:
    """This machine."""
    return Environment(
        python=platform.python_version(),
        implementation=sys.implementation.name,
        platform=sys.platform,
        machine=platform.machine(),
        isolation=isolation,
    )


def manifest_of(
    subject: Subject,
    certified: Certification,
    bound: Bound,
    tally: Tally,
    *,
    tier: Literal["gold", "silver"],
    exports: tuple[str, ...],
    digests: Mapping[str, str],
) -> RunManifest:
    """The manifest of a build whose files are all written.

    Args:
        subject: what was built.
        certified: what the pack's checks came to.
        bound: its tasks.
        tally: what came of them.
        tier: the tier that the rows say.
        exports: the further formats.
        digests: of the files that every machine makes alike.
    """
    what: dict[str, Any] = {name: getattr(subject, name) for name in Subject.__struct_fields__}
    return RunManifest(
        **what,
        run_id=subject.digest(),
        tier=tier,
        gold_eligible=tier == "gold",
        gold_ineligibility_reasons=[
            f"{row.id} {row.name}: {row.status}" for row in certified.rows if row.status != "pass"
        ],
        endpoint_metadata=certified.endpoint_metadata,
        held_out=_reservations(certified),
        categories=[
            Share(
                category=share.category,
                expanded=share.tasks,
                published=tally.gold[share.category],
                withheld=list(share.withheld),
            )
            for share in bound.shares
        ],
        stage_counts=_stages(len(bound.tasks), tally),
        drops={
            reason: Drops(count=found.total(), by_template=dict(sorted(found.items())))
            for reason, found in sorted(tally.drops.items())
        },
        notes=list(bound.notes),
        vacuous_assertions=[name for name, kills in certified.kills.items() if kills.is_vacuous],
        exports=list(exports),
        artifacts={name: Artifact(content_hash=found) for name, found in sorted(digests.items())},
    )


def _stages(expanded: int, tally: Tally) -> StageCounts:
    left = tally.done
    after: dict[str, int] = {}
    for stage in dict.fromkeys(STAGES.values()):
        left -= sum(found.total() for reason, found in tally.drops.items() if STAGES[reason] == stage)
        after[stage] = left
    return StageCounts(
        expanded=expanded,
        surface_passed=after["render"],
        trace_derived=after["expected_trace"],
        schema_passed=after["schema_validation"],
        replay_passed=after["executable_replay"],
        published=tally.gold.total(),
    )


def _reservations(certified: Certification) -> Reservations | None:
    held_out = certified.pack.held_out
    if held_out is None:
        return None
    return Reservations(
        version=held_out.version,
        fixtures={name: len(ids) for name, ids in sorted(held_out.fixtures.items())},
        templates=sorted(held_out.templates),
        fixtures_in_backend_state=held_out.policy.fixtures_in_backend_state,
        seed=held_out.policy.seed,
    )
