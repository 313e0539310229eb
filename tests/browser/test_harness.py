"""What watches pages is watched itself: each thing that a page must not do is seen when a page does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

STRICT = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""


def page_of(body: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><title>t</title>{head}<body>{body}</body></html>"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (page_of("<script>console.log('hello')</script>"), "console log: hello"),
        (page_of("<script>throw new Error('lost')</script>"), "error: lost"),
        (page_of("<script>alert('boo')</script>"), "dialog: boo"),
        (page_of("<img src=other.png alt=''>"), "request: file:///"),
        (
            page_of("<img src=https://averment.invalid/x.png alt=''>"),
            "request: https://averment.invalid/x.png",
        ),
        (page_of("<script>1</script>", STRICT), "console error: "),
        (page_of("<p style='color: red'>red</p>", STRICT), "console error: "),
        (page_of("<script>open('about:blank')</script>"), "popup: about:blank"),
    ],
)
def test_what_a_page_must_not_do_is_seen(
    open_page: Callable[..., Any], watched: Any, text: str, fault: str
) -> None:
    """A message, an error, a dialog, a request and a breach of the page's own policy each leave a fault."""
    open_page(text).wait_for_load_state("networkidle")
    seen, watched.faults = watched.faults, []
    assert any(each.startswith(fault) for each in seen), seen


def test_a_quiet_page_has_no_faults(open_page: Callable[..., Any], watched: Any) -> None:
    """A page in one file, opened at a fragment, with scripts or without, leaves none."""
    text = page_of("<h1 id=a>Hello</h1><script>document.title = 'ran'</script>")
    assert open_page(text, "#a").title() == "ran"
    assert open_page(text, java_script_enabled=False).title() == "t"
    assert watched.faults == []
