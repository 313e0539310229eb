"""A coverage-guided fuzzer of everything that averment reads, for `atheris`; `test_fuzz.py` runs it, bounded.

By itself: `python tests/fuzz/fuzz_inputs.py -runs=1000000 FOLDER`, which keeps what it finds. The first byte of an input chooses what the rest is.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["averment"]):
    import averment
    from averment.assertions import KINDS, kind
    from averment.documents.lint import lint
    from averment.engine.examples import try_examples
    from averment.evidence.formats import FORMATS
    from averment.policies import read_policy
    from averment.text.source import read_source

    for form in FORMATS:  # readers are loaded when needed, and have to be watched from the beginning
        importlib.import_module(form.module)

ASSERTIONS = [
    assertion for name in KINDS for assertion in read_source(kind(name).example).value["assertions"]
]
for number, each in enumerate(ASSERTIONS):
    each["id"] = each["id"] if each["kind"] == "phrase" and "examples" not in each else f"a{number}"
DOCUMENT = averment.Document.of({"version": 1, "assertions": ASSERTIONS})
PARTS = ("transcript", "spans", "timing", "state")
LONGEST = 4000
"""Bytes of an input; longer ones are slower and find no more."""
SAMPLES = Path(__file__).parents[1] / "samples"


def judge(evidence: averment.Evidence) -> None:
    """A run that reaches a verdict or says why not: exit 0, 1 or 2."""
    envelope = averment.run(DOCUMENT, evidence)
    assert envelope.exit_code in {0, 1, 2}, envelope.to_dict()
    assert envelope.to_json() == averment.run(DOCUMENT, evidence).to_json()


def try_one(data: bytes) -> None:
    """One input, as a document, a policy, a conversation of any format or of a named one, or one part of one."""
    if not data:
        return
    what, rest = data[0] % 10, data[1:]
    try:
        if what == 0:
            document = averment.Document.parse(rest)
            lint(document)
            try_examples(document)
            averment.run(document, averment.Evidence(transcript=[], trace=[]))
        elif what == 1:
            read_policy(read_source(rest))
        elif what in {2, 3}:
            judge(averment.Evidence.from_bytes(rest))
        elif what == 8:
            for evidence in averment.Evidence.all_from_bytes(rest):
                judge(evidence)
        elif what == 9:
            name = FORMATS[rest[0] % len(FORMATS)].name if rest else None
            for evidence in averment.Evidence.all_from_bytes(rest[1:], from_format=name):
                judge(evidence)
        else:
            judge(averment.Evidence.from_bytes(b'{"%s": %s}' % (PARTS[what - 4].encode(), rest)))
    except averment.AvermentError as error:
        assert error.problems  # noqa: PT017 - an input that is right raises nothing
        assert str(error)  # noqa: PT017 - as above


def seeds() -> list[bytes]:
    """Inputs to begin with: the worked examples, the conversations in them, and a sample of each format."""
    found = [b"\0" + kind(name).example.encode() for name in KINDS]
    for assertion in ASSERTIONS:
        for examples in assertion.get("examples", {}).values():
            for example in examples:
                if isinstance(example, dict):
                    found.append(b"\2" + json.dumps(example).encode())
                    found += [
                        bytes([4 + PARTS.index(name)]) + json.dumps(part).encode()
                        for name, part in example.items()
                        if name in PARTS
                    ]
    by_name = {form.name: number for number, form in enumerate(FORMATS)}
    for path in sorted(SAMPLES.glob("*/*")):
        if (
            path.is_file()
            and path.stat().st_size <= LONGEST
            and path.parent.name not in {"mapping", "trajectories"}
        ):
            found.append(b"\x08" + path.read_bytes())
            if path.parent.name in by_name:
                found.append(bytes([9, by_name[path.parent.name]]) + path.read_bytes())
    return found


if __name__ == "__main__":
    folder = next((Path(word) for word in sys.argv[1:] if not word.startswith("-")), None)
    for number, seed in enumerate(seeds()):
        try_one(seed)
        if folder is not None:
            (folder / f"seed-{number}").write_bytes(seed)
    atheris.Setup(sys.argv, try_one)
    atheris.Fuzz()
