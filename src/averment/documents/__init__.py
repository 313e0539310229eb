"""Documents: from text to checked assertions."""

from averment.documents.document import Document, InconclusivePolicy, is_document

__all__ = ["Document", "InconclusivePolicy", "is_document"]
