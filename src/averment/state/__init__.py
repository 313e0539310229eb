"""Systems of record: what they held before and after a conversation."""

from averment.state.fixture import Fixture, Record

__all__ = ["Fixture", "Record"]
