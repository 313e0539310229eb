"""A real Chromium for tests of pages, and a record of what a page does that it should not."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

HERE = Path(__file__).parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 60_000
"""How long a page may take for anything: far more than it needs, so that a slow machine fails no test."""

_RUNNING = pytest.StashKey[tuple[Browser, ExitStack]]()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; without one the test is skipped, or fails where browsers are required."""
    named = os.environ.get("AVERMENT_CHROMIUM")
    found = next((path for name in ([named] if named else NAMES) if (path := shutil.which(name))), None)
    if found is not None:
        return found
    why = f"AVERMENT_CHROMIUM={named} is no program" if named else f"none of {', '.join(NAMES)} is on PATH"
    if os.environ.get("AVERMENT_REQUIRE_BROWSER") == "1":
        pytest.fail(f"no Chromium: {why}; AVERMENT_REQUIRE_BROWSER=1 asks for one", pytrace=False)
    pytest.skip(f"no Chromium: {why}; install one, or name it in AVERMENT_CHROMIUM")


@pytest.fixture
def browser(chromium: str, pytestconfig: pytest.Config) -> Browser:
    """The one browser that all tests of pages share."""
    if _RUNNING not in pytestconfig.stash:
        with ExitStack() as stack:
            playwright = stack.enter_context(sync_playwright())
            is_root = hasattr(os, "geteuid") and os.geteuid() == 0
            args = [*FLAGS, "--no-sandbox"] if is_root else list(FLAGS)
            launched = playwright.chromium.launch(
                executable_path=chromium, args=args, timeout=3 * PATIENCE_MS
            )
            stack.callback(launched.close)
            pytestconfig.stash[_RUNNING] = launched, stack.pop_all()
    return pytestconfig.stash[_RUNNING][0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Ends the browser with the last test of pages.

    A session's fixture would end it with the last test of all. But Playwright's synchronous interface leaves its event
    loop marked as running between calls, so that no test beside it could use asyncio; and tests that look for
    processes, or fork, would find the browser's.
    """
    try:
        return (yield)
    finally:
        if (nextitem is None or HERE not in nextitem.path.parents) and _RUNNING in item.config.stash:
            _, stack = item.config.stash[_RUNNING]
            del item.config.stash[_RUNNING]
            stack.close()


class Watched:
    """What pages did that a page in one file has no reason to do.

    Attributes:
        faults: in words, in the order in which they happened.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._own: set[str] = set()

    def watch(self, context: BrowserContext, url: str) -> None:
        """Records what the pages of a context do; `url` is the file itself, the one thing they may ask for."""
        self._own.add(url)
        context.on("console", lambda message: self.faults.append(f"console {message.type}: {message.text}"))
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        context.on("request", self._requested)
        context.on("page", self._opened)

    def _requested(self, request: Request) -> None:
        if re.split("[?#]", request.url)[0] not in self._own:
            self.faults.append(f"request: {request.url[:200]}")

    def _opened(self, page: Page) -> None:
        page.on("dialog", self._asked)
        page.on("popup", lambda popup: self.faults.append(f"popup: {popup.url}"))
        page.on("download", lambda download: self.faults.append(f"download: {download.url}"))

    def _asked(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def watched() -> Iterator[Watched]:
    """What the test's pages did that they should not; anything at all fails the test at its end."""
    record = Watched()
    yield record
    assert record.faults == []


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path, watched: Watched) -> Iterator[Callable[..., Page]]:
    """`open_page(text, fragment="", **options)`: the page in a file, opened; options are those of a context."""
    with ExitStack() as stack:

        def opened(text: str, fragment: str = "", **options: Any) -> Page:
            file = tmp_path / "report.html"
            file.write_bytes(text.encode())
            options.setdefault("reduced_motion", "reduce")
            context = browser.new_context(**options)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            watched.watch(context, file.as_uri())
            page = context.new_page()
            page.goto(file.as_uri() + fragment)
            return page

        yield opened
