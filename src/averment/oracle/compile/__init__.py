"""Declarative specs of assertions, compiled to the predicates of an `assertions.py` (contract, 8).

specs        a file of specs: one closed object per assertion, read and held against the published tools
refusals     the code of everything for which specs are refused
predicates   the code that is written
coverage     which tools have an assertion of their own
prose        text of specs in one line of a comment, and characters that can't be seen
"""
