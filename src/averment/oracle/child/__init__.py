"""What runs in the process of an oracle; it imports the standard library and nothing else."""

from __future__ import annotations

__all__ = ["RECORD"]

RECORD = 1024
"""The size of every message between a zygote and its parent, in bytes: JSON, filled up with spaces."""
