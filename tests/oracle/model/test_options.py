from __future__ import annotations

from pathlib import Path

import pytest

from averment.oracle.model.options import EXAMPLE, Options, is_clock, load_options

GENERATION = """\
family: bfcl
expt_name: trial
stage: all
random_seed: null
config_status: resolved
output_dir: ../out
oracle_pack: {manifest_path: data/pack/manifest.yaml}
oracle_runtime:
  clock: "2026-03-02T09:00:00+07:00"
  tool_timeout_s: 2
  assertion_timeout_s: 3.5
  import_timeout_s: 60.0
  reset_timeout_s: 4
  episode_timeout_s: 30
  worker: process
  allowed_roots: [data]
lineage: {policy: smoke_no_publication, roles: {}}
surface_generation: {language: vi, model_paraphrase_enabled: false, paraphrases_per_template: 0}
surface_quality_validation: {enabled: false}
task_generation: {tasks_per_category: 7, caps: {}}
semantic_deduplication_config: {enabled: false}
exports: {bfcl_json: false}
"""


def options(folder: Path, text: str) -> Options:
    file = folder / "conf" / "run.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return load_options(file)


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}"])
def test_options_that_are_not_said_have_their_defaults(tmp_path: Path, text: str) -> None:
    """A file may be empty; the defaults are those of the definitions."""
    assert options(tmp_path, text) == Options()
    assert (Options().clock, Options().random_seed, Options().tool_timeout_s) == (
        "2026-01-01T00:00:00+00:00",
        0,
        5.0,
    )


def test_own_keys_stand_at_the_top(tmp_path: Path) -> None:
    """One key per option."""
    read = options(tmp_path, EXAMPLE)
    assert (read.clock, read.random_seed, read.tool_timeout_s) == ("2026-03-02T09:00:00+07:00", 7, 2.0)
    assert (read.language, read.tasks_per_category) == ("en", 4)
    assert read.warnings == ()


def test_a_generation_config_of_the_contract_is_read_as_it_is(tmp_path: Path) -> None:
    """Its sections say the same options; what has no effect here is passed over; paths are relative to the file."""
    assert options(tmp_path, GENERATION) == Options(
        clock="2026-03-02T09:00:00+07:00",
        random_seed=0,
        tool_timeout_s=2.0,
        assertion_timeout_s=3.5,
        import_timeout_s=60.0,
        reset_timeout_s=4.0,
        episode_timeout_s=30.0,
        language="vi",
        tasks_per_category=7,
        output_dir=str(tmp_path / "out"),
    )


def test_other_keys_are_warnings(tmp_path: Path) -> None:
    """A misspelt option is told, with the nearest name."""
    read = options(tmp_path, "tool_timeout: 3\nsurface_generation: {langage: en}\n")
    assert [(each.code, each.path, each.nearest) for each in read.warnings] == [
        ("unknown_key", "$.tool_timeout", "tool_timeout_s"),
        ("unknown_key", "$.surface_generation.langage", "language"),
    ]


@pytest.mark.parametrize(
    ("text", "legal"),
    [
        ("2026-01-01T00:00:00+00:00", True),
        ("2026-01-01T00:00:00Z", True),
        ("2024-02-29T23:59:59.123456-11:30", True),
        ("2023-02-29T00:00:00Z", False),
        ("2026-01-01 00:00:00Z", False),
        ("2026-01-01T00:00:00+0000", False),
        ("2026-01-01T00:00:00.1234567Z", False),
        ("2026-01-01T00:00:00Z\n", False),
        ("٢026-01-01T00:00:00Z", False),
    ],
)
def test_a_clock_is_a_time_with_an_offset_that_a_calendar_has(text: str, legal: bool) -> None:
    """The strict form, so that every reader of it reads the same."""
    assert is_clock(text) is legal
