"""The real files of each format, whole: which are read, what is found in them, and that nothing changes unseen.

`tests/samples/recorded.json` holds counts as they were **recorded from a run, not justified by hand**; the tests of
each reader hold the counts that were written from looking at the files. To record anew after a change that is meant:
`python tests/evidence/test_real_files.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from averment import EvidenceError
from averment.evidence import Evidence
from samples import REAL, counts

RECORDED = Path(__file__).parents[1] / "samples" / "recorded.json"

FILES = (
    sorted(path for path in REAL.glob("*/*") if path.is_file() and path.name != "SOURCE.txt")
    if REAL.exists()
    else []
)

NO_CONVERSATIONS = {
    "adk": ("test_config.json",),
    "elevenlabs": ("post-call-webhook_1.json",),
    "hotato": ("battery-result.json", "conversation-test.yaml", "test.json", "state-before.json", "v1.json"),
    "inspect": ("log_invalid.txt",),
    "otlp-json": (".meta.json", "logs.json", "metrics.json", "events.json", "hostile_deep_nesting.json"),
    "tau2-bench": ("experiment__results.json",),
    "vapi": (),
    "webvtt-srt": ("invalid",),
}
"""Files that hold no conversation, by the end or a part of their names: configurations, schemas, documents, metrics."""


def _found(path: Path) -> dict[str, Any]:
    """What a file comes to: its format and the counts of its conversations added up, or why it is refused."""
    try:
        read = Evidence.load_all(path)
    except EvidenceError as error:
        return {"refused": error.problems[0].code}
    total: dict[str, Any] = {"format": sorted({each.model.sources[0].format for each in read})}
    total["conversations"] = len(read)
    for evidence in read:
        for name, count in counts(evidence).items():
            total[name] = total.get(name, 0) + count
    return total


def _name(path: Path) -> str:
    return path.relative_to(REAL).as_posix()


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_real_file_comes_to_what_it_came_to(path: Path) -> None:
    """A recorded snapshot: a change of any reader shows in the counts of the files that it touches."""
    assert _found(path) == json.loads(RECORDED.read_text(encoding="utf-8"))[_name(path)]


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_the_evidence_of_a_real_file_is_written_and_read_back_alike(path: Path) -> None:
    """Averment's own form loses nothing: the same bytes and the same digest after a round trip."""
    try:
        read = Evidence.load_all(path)
    except EvidenceError:
        return
    for evidence in read[:20]:
        written = evidence.to_json()
        again = Evidence.from_bytes(written)
        assert again.to_json() == written
        assert again.sha256 == evidence.sha256


def test_nine_of_ten_real_files_are_read() -> None:
    """At least 90 % of the well-formed files that hold a conversation are read; the rest say why not."""
    if not FILES:
        pytest.skip("the real files are not here")
    well_formed = read = 0
    for path in FILES:
        found = _found(path)
        if "refused" not in found:
            read += 1
        elif found["refused"] not in _MALFORMED:
            well_formed += not any(part in path.name for part in NO_CONVERSATIONS.get(path.parent.name, ()))
    assert read / (well_formed + read) >= 0.9


_MALFORMED = {
    *("json_syntax", "json_truncated", "json_extra_data", "invalid_encoding"),
    *("wrong_cue_times", "cue_without_times", "swapped_arguments"),
}
"""Codes of what is no well-formed file of any format."""


if __name__ == "__main__":
    recorded = {_name(path): _found(path) for path in FILES}
    RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
