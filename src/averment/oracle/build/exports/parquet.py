"""`benchmark.parquet`: the rows as columns of declared types (contract, 7.1), and back.

Nothing is inferred. Arguments and slots are maps from names to JSON texts: columns of inferred structures would turn what
is absent into null, and `1` and `"1"` have no common type. A seed is an unsigned integer of 64 bits.

Labels are columns of text, but a pack may use any JSON value for one. Such a label is its JSON text, and its name stands
in `json_labels`, so that `3` and `"3"` stay two labels.

What is written depends on the rows and on the version of pyarrow, and on nothing else. Rows are written in groups, so
that memory does not grow with their number. pyarrow is the extra `corpus`; it is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from averment.errors import Problem, UsageError
from averment.text.jsontext import canonical, decode

__all__ = ["GROUP", "columns", "read_parquet", "write_parquet"]

Row = Mapping[str, Any]

GROUP: Final = 500
"""How many rows are written together; what a writer and a reader hold at once."""

_LABELS: Final = ("intent", "category", "difficulty")
_TEXTS: Final = ("slots", "slots_initial")
_CORRECTED: Final = ("values", "aliases")


def write_parquet(rows: Iterable[Row], sink: str | Path | BinaryIO) -> int:
    """Write rows; how many they were.

    Args:
        rows: as the lines of `benchmark.jsonl` have them; read as they are needed.
        sink: a path, or a file that is open for writing bytes.

    Raises:
        UsageError: the extra is not installed.
        ValueError: a row has other keys than the table has columns.
    """
    pa, pq = _pyarrow()
    schema = columns()
    pending, count = iter(rows), 0
    target = str(sink) if isinstance(sink, Path) else sink
    with pq.ParquetWriter(target, schema, compression="zstd", version="2.6") as writer:
        while group := list(islice(pending, GROUP)):
            table = pa.Table.from_pylist([_to_columns(row, schema) for row in group], schema=schema)
            writer.write_table(table, row_group_size=GROUP)
            count += len(group)
    return count


def read_parquet(source: str | Path | BinaryIO) -> Iterator[dict[str, Any]]:
    """The rows of a file that `write_parquet` wrote, as they were.

    Raises:
        UsageError: the extra is not installed.
    """
    _, pq = _pyarrow()
    with pq.ParquetFile(str(source) if isinstance(source, Path) else source) as file:
        for batch in file.iter_batches(batch_size=GROUP):
            yield from map(_from_columns, batch.to_pylist())


def columns() -> Any:
    """The table's columns in the order of a row's keys, a `pyarrow.Schema`.

    Raises:
        UsageError: the extra is not installed.
    """
    pa, _ = _pyarrow()
    text, whole, flag = pa.string(), pa.int64(), pa.bool_()

    def many(kind: Any) -> Any:
        return pa.list_(pa.field("element", kind, nullable=False))

    def struct(**fields: Any) -> Any:
        return pa.struct([pa.field(name, kind, nullable=name in _NULLABLE) for name, kind in fields.items()])

    texts, by_name = many(text), pa.map_(text, pa.field("value", text, nullable=False))
    call = struct(id=text, type=text, function=struct(name=text, arguments=text))
    message = struct(role=text, content=text, tool_calls=many(call), tool_call_id=text)
    expected = struct(
        turn_index=whole, call_group=whole, position_in_group=whole, function_name=text, arguments=by_name
    )
    correction = struct(entry_index=whole, values=by_name, aliases=by_name)
    row = struct(
        schema_version=text,
        task_id=text,
        template_id=text,
        variant_index=whole,
        messages=many(message),
        tools=text,
        expected_tool_calls=many(expected),
        success_assertions=texts,
        fixture_refs=texts,
        intent=text,
        category=text,
        difficulty=text,
        required_tools=texts,
        required_tools_fingerprint=text,
        tools_present=texts,
        turn_policy=text,
        is_multi_turn=flag,
        num_tool_calls=whole,
        call_order=text,
        call_order_prefix=whole,
        has_user_confirmation=flag,
        confirmed_call_turns=many(whole),
        slots=by_name,
        slots_initial=by_name,
        slot_updates=many(correction),
        edge_signatures=texts,
        mutates=flag,
        system_prompt_id=text,
        tier=text,
        gold_eligible=flag,
        validated_by=texts,
        pack_id=text,
        pack_version=text,
        seed=pa.uint64(),
        seed_hex=text,
        paraphrase_model=text,
        paraphrase_model_canonical=text,
        held_out_hit=flag,
        src=text,
        metadata=struct(**dict.fromkeys(_METADATA, text)),
        json_labels=texts,
    )
    return pa.schema(list(row))


_METADATA: Final = ("language", "expt_name", "base_task_id", "surface_source", "profile_hash")
_NULLABLE: Final = frozenset(
    {
        *("content", "tool_calls", "tool_call_id"),
        *("intent", "category", "difficulty", "call_order_prefix"),
        *("paraphrase_model", "paraphrase_model_canonical", "held_out_hit", "profile_hash"),
    }
)
"""The fields that may be null, at any depth."""


def _to_columns(row: Row, schema: Any) -> dict[str, Any]:
    # Nothing may be lost that a row has and the table doesn't know.
    others = {*schema.names, *_METADATA} ^ {*row, *row["metadata"], "json_labels"}
    if others:
        raise ValueError(f"no column for, or no value of: {', '.join(sorted(others))}")
    made = dict(row)
    made["json_labels"] = [name for name in _LABELS if not isinstance(row[name], str | None)]
    for name in made["json_labels"]:
        made[name] = canonical(row[name]).decode()
    for name in _TEXTS:
        made[name] = _as_texts(row[name])
    made["slot_updates"] = [
        {**update, **{name: _as_texts(update[name]) for name in _CORRECTED}} for update in row["slot_updates"]
    ]
    made["expected_tool_calls"] = [
        {**call, "arguments": sorted(call["arguments"].items())} for call in row["expected_tool_calls"]
    ]
    return made


def _from_columns(made: dict[str, Any]) -> dict[str, Any]:
    for name in made.pop("json_labels"):
        made[name] = decode(made[name]).value
    for name in _TEXTS:
        made[name] = _of_texts(made[name])
    for update in made["slot_updates"]:
        for name in _CORRECTED:
            update[name] = _of_texts(update[name])
    for call in made["expected_tool_calls"]:
        call["arguments"] = dict(call["arguments"])
    return made


def _as_texts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, canonical(value).decode()) for name, value in sorted(values.items())]


def _of_texts(texts: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {name: decode(text).value for name, text in texts}


def _pyarrow() -> tuple[Any, Any]:
    """The library, and its module for Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        message = "Parquet needs the extra `corpus`"
        mend = '`pip install "averment[corpus]"`, or do without `benchmark.parquet`.'
        raise UsageError(Problem(code="missing_extra", message=message, mend=mend)) from None
    return pa, pq
