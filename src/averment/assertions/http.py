"""Matching of recorded HTTP exchanges, by method, address, status and response."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import ExpectedFields, Regex
from averment.assertions.calls import expected_mistakes
from averment.evidence.model import Span
from averment.text.patterns import compile_pattern
from averment.text.patterns.mistakes import pattern_mistakes
from averment.text.structs import Mistake, describe

__all__ = ["HttpExchange", "StatusCode", "response_of", "status_of"]

_LEAST, _MOST = 100, 599
StatusCode = Annotated[int, Meta(extra_json_schema={"minimum": _LEAST, "maximum": _MOST})]


class HttpExchange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One HTTP exchange; every field that is given must match."""

    method: Annotated[str | UnsetType, Meta(description="The method, in any case.")] = UNSET
    url_matches: Annotated[
        Regex | UnsetType, Meta(description="A regular expression searched in the address; case counts.")
    ] = UNSET
    status: Annotated[
        StatusCode | Annotated[list[StatusCode], Meta(min_length=1)] | UnsetType,
        Meta(description="The status code, or the codes that will do."),
    ] = UNSET
    response_subset: Annotated[
        ExpectedFields | UnsetType, Meta(description="Keys of the response that must be there and match.")
    ] = UNSET

    def mistakes(self) -> Iterable[Mistake]:
        """A blank method, a pattern that can't be searched, faulty expected values."""
        if self.method is not UNSET and not self.method.strip():
            yield Mistake(
                "empty_value", "the method is blank", ("method",), expected="a method such as `POST`"
            )
        if self.url_matches is not UNSET:
            yield from pattern_mistakes(self.url_matches, ("url_matches",))
        for path, code in self._statuses():
            if not _LEAST <= code <= _MOST:
                expected = f"a status code from {_LEAST} to {_MOST}"
                yield Mistake(
                    "out_of_range",
                    "there is no such status code",
                    path,
                    expected=expected,
                    found=describe(code),
                )
        yield from expected_mistakes({"response_subset": self.response_subset})

    def compile(self) -> Callable[[Span], bool]:
        """The test of one span."""
        method = None if self.method is UNSET else self.method.strip().upper()
        url = None if self.url_matches is UNSET else compile_pattern(self.url_matches)
        statuses = [code for _, code in self._statuses()]
        # An empty subset asks for nothing, as in the reference.
        response = values.matcher(self.response_subset) if self.response_subset else None

        def test(span: Span) -> bool:
            if span.type != "http_exchange":
                return False
            if method is not None:
                found = span.field("method", "http.method", "request_method")
                if not isinstance(found, str) or found.upper() != method:
                    return False
            if url is not None:
                address = span.field("url", "http.url", "route", "target")
                if not isinstance(address, str) or not url.test(address):
                    return False
            if statuses and not any(values.json_equal(status_of(span), status) for status in statuses):
                return False
            return response is None or response.matches(response_of(span))

        return test

    def _statuses(self) -> Iterable[tuple[tuple[str | int, ...], int]]:
        """The status codes that will do, each with its place."""
        if isinstance(self.status, list):
            return [(("status", index), code) for index, code in enumerate(self.status)]
        return [] if self.status is UNSET else [(("status",), self.status)]


def status_of(span: Span) -> Any:
    """The status code of an exchange, None when it has none (reference, section 5, `http_result`)."""
    return span.field("status_code", "http.status_code")


def response_of(span: Span) -> Any:
    """The response of an exchange, None when it has none."""
    return span.field("response", "response_body", "result")
