"""Episodes of the example packs in this process."""

from __future__ import annotations

import copy
from typing import Any

from example_packs import ExamplePack, context


class InProcess:
    """An episode of an example pack's backend, in this process."""

    def __init__(self, example: ExamplePack) -> None:
        self.backend = example.module("backend.py")
        self.fixtures = example.fixtures(with_held_out=False)

    def reset(self) -> None:
        """From the fixtures that are not held out."""
        self.backend.reset(ctx=context(), fixtures=self.fixtures)

    def list_tools(self) -> Any:
        """As the backend says."""
        return self.backend.list_tools()

    def call(self, name: str, arguments: Any, *, turn_index: int = 0) -> Any:
        """With a context of its own."""
        assert turn_index >= 0
        return self.backend.call_tool(name, copy.deepcopy(arguments), ctx=context())

    def state(self) -> Any:
        """As the backend says."""
        return self.backend.get_state()
