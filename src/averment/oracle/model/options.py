"""Run options: what a certification is run with, apart from the pack; none of it is part of its fingerprint."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from averment.errors import DocumentError, PackError, Problem
from averment.oracle.model.codes import CODES
from averment.oracle.model.problems import Problems
from averment.oracle.model.shapes import at_path
from averment.text.source import MAX_DOCUMENT_BYTES, Source, read_source
from averment.text.structs import describe

__all__ = [
    "EXAMPLE",
    "IGNORED",
    "MAX_SEED",
    "Options",
    "OptionsFile",
    "OracleRuntime",
    "SurfaceGeneration",
    "TaskGeneration",
    "is_clock",
    "load_options",
]

MAX_SEED = 2**64 - 1
"""The largest seed: seeds are unsigned integers of 64 bits."""

EXAMPLE = """\
clock: "2026-03-02T09:00:00+07:00"
random_seed: 7
tool_timeout_s: 2
language: en
tasks_per_category: 4
"""

IGNORED: dict[tuple[str, ...], tuple[str, ...]] = {
    (): (
        *("family", "expt_name", "stage", "config_status", "oracle_pack", "lineage", "exports"),
        *("surface_quality_validation", "semantic_deduplication_config", "reference_profile"),
    ),
    ("oracle_runtime",): ("allowed_roots",),
    ("surface_generation",): (
        *("model_paraphrase_enabled", "paraphrases_per_template", "preserve_slot_values"),
        *("prevent_tool_name_leakage", "surface_style_axes"),
    ),
    ("task_generation",): ("target_published_tasks", "mixes", "caps"),
}
"""Keys of the contract's generation config that have no effect here, by the section they stand in."""

_CLOCK = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$"
_clock = re.compile(_CLOCK.strip("^$"), re.ASCII).fullmatch

Clock = Annotated[
    str | None,
    Meta(
        description="What `ctx.clock` says: ISO 8601 with an offset.", extra_json_schema={"pattern": _CLOCK}
    ),
]
Seconds = Annotated[float | None, Meta(extra_json_schema={"exclusiveMinimum": 0})]
Tool = Annotated[Seconds, Meta(description="The deadline of one tool call, in seconds.")]
Assertion = Annotated[Seconds, Meta(description="The deadline of one assertion, in seconds.")]
Import = Annotated[Seconds, Meta(description="The deadline of importing the pack's modules, in seconds.")]
Reset = Annotated[Seconds, Meta(description="The deadline of one reset, in seconds.")]
Episode = Annotated[Seconds, Meta(description="The deadline of a whole episode, in seconds.")]
Worker = Annotated[
    Any,
    Meta(
        description="Always `process`: code of a pack has no other way to run.",
        extra_json_schema={"const": "process"},
    ),
]
Language = Annotated[
    str | None, Meta(description="The language to render; the pack's own default if left out.")
]
PerCategory = Annotated[
    int | None,
    Meta(description="How many tasks a category gets; as many as the widest has templates if left out."),
    Meta(extra_json_schema={"minimum": 1}),
]
Candidates = Annotated[
    int | None,
    Meta(
        description="How many tasks a category may draw its tasks from: those beyond the first gold ones that fill it "
        "are not made. `tasks_per_category` if left out or fewer."
    ),
    Meta(extra_json_schema={"minimum": 1}),
]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options, with the defaults that apply without a file.

    Attributes:
        clock: what `ctx.clock` says, ISO 8601 with an offset.
        random_seed: the seed of probes and of task generation.
        tool_timeout_s: the deadline of one tool call, in seconds; the others likewise.
        language: the language to render; None is the pack's first.
        tasks_per_category: how many tasks a category gets; None is the widest category's number of templates.
        candidate_tasks_per_category: how many it may draw them from, so that dropped tasks leave it full; None is no
            more than that.
        output_dir: where reports go, absolute; None is up to the command.
        warnings: what loading found odd.
    """

    clock: str = "2026-01-01T00:00:00+00:00"
    random_seed: int = 0
    tool_timeout_s: float = 5.0
    assertion_timeout_s: float = 5.0
    import_timeout_s: float = 10.0
    reset_timeout_s: float = 5.0
    episode_timeout_s: float = 60.0
    language: str | None = None
    tasks_per_category: int | None = None
    candidate_tasks_per_category: int | None = None
    output_dir: str | None = None
    warnings: tuple[Problem, ...] = ()

    NOT_DECIDING: ClassVar = ("output_dir", "warnings")

    def deciding(self) -> dict[str, Any]:
        """What outcomes follow from, as plain values: not where they are written, nor what was odd in the file."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in plain.items() if name not in self.NOT_DECIDING}


