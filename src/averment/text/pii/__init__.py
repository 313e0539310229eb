"""Personal data in text: where it stands, and the text without it."""

from __future__ import annotations

from averment.text.pii._scan import DETECTORS, MARKER, Clean, Hit, find, redact, suspects

__all__ = ["DETECTORS", "MARKER", "Clean", "Hit", "find", "redact", "suspects"]
