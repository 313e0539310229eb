"""Regular expressions that cannot hang a run, and many of them searched at once."""

from __future__ import annotations

from averment.text.patterns.gate import PatternSet
from averment.text.patterns.pattern import Pattern, PatternError, compile_pattern

__all__ = ["Pattern", "PatternError", "PatternSet", "compile_pattern"]
