"""What happened: evidence of one conversation, read from files or given as Python values."""

from averment.evidence.record import Evidence

__all__ = ["Evidence"]
