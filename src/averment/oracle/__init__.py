"""Oracle packs: executable task domains, checked against their contract.

A pack is a directory with a tool catalog, an executable deterministic oracle (a `backend.py`, or an HTTPS service),
fixtures, task templates, probes, and `assertions.py` with predicates in Python.

    model/     what the files of a pack hold: one module per file, and `Pack`, all of them together
    catalog/   the subset of JSON Schema that tools are declared in, and arguments checked against it
    compile/   declarative specs of assertions, compiled to an `assertions.py`
    tasks/     from templates to tasks: values of slots, conversations, gold calls
    lint/      what is no failure, and still not meant
    scaffold/  new packs, from nothing or from a catalog of tools
    child/     what runs in the process of an oracle; the standard library only
    worker/    what starts, feeds, limits and ends those processes
    endpoint/  oracles that are HTTPS services
    replay/    gold calls run once, twice in two worlds, and with something wrong on purpose
    gold/      from bound tasks to gold, or to the reason why not
    build/     benchmarks: rows, dropped tasks, the manifest
    checks/    what certification asks, one module per check
    grade/     recorded runs of agents against the gold of a task
    certify    all checks of a pack, the report, the tier

Code of a pack runs in workers and nowhere else.
"""
