"""axe-core, which others wrote, finds nothing to object to: names, roles, contrast, order of headings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

Open = Callable[..., Page]
Report = Callable[[str], str]

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
}


def violations(page: Page) -> list[str]:
    """What axe-core finds, in words."""
    found = Axe().run(page).response
    assert found["passes"], "axe-core looked at nothing"
    return [
        f"{rule['id']} ({rule['impact']}): {node['target']} {node['html'][:160]} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"][:5]
    ]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ["demo", "kinds", "suite", "hostile"])
def test_a_page_is_accessible(open_page: Open, report: Report, name: str, look: str) -> None:
    """No violation, in light, in dark and at phone width, with the first cards open."""
    assert violations(open_page(report(name), **LOOKS[look])) == []


def test_a_page_without_evidence_is_accessible(open_page: Open, report: Report) -> None:
    """Nor where there are cards only."""
    assert violations(open_page(report("bare"))) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cards_of_every_kind_are_accessible(open_page: Open, report: Report, scheme: str) -> None:
    """Nor in what a card of any kind that failed has to show."""
    page = open_page(report("kinds"), "?verdict=FAIL", color_scheme=scheme)
    page.evaluate("document.querySelectorAll('.card:not([hidden])').forEach((each) => { each.open = true; })")
    assert page.locator(".card[open]").count() == 20
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_open_page_is_accessible(open_page: Open, report: Report, scheme: str) -> None:
    """Nor with all cards and the whole conversation open."""
    page = open_page(report("demo"), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert violations(page) == []


def test_the_help_is_accessible(open_page: Open, report: Report) -> None:
    """Nor while the help is open."""
    page = open_page(report("demo"))
    page.keyboard.press("?")
    assert violations(page) == []


def test_the_check_can_fail(open_page: Open) -> None:
    """A page without a language, a title or contrast has violations."""
    page = open_page("<!doctype html><p style='color: #ccc; background: #fff'>pale</p>")
    found = " ".join(violations(page))
    for rule in ("html-has-lang", "document-title", "color-contrast"):
        assert rule in found
