from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, settings

import averment
from averment.report.schemas import schema

pytest_plugins = ["pytester"]
Assertion = Mapping[str, Any]
Judge = Callable[..., Any]

# Examples are the same everywhere, and a slow machine fails none: whether a change passes is no matter of luck. To look
# for new ones: `pytest --hypothesis-profile=default`.
settings.register_profile(
    "averment", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("averment")

_LOOKS = (
    *(
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "PY_COLORS",
        "PYTHON_COLORS",
        "COLUMNS",
        "LINES",
    ),
    "AVERMENT_TRACEBACK",
)


def pytest_sessionstart() -> None:
    """What is printed hangs on these; tests say themselves at what terminal they are, and whether in GitHub Actions."""
    for name in [name for name in os.environ if name in _LOOKS or name.startswith("GITHUB_")]:
        del os.environ[name]


@pytest.fixture(scope="session")
def envelope_validator() -> jsonschema.Draft202012Validator:
    """The validator of the published envelope schema."""
    return jsonschema.Draft202012Validator(schema("envelope"))


@pytest.fixture(scope="session", autouse=True)
def every_envelope_fits(envelope_validator: jsonschema.Draft202012Validator) -> Iterator[None]:
    """Whatever test makes an envelope, it is validated against the published schema."""
    whole = averment.Envelope.to_dict

    def checked(self: averment.Envelope, *, compat: bool = False) -> dict[str, Any]:
        written = whole(self, compat=compat)
        if not compat:
            envelope_validator.validate(written)
        return written

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(averment.Envelope, "to_dict", checked)
        yield


@pytest.fixture(scope="session")
def envelope_of() -> Judge:
    """`envelope_of(assertions, evidence=None, **parts)`: the envelope, which fits the published schema."""

    def judged(
        assertions: Sequence[Assertion],
        evidence: averment.Evidence | None = None,
        *,
        document: Mapping[str, Any] | None = None,
        **parts: Any,
    ) -> Any:
        items = [{"id": f"a{index}", **assertion} for index, assertion in enumerate(assertions)]
        checked = averment.Document.of({"version": 1, "assertions": items, **(document or {})})
        envelope = averment.run(checked, evidence or averment.Evidence(**parts))
        written = envelope.to_dict()
        assert json.loads(envelope.to_json()) == written
        return written

    return judged


@pytest.fixture(scope="session")
def judge(envelope_of: Judge) -> Judge:
    """`judge(assertion, evidence=None, **parts)`: its result; for a list of assertions, their results."""

    def judged(assertion: Assertion | Sequence[Assertion], *evidence: Any, **parts: Any) -> Any:
        if isinstance(assertion, Mapping):
            return envelope_of([assertion], *evidence, **parts)["results"][0]
        return envelope_of(assertion, *evidence, **parts)["results"]

    return judged


@pytest.fixture(scope="session")
def gapped() -> Judge:
    """`gapped(coverage, calls=(), **parts)`: evidence with declared gaps, read from an evidence file.

    `coverage` gives the state of channels; `calls` the fields of tool calls to replace, None to leave one out.
    """

    def made(
        coverage: Mapping[str, str], calls: Sequence[Mapping[str, Any]] = (), **parts: Any
    ) -> averment.Evidence:
        model = json.loads(averment.Evidence(**parts).to_json())
        for channel, state in coverage.items():
            model["coverage"][channel] = {"state": state, "reason": "cut by the test"}
        for call, fields in zip(model.get("calls", ()), calls, strict=False):
            call.update(fields)
            for name in [name for name, value in fields.items() if value is None]:
                del call[name]
        return averment.Evidence.from_bytes(json.dumps(model).encode())

    return made


@pytest.fixture(scope="session")
def problems_of() -> Judge:
    """`problems_of(assertion)`: the problems of a document with it, as pairs of code and path within it."""

    def refused(assertion: Assertion | Sequence[Assertion], **document: Any) -> list[tuple[str, str]]:
        items = [assertion] if isinstance(assertion, Mapping) else assertion
        named = [{"id": f"a{index}", **item} for index, item in enumerate(items)]
        with pytest.raises(averment.DocumentError) as caught:
            averment.Document.of({"version": 1, "assertions": named, **document})
        return [
            (problem.code, (problem.path or "").removeprefix("$.assertions[0]").removeprefix("."))
            for problem in caught.value.problems
        ]

    return refused
