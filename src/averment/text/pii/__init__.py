"""Personal data in text: where it stands, and the text without it."""

from __future__ import annotations

from averment.text.pii._scan import DETECTORS, MARKER, Hit, find, redact

__all__ = ["DETECTORS", "MARKER", "Hit", "find", "redact"]
