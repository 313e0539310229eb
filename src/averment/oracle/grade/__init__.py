"""Recorded runs of agents, graded against the gold of a task (contract, section 9).

    policy      where graders may differ, as named switches
    gold        a task with its gold calls, read from a row of a benchmark
    calls       what a recorded run shows of the agent's calls and texts, and what it can't show
    compare     one call, and a set of calls, against gold
    assignment  which call is compared with which
    shape       turns against turns: grouping, order, texts, the user's word
    gates       what a gate says, and what follows from several
    path        the gates of trace mode
    replayed    the gates of a run whose calls were made again on the oracle
    counts      what holds, of how many
    report      one graded run: its outcome, its path, its gates
    metrics     fractions over graded runs

Those are plain functions over structs. What gives them their facts:

    benchmark     the rows of a benchmark, from its file
    tasks         each task with its gold, from a row or made of the pack
    replaying     a run's calls, made again on the oracle, and its assertions
    dependencies  arguments of gold that come from the run's own results
    grading       one run after the other, or side by side
    schema        the JSON Schema of the report
"""
