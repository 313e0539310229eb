from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from averment.errors import UsageError
from averment.oracle.build.exports.parquet import GROUP, columns, read_parquet, write_parquet
from averment.oracle.build.rows import Row as BenchmarkRow
from averment.text.jsontext import canonical

Row = dict[str, Any]

pytest.importorskip("pyarrow", reason="Parquet needs the extra `corpus`")


def _written(*rows: Row) -> bytes:
    sink = io.BytesIO()
    assert write_parquet(rows, sink) == len(rows)
    return sink.getvalue()


def _back(*rows: Row) -> list[Row]:
    return list(read_parquet(io.BytesIO(_written(*rows))))


def test_rows_come_back_as_they_were(gold_rows: list[Row], tmp_path: Path) -> None:
    """The same values in the same order of keys, so the same lines."""
    path = tmp_path / "benchmark.parquet"
    write_parquet(gold_rows, path)
    back = list(read_parquet(path))
    assert [canonical(row) for row in back] == [canonical(row) for row in gold_rows]
    assert [list(row) for row in back] == [list(row) for row in gold_rows]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"seed": 0}, id="least seed"),
        pytest.param({"seed": 2**64 - 1}, id="greatest seed"),
        pytest.param({"slots": {"n": 1, "x": 1.0, "t": "1", "b": True}}, id="four values that look alike"),
        pytest.param({"slots": {"deep": [{"a": None}, {}, "ñ 書 \u0000"]}}, id="nested, odd characters"),
        pytest.param({"slots": {"n": 2**70}}, id="a large number"),
        pytest.param({"slots": {}, "slot_updates": []}, id="nothing"),
        pytest.param({"intent": 3, "category": "3", "difficulty": None}, id="labels that look alike"),
        pytest.param({"intent": ["a", {"b": 1}], "difficulty": False}, id="labels of any kind"),
        pytest.param({"held_out_hit": False, "call_order_prefix": 2}, id="what may be null is not"),
    ],
)
def test_values_keep_their_type(make_row: Any, changes: Row) -> None:
    """Nothing is rounded, made a text, or confused with what looks like it."""
    row = make_row([("look", {"book": "Momo"})], **changes)
    (back,) = _back(row)
    assert canonical(back) == canonical(row)


def test_an_absent_argument_is_not_null(make_row: Any) -> None:
    """Two calls of one tool keep the arguments that each has."""
    row = make_row([("look", {"book": None}), ("look", {"page": 1})])
    (back,) = _back(row)
    assert [call["arguments"] for call in back["expected_tool_calls"]] == [{"book": "null"}, {"page": "1"}]


def test_the_types_of_columns_are_declared() -> None:
    """The columns are the keys of a row; the types are those that inference gets wrong."""
    schema = columns()
    assert schema.names == [*BenchmarkRow.__struct_fields__, "json_labels"]
    assert str(schema.field("seed").type) == "uint64"
    assert str(schema.field("slots").type).startswith("map<string, string")
    expected = schema.field("expected_tool_calls").type.value_type
    assert str(expected.field("arguments").type).startswith("map<string, string")
    assert {field.name for field in schema if field.nullable} == {
        *("intent", "category", "difficulty", "call_order_prefix"),
        *("paraphrase_model", "paraphrase_model_canonical", "held_out_hit"),
    }


def test_types_do_not_depend_on_the_rows(make_row: Any) -> None:
    """A file of rows without calls, and one of no rows at all, have the same columns."""
    import pyarrow.parquet as pq

    for rows in ([], [make_row()], [make_row([("look", {"book": "Momo"})])]):
        assert pq.read_schema(io.BytesIO(_written(*rows))).equals(columns())


def test_the_same_rows_are_the_same_bytes(make_row: Any) -> None:
    """Whatever the order in which a mapping was filled."""
    row = make_row([("look", {"book": "Momo"})])
    turned = dict(reversed(row.items())) | {"slots": dict(reversed(row["slots"].items()))}
    assert _written(row) == _written(turned) == _written(row)


def test_rows_are_written_as_they_come(make_row: Any) -> None:
    """A group is written before the rows of the next are asked for, and read group by group."""
    import pyarrow.parquet as pq

    sink, sizes = io.BytesIO(), []

    def rows() -> Iterator[Row]:
        for at in range(2 * GROUP + 1):
            if at % GROUP == 0:
                sizes.append(sink.tell())
            yield make_row(variant_index=at)

    assert write_parquet(rows(), sink) == 2 * GROUP + 1
    assert sizes[0] < sizes[1] < sizes[2]
    file = pq.ParquetFile(sink)
    groups = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
    assert groups == [GROUP, GROUP, 1]
    assert [row["variant_index"] for row in read_parquet(sink)] == list(range(2 * GROUP + 1))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(lambda row: row | {"mood": "glad"}, "mood", id="a key too many"),
        pytest.param(lambda row: {key: row[key] for key in row if key != "tier"}, "tier", id="one too few"),
        pytest.param(
            lambda row: row | {"metadata": row["metadata"] | {"mood": "glad"}}, "mood", id="in the metadata"
        ),
    ],
)
def test_nothing_of_a_row_is_lost_unseen(make_row: Any, change: Any, named: str) -> None:
    """Arrow drops what it has no column for; we don't."""
    with pytest.raises(ValueError, match=named):
        _written(change(make_row()))


def test_without_the_extra_its_installation_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import fails, as it does where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError) as error:
        write_parquet([], io.BytesIO())
    (problem,) = error.value.problems
    assert problem.code == "missing_extra"
    assert problem.mend is not None
    assert 'pip install "averment[corpus]"' in problem.mend
