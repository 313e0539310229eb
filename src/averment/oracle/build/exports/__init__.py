"""A benchmark in the formats of others: chat completions, the files of BFCL, Parquet.

Each takes rows as `rows.row` makes them, or as they come back from `benchmark.jsonl`, and none changes what they say.
What a format can't hold is left out and told, never bent.
"""
