"""Verdicts beyond one conversation: which conversation each belongs to, kept, repeated and compared."""