class OracleRuntime(msgspec.Struct, frozen=True, kw_only=True):
    """The contract's section about running an oracle; each key may stand at the top instead."""

    clock: Clock = None
    tool_timeout_s: Tool = None
    assertion_timeout_s: Assertion = None
    import_timeout_s: Import = None
    reset_timeout_s: Reset = None
    episode_timeout_s: Episode = None
    worker: Worker = None


class SurfaceGeneration(msgspec.Struct, frozen=True, kw_only=True):
    """The contract's section about the texts of conversations."""

    language: Language = None


class TaskGeneration(msgspec.Struct, frozen=True, kw_only=True):
    """The contract's section about how many tasks are made."""

    tasks_per_category: PerCategory = None
    candidate_tasks_per_category: Candidates = None


class OptionsFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of run options, given with `--config`: one key per option, each with a default, so it may be empty.

    It is no part of the pack: options don't change its fingerprint, and one file serves many packs. Paths in it are
    relative to the file itself.

    A generation config of the contract is read as it is: `random_seed`, `output_dir`,
    `oracle_runtime` (`clock`, the five timeouts, `worker`), `surface_generation.language` and, of `task_generation`,
    `tasks_per_category` and `candidate_tasks_per_category` mean the same here; saying an option in both ways is a
    mistake. What belongs to parts that averment has not, or does without being told, is passed over in silence:
    `family`, `expt_name`, `stage`, `config_status`, `oracle_pack` (the pack is the folder that is given), `lineage`,
    `exports`, `surface_quality_validation`, `semantic_deduplication_config`, `reference_profile`,
    `oracle_runtime.allowed_roots` (a pack never reaches outside itself), and the other keys of the two `generation`
    sections. Any other key is a warning.
    """

    clock: Clock = None
    random_seed: Annotated[
        int | None,
        Meta(
            description="The seed of probes and of task generation, of 64 bits at most; 0 if left out.",
            extra_json_schema={"minimum": 0, "maximum": MAX_SEED},
        ),
    ] = None
    tool_timeout_s: Tool = None
    assertion_timeout_s: Assertion = None
    import_timeout_s: Import = None
    reset_timeout_s: Reset = None
    episode_timeout_s: Episode = None
    worker: Worker = None
    language: Language = None
    tasks_per_category: PerCategory = None
    candidate_tasks_per_category: Candidates = None
    output_dir: Annotated[
        str | None,
        Meta(description="Where reports go; relative to this file.", extra_json_schema={"pattern": r"\S"}),
    ] = None
    oracle_runtime: Annotated[
        OracleRuntime | None, Meta(description="The contract's section about running an oracle.")
    ] = None
    surface_generation: Annotated[
        SurfaceGeneration | None, Meta(description="The contract's section about texts.")
    ] = None
    task_generation: Annotated[
        TaskGeneration | None, Meta(description="The contract's section about numbers of tasks.")
    ] = None


def is_clock(text: str) -> bool:
    """Whether a text is a date and time with an offset, `2026-01-01T00:00:00+00:00`, that a calendar has."""
    if _clock(text) is None or text[11:13] == "24" or text[17:19] == "60" or text[-6:] == "-00:00":
        return False
    from averment.evidence.times import instant  # with all readers of evidence, and defaults need none

    return instant(text) is not None


def load_options(path: str | Path, *, strict: bool = False) -> Options:
    """The run options in a YAML or JSON file; those it doesn't say have their defaults.

    Args:
        path: the file.
        strict: warnings are errors.

    Raises:
        PackError: the file can't be read or has mistakes; all of them are in it.
    """
    name = os.fspath(path)
    problems = Problems(strict=strict)
    try:
        source = read_source(_read(name), name=name)
    except OSError as error:
        why = error.strerror or "it is no regular file"
        problem = Problem(code="options_unreadable", message=f"the options can't be read: {why}", file=name)
        raise PackError(msgspec.structs.replace(problem, mend=CODES[problem.code].mend)) from None
    except DocumentError as error:
        if all(problem.code == "empty_document" for problem in error.problems):
            return Options()
        raise PackError(error.problems) from None
    said = _said(source, problems)
    problems.raise_any()
    if isinstance(said.get("output_dir"), str):
        said["output_dir"] = os.path.normpath(
            os.path.join(os.path.dirname(os.path.abspath(name)), said["output_dir"])
        )
    return Options(**said, warnings=problems.warnings)


def _read(name: str) -> bytes:
    if os.path.exists(name) and not os.path.isfile(name):
        raise OSError(None, "")
    with open(name, "rb") as file:
        return file.read(MAX_DOCUMENT_BYTES + 1)


def _said(source: Source, problems: Problems) -> dict[str, Any]:
    """The options that the file says, under the names of `Options`, after reporting what is wrong with them."""
    if not problems.root(source, dict, "options"):
        return {}
    file = problems.convert(source, (), OptionsFile, value=_without_ignored(source.value))
    if file is None:
        return {}
    said: dict[str, Any] = {}
    for path, holder in [
        ((), file),
        (("oracle_runtime",), file.oracle_runtime),
        (("surface_generation",), file.surface_generation),
        (("task_generation",), file.task_generation),
    ]:
        for name, value in _options(holder):
            if name in said:
                message = f"`{name}` is said twice"
                problems.error(source, "option_given_twice", message, (*path, name), key=True)
            said[name] = value
            _check(source, (*path, name), value, problems)
    said.pop("worker", None)
    return said


def _without_ignored(raw: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in raw.items() if name not in IGNORED[()]}
    for section, ignored in IGNORED.items():
        if section and isinstance(inner := at_path(kept, section), dict):
            kept[section[0]] = {name: value for name, value in inner.items() if name not in ignored}
    return kept


def _options(holder: msgspec.Struct | None) -> list[tuple[str, Any]]:
    """The options of a section, without the sections in it."""
    names = holder.__struct_fields__ if holder is not None else ()
    said = [(name, getattr(holder, name)) for name in names]
    return [
        (name, value) for name, value in said if value is not None and not isinstance(value, msgspec.Struct)
    ]


def _check(source: Source, path: tuple[str, ...], value: Any, problems: Problems) -> None:
    """Report a value that has the right type and is wrong all the same."""
    name, found = path[-1], describe(value)
    if name == "clock" and not is_clock(value):
        message = "the clock is no date and time with an offset"
        expected = "YYYY-MM-DDThh:mm:ss and an offset, +hh:mm or Z"
        problems.error(source, "invalid_clock", message, path, expected=expected, found=found)
    elif name.endswith("_timeout_s") and not (math.isfinite(value) and value > 0):
        message = f"`{name}` is not a positive number of seconds"
        problems.error(source, "out_of_range", message, path, expected="a finite number above 0", found=found)
    elif name == "random_seed" and not 0 <= value <= MAX_SEED:
        message = "the seed does not fit into 64 bits"
        problems.error(source, "out_of_range", message, path, expected=f"0 to {MAX_SEED}", found=found)
    elif name in ("tasks_per_category", "candidate_tasks_per_category") and value < 1:
        message = "a category needs a task"
        problems.error(source, "out_of_range", message, path, expected="1 or more", found=found)
    elif name == "worker" and value != "process":
        message = "code of a pack runs in processes of its own only"
        problems.error(source, "unsupported_worker", message, path, expected="`process`", found=found)
    elif name in ("language", "output_dir") and not value.strip():
        problems.error(source, "empty_value", f"`{name}` is blank", path, expected="a non-empty string")
