# ruff: noqa: INP001 - a script, not part of a package
"""Takes the pictures in `docs/images/` anew: the bundled conversation's report, in a real Chromium.

    python docs/screenshots.py

Pictures are committed, because no build of the pages should need a browser. Chromium is `AVERMENT_CHROMIUM`, or found
on the path.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

import averment

IMAGES = Path(__file__).parent / "images"
PICTURES = {
    "report-light": ("light", ViewportSize(width=1000, height=1375)),
    "report-dark": ("dark", ViewportSize(width=1000, height=1010)),
    "report-phone": ("light", ViewportSize(width=380, height=820)),
}


def main() -> None:
    """Takes all pictures."""
    demo = files("averment.demo")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("refunds.yaml", "conversation.json"):
            (Path(folder) / name).write_bytes(demo.joinpath(name).read_bytes())
        os.chdir(folder)
        document = averment.Document.load("refunds.yaml")
        evidence = averment.Evidence.load("conversation.json")
        page = averment.report.html(
            averment.run(document, evidence), evidence, document=document, conversation="conversation.json"
        )
        Path("report.html").write_text(page, encoding="utf-8")
        IMAGES.mkdir(exist_ok=True)
        program = os.environ.get("AVERMENT_CHROMIUM") or shutil.which("chromium")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for name, (scheme, size) in PICTURES.items():
                tab = browser.new_page(viewport=size, color_scheme="dark" if scheme == "dark" else "light")
                tab.goto(Path("report.html").resolve().as_uri())
                tab.screenshot(path=IMAGES / f"{name}.png")
            browser.close()


if __name__ == "__main__":
    main()
