from __future__ import annotations

import json
import math
import os
import threading
from typing import Any

import pytest

from averment.oracle.child import frames

MOST = 10_000


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -7,
        2**200,
        1.5,
        1e-320,
        "",
        "ä 漢 🙂 \x00 \u2028",
        [],
        {},
        (1, 2),
        {"a": [{"b": None}], "": 1},
    ],
)
def test_json_values_are_written_as_they_are(value: Any) -> None:
    """What JSON has a form for arrives unchanged; a tuple is a list."""
    expected = list(value) if isinstance(value, tuple) else value
    assert json.loads(frames.encode(value, MOST)) == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "not JSON compliant"),
        ([math.inf], "not JSON compliant"),
        ({1, 2}, "set is not JSON serializable"),
        (b"x", "bytes is not JSON serializable"),
        (10**5000, "integer string conversion"),
        ("\ud800", "half of a surrogate pair"),
        ({"a": {1: 2}}, "a key at $.a is of type int"),
        ([{None: 2}], "a key at $[0] is of type NoneType"),
        ({"a": [{"b": [{True: 1}]}]}, "a key at $.a[0].b[0] is of type bool"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_has_no_form_for_is_refused(value: Any, said: str) -> None:
    """The reason says what it is, and a wrong key where it stands."""
    with pytest.raises(frames.NotJsonError) as raised:
        frames.encode(value, MOST)
    assert said in str(raised.value)


def _nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def test_values_stand_inside_each_other_to_a_known_depth() -> None:
    """As deep as digests go, and no deeper; a list inside itself is too deep as well."""
    assert frames.encode(_nested(frames.MOST_DEPTH), MOST).count(b"[") == frames.MOST_DEPTH
    endless: list[Any] = []
    endless.append(endless)
    for value in (_nested(frames.MOST_DEPTH + 1), _nested(100_000), endless):
        with pytest.raises(frames.NotJsonError, match="more than 200 values stand inside each other"):
            frames.encode(value, MOST)


def test_the_depth_is_that_of_digests() -> None:
    """What a worker lets through can be compared: canonical JSON goes as deep."""
    from averment.oracle.catalog.canonical import key

    assert key(_nested(frames.MOST_DEPTH)) is not None


@pytest.mark.parametrize(
    "value",
    [
        "x" * MOST,
        ["x" * 100] * 200,
        {"k" * MOST: 1},
        {"a": {"b": ["x" * 6000, "y" * 6000]}},
        list(range(MOST)),
        "ä" * 6000,
    ],
    ids=["text", "list of texts", "key", "nested", "numbers", "not ASCII"],
)
def test_more_than_is_taken_is_refused(value: Any) -> None:
    """The limit is one of bytes, wherever they come from."""
    with pytest.raises(frames.TooLargeError, match=f"more than {MOST} bytes"):
        frames.encode(value, MOST)


def test_the_largest_value_is_taken() -> None:
    """A text that fills the limit to the byte."""
    assert len(frames.encode("x" * (MOST - 2), MOST)) == MOST


def test_far_too_much_is_noticed_before_it_is_written() -> None:
    """The estimate ends at the limit: ten billion characters, of which one million are there, cost nothing."""
    shared = ["x" * 1_000_000] * 10_000
    with pytest.raises(frames.TooLargeError):
        frames.encode(shared, MOST)


def test_messages_go_through_a_pipe_in_pieces() -> None:
    """A message longer than a pipe holds arrives whole, and the end of the pipe is the end."""
    reads, writes = os.pipe()
    value = {"a": "x" * 300_000}

    def write() -> None:
        frames.send(writes, frames.encode(value, 1 << 20))
        os.close(writes)

    writer = threading.Thread(target=write)
    writer.start()
    assert frames.receive(reads) == value
    assert frames.receive(reads) is None
    writer.join()
    os.close(reads)


@pytest.mark.parametrize("sent", [b"\0\0", b"\0\0\0\x05ab"])
def test_half_a_message_is_none(sent: bytes) -> None:
    """A parent that goes in the middle of a message has gone."""
    reads, writes = os.pipe()
    os.write(writes, sent)
    os.close(writes)
    assert frames.receive(reads) is None
    os.close(reads)
