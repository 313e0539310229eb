"""The kind `http_result`: an HTTP request was made, and answered as required."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Finding,
    NonEmpty,
    Regex,
    Resolver,
    safe,
)
from averment.assertions.calls import expected_mistakes, mismatch_list, mismatch_text
from averment.assertions.codes import Code
from averment.assertions.http import HttpExchange, StatusCode, response_of, status_of
from averment.assertions.occurrence import occurrence
from averment.evidence.model import Span
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["HttpResult"]


class HttpResult(Assertion, frozen=True, kw_only=True, tag="http_result"):
    """A request of this method and address was answered with the status and response; with `absent`, none was.

    It reads spans of type `http_exchange`. Method and address say which requests are meant, status and response what
    the answer must be; one exchange must have all of it. What the agent said of the answer does not count.

    PASS: there is such an exchange; with `absent`, there is none.
    FAIL: otherwise. The code tells no such request (`not_found`) from one that was answered otherwise
    (`value_mismatch`); then `mismatches` says how the nearest answer, which is the grounds, differs.
    INCONCLUSIVE: the source does not show HTTP exchanges, or the verdict rests on a part of them that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("http",)
    codes: ClassVar[tuple[Code, ...]] = (Code.NOT_FOUND, Code.FOUND_BUT_FORBIDDEN, Code.VALUE_MISMATCH)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: refund-posted
    kind: http_result
    method: POST
    url_matches: /refunds$
    status: [200, 201]
    response: {status: issued, amount: {$gt: 0}}
    examples:
      pass:
        - spans:
            - type: http_exchange
              method: POST
              url: https://api.example/refunds
              status_code: 201
              response: {status: issued, amount: 42, id: r-1}
      fail:
        - spans: [{type: http_exchange, method: POST, url: https://api.example/refunds, status_code: 500}]
        - spans: [{type: http_exchange, method: GET, url: https://api.example/orders, status_code: 200}]
"""

    method: Annotated[NonEmpty, Meta(description="The method, in any case.")]
    url_matches: Annotated[
        Regex, Meta(description="A regular expression searched in the address; case counts.")
    ]
    status: Annotated[
        StatusCode | Annotated[list[StatusCode], Meta(min_length=1)],
        Meta(description="The status code, or the codes that will do."),
    ]
    response_subset: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Keys of the response that must be there and match; others may be there too."),
    ] = UNSET
    response: Annotated[
        Any, Meta(description="The expected response, as any expected value; scalars and lists too.")
    ] = UNSET
    response_exact: Annotated[Any, Meta(description="The expected response, with no other keys allowed.")] = (
        UNSET
    )
    absent: Annotated[bool, Meta(description="No request may be answered so.")] = False

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """Faults of the request and the status, expected responses that exclude one another or are faulty."""
        yield from HttpExchange(
            method=self.method, url_matches=self.url_matches, status=self.status
        ).mistakes()
        given = {
            "response_subset": self.response_subset,
            "response": self.response,
            "response_exact": self.response_exact,
        }
        set_fields = [name for name, value in given.items() if value is not UNSET]
        if len(set_fields) > 1:
            message = f"`{set_fields[1]}` and `{set_fields[0]}` exclude each other"
            yield Mistake("fields_exclude", message, (set_fields[1],), key=True, mend="Keep one.")
        yield from expected_mistakes(given, keyed=("response",))

    def reads_bodies(self) -> bool:
        """Whether something is asked of the response."""
        return any(each is not UNSET for each in (self.response_subset, self.response, self.response_exact))

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - its pattern is none of the transcript's
        """The check: which requests are meant, and what their answer must be."""
        is_meant = HttpExchange(method=self.method, url_matches=self.url_matches).compile()
        answer = values.matcher(self._answer())
        method = self.method.strip().upper()
        what = f"a {method} to `{self.url_matches}` with that answer"
        named = safe(method)
        public = (
            f"the answer to {named} requests is not as required" if named else "an answer is not as required"
        )

        def check(view: View, _: Earlier) -> Finding:
            meant = [index for index in view.spans_of("http_exchange") if is_meant(view.spans[index])]
            answers = [_answer_of(view.spans[index]) for index in meant]
            found = [index for index, actual in zip(meant, answers, strict=True) if answer.matches(actual)]
            miss = None if found or self.absent else values.nearest(answer, answers)
            mismatches = [] if miss is None else mismatch_list(miss.mismatches)
            return occurrence(
                view,
                found,
                absent=self.absent,
                channel="http",
                what=what,
                public=public,
                near=[] if miss is None else [meant[miss.index]],
                miss=lambda: f"the nearest answer differs: {mismatch_text(mismatches)}",
                details={"mismatches": mismatches} if mismatches else {},
            )

        return check

    def _answer(self) -> dict[str, Any]:
        """What the answer must be, as an expected value; an empty subset asks for nothing, as in the reference."""
        answer: dict[str, Any] = {
            "status": {"$in": self.status} if isinstance(self.status, list) else self.status
        }
        if self.response_exact is not UNSET:
            answer["response"] = {"$exact": self.response_exact}
        elif self.response is not UNSET:
            answer["response"] = self.response
        elif self.response_subset:
            answer["response"] = self.response_subset
        return answer


def _answer_of(span: Span) -> dict[str, Any]:
    """The answer of an exchange, without what it does not have."""
    answer = {"status": status_of(span), "response": response_of(span)}
    return {name: value for name, value in answer.items() if value is not None}
