from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from services import IDENTITY

from averment.oracle.endpoint.credentials import GRANTS
from averment.oracle.endpoint.identity import verify
from averment.oracle.model.endpoint import Endpoint, read_endpoint
from averment.oracle.model.options import Options
from averment.oracle.model.problems import Problems
from averment.text.source import read_source

PAGE = (Path(__file__).parents[3] / "docs" / "packs" / "endpoint.md").read_text("utf-8")


def block(title: str) -> Any:
    """A file of the page, read."""
    found = re.search(rf'^```\w+ title="{title}"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return read_source(found[1], name=title)


def config() -> Endpoint:
    """The page's pin."""
    problems = Problems()
    read = read_endpoint(block("endpoint_config.yaml"), problems)
    problems.raise_any()
    assert read is not None
    return read


def test_the_file_of_the_page_is_right() -> None:
    """It loads, and pins what the page shows as an identity."""
    verify(block("identity.json").value, config(), lambda _: False)


def test_the_page_has_every_key_and_the_defaults() -> None:
    """Whatever can be set is in its table, with the sizes and deadlines that the code has."""
    for name in (*Endpoint.__struct_fields__, *IDENTITY):
        assert f"`{name}" in PAGE or f".{name}`" in PAGE, name
    assert config().max_response_bytes == Endpoint.__struct_defaults__[-1]
    options = Options()
    deadlines = (
        options.tool_timeout_s,
        options.reset_timeout_s,
        options.import_timeout_s,
        options.episode_timeout_s,
    )
    assert deadlines == (5, 5, 10, 60)
    assert GRANTS in PAGE
