from __future__ import annotations

import gzip
import io
import json
import time
import warnings
import zipfile
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import EvidenceError, Problem
from averment.evidence import Evidence, archives
from averment.evidence.archives import gunzipped, unzipped

CALL = {"transcript": [{"role": "agent", "text": "hello"}]}
DATA = json.dumps(CALL).encode()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)  # no time of making, as below
    return file.getvalue()


def gzipped(data: bytes, level: int = 9) -> bytes:
    """The same bytes at all times: tests are called by them."""
    return gzip.compress(data, level, mtime=0)


def problem(call: Any) -> Problem:
    with pytest.raises(EvidenceError) as error:
        call()
    return error.value.problems[0]


def flat(data: bytes) -> bytes:
    """Deflated, without the header and the trailer of gzip."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


# What is read.


def test_a_packed_conversation_is_the_conversation() -> None:
    """Packing plays no part in the digest; the source tells of the bytes that were given."""
    plain = Evidence.from_bytes(DATA)
    for packed in (gzipped(DATA), zipped({"call.json": DATA})):
        evidence = Evidence.from_bytes(packed, name="call.packed")
        assert evidence.sha256 == plain.sha256
    assert Evidence.from_bytes(gzipped(DATA)).model.sources[0].bytes == len(gzipped(DATA))


@pytest.mark.parametrize("padding", [b"", b"\0" * 1000])
def test_a_gzip_file_of_several_members_is_read_whole(padding: bytes) -> None:
    """As a log that was packed piece by piece; tapes pad with zeros."""
    lines = [json.dumps({"call_id": name, **CALL}).encode() + b"\n" for name in "abc"]
    packed = padding.join(gzipped(line) for line in lines) + padding
    found = Evidence.all_from_bytes(packed)
    assert [evidence.model.conversation_id for evidence in found] == ["a", "b", "c"]


def test_an_archive_of_several_files_holds_the_conversations_of_all() -> None:
    """In the order of their names, each called after its file."""
    records = {f"{name}.json": json.dumps({"call_id": name, **CALL}).encode() for name in ("b", "a")}
    packed = zipped({"calls/": b"", **records, "__MACOSX/._a.json": b"\0\5", "x/.DS_Store": b"\0"})
    found = Evidence.all_from_bytes(packed, name="calls.zip")
    assert [evidence.model.conversation_id for evidence in found] == ["a", "b"]
    assert [evidence.model.sources[0].name for evidence in found] == ["a.json", "b.json"]
    assert problem(lambda: Evidence.from_bytes(packed)).code == "several_conversations"


def test_a_file_in_an_archive_that_cannot_be_read_is_named() -> None:
    """The name is whoever packed it chose, so it is made printable and without personal data."""
    packed = zipped({"a.json": DATA, "b\x1b[2J jane@example.com.txt": b"no json"})
    found = problem(lambda: Evidence.all_from_bytes(packed, name="calls.zip"))
    assert found.code == "json_syntax"
    assert found.file is not None
    assert found.file.startswith("calls.zip/b\\u001b[2J ")
    assert "jane" not in found.file


def test_stored_members_are_read() -> None:
    """Not every archive is compressed."""
    assert Evidence.from_bytes(zipped({"a.json": DATA}, zipfile.ZIP_STORED)).model.turns


# What is refused.


def _encrypted() -> bytes:
    packed = bytearray(zipped({"a.json": DATA}))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


def _twice() -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("a.json", DATA)
        archive.writestr("a.json", b"{}")
    return file.getvalue()


@pytest.mark.parametrize(
    ("packed", "code"),
    [
        (b"\x1f\x8b", "damaged_archive"),
        (gzipped(DATA)[:-1], "damaged_archive"),
        (gzipped(DATA)[:20], "damaged_archive"),
        (gzipped(DATA)[:-8] + b"12345678", "damaged_archive"),
        (gzipped(DATA) + b"rest", "damaged_archive"),
        (gzipped(b""), "empty_input"),
        (gzipped(gzipped(DATA)), "nested_archive"),
        (gzipped(zipped({"a": DATA})), "nested_archive"),
        (b"PK\x03\x04", "damaged_archive"),
        (zipped({"a.json": DATA})[:-30], "damaged_archive"),
        (zipped({"a.json": DATA}).replace(b"PK\x01\x02", b"PK\x01\x03"), "damaged_archive"),
        (zipped({"a.json": gzipped(DATA)}), "nested_archive"),
        (zipped({"a.zip": zipped({"b": DATA})}), "nested_archive"),
        (zipped({}), "empty_input"),
        (zipped({"folder/": b""}), "empty_input"),
        (zipped({"a.json": b""}), "empty_input"),
        (zipped({"a.json": DATA}, zipfile.ZIP_BZIP2), "unusual_archive"),
        (zipped({"a.json": DATA}, zipfile.ZIP_LZMA), "unusual_archive"),
        (_encrypted(), "encrypted_archive"),
        (_twice(), "damaged_archive"),
    ],
)
def test_an_archive_that_cannot_be_read_says_why(packed: bytes, code: str) -> None:
    """Damaged, cut short, encrypted, inside another one or holding nothing; and what to do."""
    found = problem(lambda: Evidence.all_from_bytes(packed, name="x"))
    assert found.code == code
    assert found.file is not None
    assert found.mend or code == "empty_input"


def test_a_changed_byte_in_the_middle_is_found() -> None:
    """By the checksum, where the stream itself can be unpacked."""
    packed = bytearray(zipped({"a.json": DATA}, zipfile.ZIP_STORED))
    packed[packed.index(b"hello")] ^= 1
    assert problem(lambda: Evidence.from_bytes(bytes(packed))).code == "damaged_archive"


# Bombs.


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny limits."""
    monkeypatch.setattr(archives, "MAX_BYTES", 10_000)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 5)
    monkeypatch.setattr(archives, "MAX_GZIP_MEMBERS", 5)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("packed", "code"),
    [
        (gzipped(bytes(10_001)), "file_too_large"),
        (gzipped(bytes(10_000_000)), "file_too_large"),
        (gzipped(bytes(5_001)) * 2, "file_too_large"),
        (gzipped(b"") * 6, "too_many_files"),
        (zipped({"a": bytes(10_001)}), "file_too_large"),
        (zipped({"a": bytes(5_001), "b": bytes(5_000)}), "file_too_large"),
        (zipped({str(n): b"[]" for n in range(6)}), "too_many_files"),
    ],
)
def test_not_more_is_unpacked_than_may_be_read(packed: bytes, code: str) -> None:
    """Of one member or all together, and not more members than anybody has."""
    found = problem(lambda: Evidence.all_from_bytes(packed))
    assert found.code == code
    assert found.mend


