from __future__ import annotations

import pytest

from averment.cli.main import command_parser
from averment.cli.parser import Parser, parse
from averment.errors import UsageError


@pytest.mark.parametrize(("word", "near"), [("jsn", "json"), ("texts", "text"), ("markdown", None)])
def test_a_choice_that_is_none_names_the_nearest(word: str, near: str | None) -> None:
    """However this Python quotes the choices."""
    parser = Parser("averment x", "About.")
    parser.add_argument("--format", choices=["text", "json"])
    with pytest.raises(UsageError) as caught:
        parse(parser, ["--format", word])
    (problem,) = caught.value.problems
    assert (problem.code, problem.nearest) == ("usage", near)
    assert problem.mend == "See `averment x --help`."


def test_the_options_of_run_stand_under_headings() -> None:
    """More than thirty in one list are read by nobody; each stands under one heading, in the order of the work."""
    text = command_parser("run").format_help()
    headings = ["what is judged:", "suites:", "what is printed:", "what is written (`-` is standard output):"]
    places = [text.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    judged, suites, printed, written = (
        text[start:end] for start, end in zip(places, [*places[1:], text.index("\nexamples:")], strict=True)
    )
    for part, options in (
        (judged, ["--document", "--evidence", "--from", "--inconclusive-policy"]),
        (suites, ["--suite", "--only", "--jobs", "--keep"]),
        (printed, ["--format", "--verbose", "--quiet", "--compat"]),
        (written, ["--output", "--results", "--html", "--markdown", "--junit", "--sarif", "--github"]),
    ):
        assert [option for option in options if f"{option} " not in part and f"{option}," not in part] == []
