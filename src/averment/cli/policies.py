"""`averment policies`.

List the bundled policies, or print the text of one: to read, to copy, or to change.

Documents of assertions are run with `averment run policy:NAME` or `--pack NAME`, and included with
`include: [policy:NAME]`. Sets of rules are named by an assertion: `kind: policy`, `pack: NAME`.
"""

from __future__ import annotations

import argparse

from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError, nearest

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the policy to show")


def execute(args: argparse.Namespace) -> int:
    """Prints the list, or the policy."""
    from averment.cli.outputs import say
    from averment.policies import assertion_policy, assertion_policy_names, bundled_names, bundled_text
    from averment.text.source import read_source

    texts = {
        "assertions": {name: assertion_policy(name) for name in assertion_policy_names()},
        "rules": {name: bundled_text(name) for name in bundled_names()},
    }
    known = {name: text for policies in texts.values() for name, text in policies.items()}
    if args.name is None:
        width = max(map(len, known))
        say(
            "".join(
                f"{name:<{width}}  {kind:<10}  {read_source(text).value['title']}\n"
                for kind, policies in texts.items()
                for name, text in policies.items()
            )
        )
        return ExitCode.YES
    if args.name not in known:
        raise UsageError(
            Problem(
                code="unknown_policy",
                message=f"there is no bundled policy `{args.name}`",
                expected=f"one of {', '.join(known)}",
                nearest=nearest(args.name, known),
            )
        )
    say(known[args.name])
    return ExitCode.YES