@pytest.mark.usefixtures("small")
def test_what_is_just_within_the_limits_is_unpacked() -> None:
    """The limits themselves are allowed."""
    assert gunzipped(gzipped(bytes(5_000)) * 2, None) == bytes(10_000)
    assert len(unzipped(zipped({str(n): bytes(2_000) for n in range(5)}), None)) == 5


@pytest.mark.usefixtures("small")
def test_a_size_that_the_header_only_claims_is_not_believed() -> None:
    """A member that says it is small and is large is damaged, and never unpacked beyond its word."""
    packed = bytearray(zipped({"a": bytes(1_000_000)}))
    at = packed.index(b"PK\x01\x02")
    packed[at + 24 : at + 28] = (100).to_bytes(4, "little")
    packed[22:26] = (100).to_bytes(4, "little")
    assert problem(lambda: unzipped(bytes(packed), None)).code == "damaged_archive"


def test_a_file_of_many_members_is_read_in_linear_time() -> None:
    """Ten times the members take about ten times as long."""

    def seconds(count: int) -> float:
        packed = gzipped(b"x") * count
        start = time.process_time()
        assert gunzipped(packed, None) == b"x" * count
        return time.process_time() - start

    assert min(seconds(50_000) for _ in range(3)) < 40 * max(seconds(5_000), 0.002)


def test_a_large_file_is_unpacked_in_linear_time() -> None:
    """What is left of the input is not copied for every step."""
    noise = flat(bytes(range(256)))

    def seconds(megabytes: int) -> float:
        packed = gzipped((noise * 2**14)[: megabytes * 2**20], 0)
        start = time.process_time()
        gunzipped(packed, None)
        return time.process_time() - start

    assert min(seconds(4) for _ in range(3)) < 40 * max(seconds(1), 0.002)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from([zipped({"a.json": DATA, "b/": b"", "b/c.json": DATA}), gzipped(DATA) * 2]),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4),
    st.integers(0, 10_000),
)
def test_no_damage_raises_anything_but_an_evidence_error(
    packed: bytes, changes: list[tuple[int, int]], end: int
) -> None:
    """Whatever bytes are changed and wherever it is cut."""
    damaged = bytearray(packed)
    for place, byte in changes:
        damaged[place % len(damaged)] = byte
    try:
        Evidence.all_from_bytes(bytes(damaged if end > len(damaged) else damaged[:end]))
    except EvidenceError as error:
        assert error.problems  # noqa: PT017 - damage that does not matter raises nothing
