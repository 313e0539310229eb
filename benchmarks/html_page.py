"""The page for the browser: how large it is, how long it takes to write, and how long a browser takes to open it.

    python benchmarks/html_page.py [--browser CHROMIUM] [--keep FOLDER]

The first page is one conversation of two hours under 500 assertions; the others are hundreds of short ones. Opening is
measured in Chromium, from navigation to the first frame after the page has run its script, and beside it how much of
that the page's own thread computed, which a busy machine changes less. Without a browser those columns are left out.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import averment
from averment.report.html import render
from averment.verdicts.judged import Judged, judged
from timing import table

_ROUNDS = 5
_SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_TWO_HOURS = 7200
_SENTENCE = (
    "I would like to know where my order is because it was to arrive last Tuesday and nobody has called me since "
    "then, so please have a look at it and tell me whether the refund of the deposit has been sent to my account"
)
_WORDS = _SENTENCE.split()


def long_conversation(turns: int = 1500, calls: int = 600, spans: int = 1400) -> dict[str, Any]:
    """A conversation of two hours: turns, calls of ten tools, and other spans, evenly spread."""
    step = _TWO_HOURS / turns
    transcript = [
        {
            "role": "agent" if index % 2 else "caller",
            "text": " ".join(_WORDS[(index + word) % len(_WORDS)] for word in range(4 + index * 7 % 31)),
            "start": round(index * step, 2),
            "end": round((index + 0.8) * step, 2),
        }
        for index in range(turns)
    ]
    traced: list[dict[str, Any]] = [
        {
            "type": "tool_call",
            "name": f"tool_{index % 10}",
            "span_id": f"call-{index}",
            "arguments": {"order_id": f"A-{index}", "amount": index % 97, "reason": "not delivered"},
            "result": {"ok": True, "total": index % 97, "items": [index, index + 1]},
            "start_sec": round(index * _TWO_HOURS / calls + 1, 2),
            "end_sec": round(index * _TWO_HOURS / calls + 1.4, 2),
            "latency_ms": 400,
        }
        for index in range(calls)
    ]
    traced += [
        {
            "type": "llm",
            "name": f"model_{index % 3}",
            "span_id": f"span-{index}",
            "start_sec": round(index * _TWO_HOURS / spans, 2),
            "end_sec": round(index * _TWO_HOURS / spans + 0.9, 2),
            "attributes": {"tokens": index * 13 % 900, "model": f"model_{index % 3}"},
        }
        for index in range(spans)
    ]
    return {"transcript": transcript, "spans": traced}


def assertions(count: int) -> list[dict[str, Any]]:
    """Assertions of five kinds; about one in five fails."""
    makers: tuple[Callable[[int], dict[str, Any]], ...] = (
        lambda n: {"kind": "phrase", "regex": f"tell me whether.*{_WORDS[n % len(_WORDS)]}", "role": "agent"},
        lambda n: {
            "kind": "tool_call",
            "name": f"tool_{n % 12}",
            "args_subset": {"amount": n % 97, "order_id": f"A-{n}"},
        },
        lambda n: {"kind": "count", "tool": f"tool_{n % 10}", "count": {"min": 1, "max": 50 + n % 20}},
        lambda n: {"kind": "latency", "tool": f"tool_{n % 10}", "max_ms": 390 + n % 50},
        lambda _: {"kind": "pii", "detectors": ["ssn", "card_luhn"], "mode": "must_not_leak"},
    )
    return [
        {
            "id": f"assertion-{number}",
            "description": "What the assertion is for, said in a sentence of a usual length.",
            "dimension": ("outcome", "policy", "conversation")[number % 3],
            "tags": [f"team-{number % 4}"],
            **makers[number % len(makers)](number),
        }
        for number in range(count)
    ]


def long_page(count: int = 500) -> list[Judged]:
    """One conversation of two hours under many assertions."""
    return [_judged(assertions(count), long_conversation(), "two-hours.json")]


def many_pages(conversations: int, each: int) -> list[Judged]:
    """Many conversations of about forty turns, of which one in ten fails."""
    found = []
    for number in range(conversations):
        kinds: list[dict[str, Any]] = [
            {"id": f"passes-{n}", "kind": "phrase", "regex": "order", "dimension": "outcome"}
            for n in range(each - 1)
        ]
        kinds.append(
            {"id": "no-tool", "kind": "count", "tool": "tool_1", "count": {"max": 1 + (number % 10 > 0)}}
        )
        found.append(_judged(kinds, long_conversation(40, 20, 10), f"runs/{number:04}.json"))
    return found


def _judged(kinds: Sequence[dict[str, Any]], record: dict[str, Any], name: str) -> Judged:
    document = averment.Document.of({"version": 1, "assertions": list(kinds)})
    evidence = averment.Evidence.from_record(record)
    return judged(averment.run(document, evidence), document, conversation=name, evidence=evidence.model)


def opened(path: Path, browser: str | None) -> tuple[str, str]:
    """Seconds until the browser has painted the page and run its script, and those of CPU; medians of some rounds."""
    if browser is None:
        return "-", "-"
    from playwright.sync_api import sync_playwright

    def rounds() -> Iterator[tuple[float, float]]:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=[*_SWITCHES])
            for _ in range(_ROUNDS):
                page = chromium.new_page(viewport={"width": 1280, "height": 900})
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                start = time.perf_counter()
                page.goto(path.as_uri())
                page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                seconds = time.perf_counter() - start
                metrics = session.send("Performance.getMetrics")["metrics"]
                yield seconds, next(each["value"] for each in metrics if each["name"] == "TaskDuration")
                page.close()
            chromium.close()

    walls, computed = zip(*rounds(), strict=True)
    return f"{statistics.median(walls):.2f}", f"{statistics.median(computed):.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How large the page is, and how fast.")
    parser.add_argument(
        "--browser", default=shutil.which("chromium"), help="the browser (chromium, if there is one)"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the pages there")
    options = parser.parse_args()
    pages = {
        "500 assertions, two hours": long_page(),
        "375 conversations of 10": many_pages(375, 10),
    }
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        for name, entries in pages.items():
            start = time.perf_counter()
            text = render(entries)
            seconds = time.perf_counter() - start
            path = folder / f"{name.split(maxsplit=1)[0]}.html"
            path.write_text(text, "utf-8")
            found = opened(path, options.browser)
            rows.append([name, f"{path.stat().st_size / 1e6:.2f}", f"{seconds:.2f}", *found])
    head = ["", "MB", "write", "open", "CPU"]
    table(
        "The page: megabytes, seconds to write, seconds to open and of CPU in the page's thread", head, rows
    )


if __name__ == "__main__":
    main()
