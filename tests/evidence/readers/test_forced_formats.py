from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants import mutants

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.formats import by_name
from averment.evidence.load import drafts_of
from samples import sample

SAMPLES = {
    "tau_bench": "tau_bench/results.json",
    "tau2": "tau2/results.json",
    "agentdojo": "agentdojo/run.json",
    "inspect": "inspect/log.json",
    "whisper": "whisper/whisperx.json",
    "deepgram": "deepgram/channels.json",
    "assemblyai": "assemblyai/utterances.json",
    "aws_transcribe": "aws_transcribe/job.json",
}
NAMES = (*SAMPLES, "bfcl", "subtitles")
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def read(value: Any, form: str) -> None:
    """Read a value as a format, whatever it looks like; what is read can be written."""
    try:
        for draft in drafts_of(json.dumps(value).encode(), None, form=form):
            draft.model()
    except EvidenceError:
        pass


@pytest.mark.parametrize("form", NAMES)
@given(value=ANY)
def test_any_value_is_read_or_refused_as_any_format(form: str, value: Any) -> None:
    """As with `--from`, which asks no `fits`."""
    assert by_name[form].fits(value) is None or isinstance(value, (dict, list, str))
    read(value, form)


@pytest.mark.parametrize("form", SAMPLES)
def test_any_mutant_is_read_or_refused_as_its_format(form: str) -> None:
    """Also where it is no longer recognised as one."""
    for mutant in mutants(json.loads(sample(SAMPLES[form]).read_text())):
        read(mutant, form)


def _large(form: str, count: int) -> Any:
    """A file of that format with many records."""
    call = {"id": "", "function": {"name": "f", "arguments": '{"a": 1}'}}
    message = {"role": "assistant", "content": "x", "tool_calls": [call]}
    words = [{"text": "a", "word": "a", "start": n, "end": n, "speaker": str(n % 2)} for n in range(count)]
    items = [
        {"start_time": f"{n}.1", "alternatives": [{"content": "a"}], "type": "pronunciation"}
        for n in range(count)
    ]
    tick = {"tick_id": 0, "agent_chunk": {"contains_speech": True, "content": "x"}}
    return {
        "tau_bench": {"reward": 1, "traj": [message] * count},
        "tau2": {"termination_reason": "x", "ticks": [tick, {}] * (count // 2)},
        "agentdojo": {
            "suite_name": "",
            "pipeline_name": "",
            "messages": [{"role": "user", "content": "x"}] * count,
        },
        "inspect": {"events": [{"event": "tool", "timestamp": "", "id": str(n)} for n in range(count)]},
        "whisper": {
            "segments": [{"start": 0, "end": 1, "text": "x", "words": words[:2]}] * count,
            "language": "en",
        },
        "deepgram": {"results": {"channels": [{"alternatives": [{"words": words}]}]}},
        "assemblyai": {"acoustic_model": "x", "words": words, **{f"k{n}": [1] for n in range(count)}},
        "aws_transcribe": {"results": {"transcripts": [], "items": items}},
        "bfcl": {"id": "x", "result": ["f(a=1)"] * count, "input_token_count": 1},
        "subtitles": "",
    }[form]


@pytest.mark.parametrize("form", [name for name in NAMES if name != "subtitles"])
def test_many_records_take_their_share_of_time(form: str) -> None:
    """Reading grows with the file, and not faster: sixteen times the records, and far less than 256 times the time."""
    took = []
    for count in (2_000, 32_000):
        data = json.dumps(_large(form, count)).encode()
        start = time.perf_counter()
        Evidence.all_from_bytes(data)
        took.append(time.perf_counter() - start)
    assert took[1] < 80 * max(took[0], 0.02)
