"""Where graders of one and the same run may differ: each choice has a name and is written in the report."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Policy"]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How runs are compared with gold. The defaults are the contract's newer reading.

    Attributes:
        arguments: `schema_then_canonical`: a call's arguments must fit the tool's schema as they were given; then what
            either side leaves out has its declared default, and both must be the same. `canonical_only`: both must be
            the same as they were given.
        unstated_defaults: under `schema_then_canonical`, an argument that has a default and that gold never states is
            `free`: any value that fits the schema will do, and only assertions can object. `compared`: it must have
            its default.
        text: `structural`: a text of gold asks for some text in its place. `verbatim`: for the very same one, but for
            the last text of the conversation.
        path: whether gates of the path decide a task. `template`: where its `call_order` is `strict` or `prefix`, which
            states a path; `any` states none, and the path is reported alone. `always` and `never` say so for all.
        success: `all_applicable_gates`: no gate that decides has failed. `assertions_only`: for debugging, the
            assertions hold, and nothing but the agent is to blame for anything else.
        tool_prefix: what stands before the tools' names in the runs, as `mcp__lending__` does where tools come from a
            server; it is taken off. Names that do not begin with it are left as they are.
    """

    arguments: Literal["schema_then_canonical", "canonical_only"] = "schema_then_canonical"
    unstated_defaults: Literal["free", "compared"] = "free"
    text: Literal["structural", "verbatim"] = "structural"
    path: Literal["template", "always", "never"] = "template"
    success: Literal["all_applicable_gates", "assertions_only"] = "all_applicable_gates"
    tool_prefix: str = ""
