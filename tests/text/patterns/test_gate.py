from __future__ import annotations

import sys

import pytest

from averment.text.patterns import PatternSet, compile_pattern, gate
from averment.text.patterns.gate import LiteralGate, NoGateError, Re2Gate

SOURCES = [
    "refund",
    r"(?i)\bkey\b",
    r"\d{3}-\d{4}",
    "x*",
    "(?:yes|no) thanks",
    r"(?!b)c",
    "退款",
    r"(?i)É\s",
    r"(a)\1",
]
TEXTS = [
    "",
    "a refund",
    "\u212aEY",
    "555-1234",
    "no thanks",
    "bc",
    "全額退款",
    "é ",
    "aa",
    "\ud800 refund",
    "x",
]
EXPECTED = [[1, 9], [2], [3], [*range(11)], [4], [5], [6], [7], [8]]


@pytest.mark.parametrize("chosen", [None, LiteralGate, Re2Gate])
def test_every_gate_finds_the_same(chosen: type[LiteralGate | Re2Gate] | None) -> None:
    """The hits are those of each pattern alone."""
    if chosen is Re2Gate:
        pytest.importorskip("re2")
    patterns = PatternSet([compile_pattern(source) for source in SOURCES], _gate=chosen)
    assert patterns.hits(TEXTS) == EXPECTED


def test_no_patterns_and_no_texts_have_no_hits() -> None:
    """The empty cases are ordinary."""
    assert PatternSet([]).hits(TEXTS) == []
    assert PatternSet([compile_pattern("a")]).hits([]) == [[]]


def test_a_busy_set_moves_to_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many texts, counted and not timed, the faster gate is built, and finds the same."""
    pytest.importorskip("re2")
    monkeypatch.setattr(gate, "_TEXTS_BEFORE_RE2", len(TEXTS) + 1)
    patterns = PatternSet([compile_pattern(source) for source in SOURCES])
    assert patterns.hits(TEXTS) == EXPECTED
    assert isinstance(patterns._gate, LiteralGate)
    assert patterns.hits(TEXTS) == EXPECTED
    assert isinstance(patterns._gate, Re2Gate)


def test_a_set_of_few_patterns_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass for all of them would cost more than it saves."""
    monkeypatch.setattr(gate, "_TEXTS_BEFORE_RE2", 1)
    patterns = PatternSet([compile_pattern(source) for source in SOURCES[:7]])
    assert patterns.hits(TEXTS) == EXPECTED[:7]
    assert isinstance(patterns._gate, LiteralGate)


def test_without_re2_a_busy_set_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-re2 is an accelerator, never a need."""
    monkeypatch.setitem(sys.modules, "re2", None)
    monkeypatch.setattr(gate, "_TEXTS_BEFORE_RE2", 1)
    patterns = PatternSet([compile_pattern(source) for source in SOURCES])
    assert patterns.hits(TEXTS) == EXPECTED
    assert isinstance(patterns._gate, LiteralGate)


def test_a_missing_sentinel_makes_every_pattern_a_candidate() -> None:
    """When RE2 gives up on a text it names nothing; then everything is verified."""
    pytest.importorskip("re2")
    patterns = PatternSet([compile_pattern(source) for source in SOURCES], _gate=Re2Gate)

    class GivesUp:
        def Match(self, text: bytes) -> None:  # noqa: N802 - google-re2's name
            assert isinstance(text, bytes)

    patterns._gate._set = GivesUp()  # type: ignore[union-attr]
    assert patterns.hits(TEXTS) == EXPECTED


def test_too_little_memory_for_re2_is_no_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set that RE2 can't compile is refused as a gate, not as a document."""
    pytest.importorskip("re2")
    monkeypatch.setattr(gate, "_RE2_MEMORY", 1)
    with pytest.raises(NoGateError):
        Re2Gate([compile_pattern(source) for source in SOURCES])


@pytest.mark.parametrize("chosen", [LiteralGate, Re2Gate])
def test_a_gate_spares_most_searches(chosen: type[LiteralGate | Re2Gate]) -> None:
    """Phrases that a text does not contain are not candidates."""
    if chosen is Re2Gate:
        pytest.importorskip("re2")
    phrases = ["money back", r"risk[- ]free", "(?i)GUARANTEED?", r"act\s+now", "(?:limited|exclusive) offer"]
    built = chosen([compile_pattern(phrase) for phrase in phrases])
    assert [*built.candidates("Let me look that up for you, one moment please.")] == []
    assert [*built.candidates("This is guaranteed.")] == [2]


def test_a_pattern_too_large_for_re2_is_always_a_candidate() -> None:
    """What RE2 refuses is searched without it."""
    pytest.importorskip("re2")
    built = Re2Gate([compile_pattern("b"), compile_pattern("(?:(?:(?:a{7}){6}){6}){6}")])
    assert [*built.candidates("nothing")] == [1]
