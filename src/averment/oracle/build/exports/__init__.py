"""A benchmark in the formats of others: chat completions, the files of BFCL, Parquet.

Each takes rows as they come back from the lines of `benchmark.jsonl`, mappings that is, and none changes what they say.
What a format can't hold is left out and told, never bent.
"""
