"""Suites: which conversations are judged by which documents, recorded or produced, once or several times.

    suite = Suite.load("averment.yaml")          # everything is checked; nothing has run
    for entry in suite.entries:
        for trial in entry.trials():             # known before anything runs: trial.name, trial.case
            entry.plan(trial).document           # what it will be judged by
            for outcome in entry.judge(trial):   # runs the command, if the entry has one
                outcome.envelope

`suite.judge(jobs=4)` does the same for all, with several commands at once and outcomes in the same order.
"""

from averment.suites.entry import Entry, Outcome, Trial
from averment.suites.source import find_suite
from averment.suites.suite import Suite

__all__ = ["Entry", "Outcome", "Suite", "Trial", "find_suite"]
