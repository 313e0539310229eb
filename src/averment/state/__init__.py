"""Systems of record: what they held before and after a conversation."""

from averment.state.fixture import Fixture

__all__ = ["Fixture"]
