"""Texts as people write them: documents with positions, JSON in and out, phrases, roles and redaction."""
