"""Suites: which conversations are judged by which documents, recorded or produced, once or several times."""
