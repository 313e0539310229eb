"""Documents: from text to checked assertions."""

from averment.documents.document import Document, Place
from averment.documents.fields import InconclusivePolicy, is_document

__all__ = ["Document", "InconclusivePolicy", "Place", "is_document"]
