"""The kind `policy`: the rules of a policy hold over the transcript."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta

from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Finding,
    Resolver,
    failed,
    passed,
    safe,
    turn_list,
)
from averment.assertions.codes import Code
from averment.assertions.within import no_clock
from averment.errors import nearest
from averment.evidence.view import View
from averment.policies import PolicyNotFoundError, PolicyShelf
from averment.text.pii import Clean, redact
from averment.text.structs import Mistake

__all__ = ["Policy"]


class Policy(Assertion, frozen=True, kw_only=True, tag="policy"):
    """Every rule of a policy holds: what is banned is not said, what must be disclosed is.

    PASS: every rule holds.
    FAIL: at least one does not; `matched_rules` lists each with the first turn that violates it (null for a
    disclosure that is missing). Turns are transcript indexes.
    INCONCLUSIVE: there is no transcript, or the verdict rests on a part of it that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("transcript",)
    codes: ClassVar[tuple[Code, ...]] = (Code.POLICY_VIOLATED, Code.NO_CLOCK)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: house-rules
    kind: policy
    pack: default
    examples:
      pass:
        - This call is recorded for quality.
      fail:
        - I promise that it will work. This call is recorded for quality.
        - Hello!
"""

    pack: Annotated[
        str | None, Meta(description="A bundled policy; `default` when neither this nor a path is given.")
    ] = None
    pack_path: Annotated[
        str | None, Meta(description="A policy file, by a path relative to the document.")
    ] = None
    rule_ids: Annotated[
        list[str] | None, Meta(description="Only these rules; all of them when left out or empty.")
    ] = None

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:
        """A policy comes from one place, exists, and has the rules that are named."""
        if self.pack is not None and self.pack_path is not None:
            yield Mistake(
                "fields_exclude",
                "`pack` and `pack_path` exclude each other",
                ("pack_path",),
                key=True,
                mend="Name a bundled policy with `pack`, or a file with `pack_path`.",
            )
            return
        try:
            policy = shelf.policy(self.pack, self.pack_path)
        except PolicyNotFoundError as error:
            yield error.mistake
            return
        known = [rule.id for rule in policy.rules]
        for index, name in enumerate(self.rule_ids or ()):
            if name not in known:
                yield Mistake(
                    "unknown_rule",
                    f"the policy has no rule `{name}`",
                    ("rule_ids", index),
                    expected=f"one of {', '.join(known)}",
                    nearest=nearest(name, known),
                )

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the rules that were chosen, with their patterns compiled."""
        policy = resolver.policy(self.pack, self.pack_path)
        rules = [
            (rule, resolver.pattern(rule.regex, ignore_case=True), resolver.role(rule.role))
            for rule in policy.rules
            if not self.rule_ids or rule.id in self.rule_ids
        ]
        said = {"name": policy.name, "version": policy.version}
        pack = Clean(
            {name: redact(value) if isinstance(value, str) else value for name, value in said.items()},
            sha256=policy.sha256,
        )
        clean = Clean(pack=pack)

        def check(view: View, _: Earlier) -> Finding:
            violations: list[dict[str, Any]] = []
            banned: set[int] = set()
            disclosed: set[int] = set()
            all_hits = view.all_hits
            for rule, pattern, role in rules:
                if not all_hits[pattern] and rule.type == "banned" and rule.within is UNSET:
                    continue
                hits = view.hits(pattern, role)
                if rule.within is not UNSET:
                    part = rule.within.turns(view)
                    if part is None:
                        return no_clock()
                    hits = [turn for turn in hits if turn in part]
                if rule.type == "banned" and hits:
                    violations.append({"rule": rule.id, "type": "banned", "turn": hits[0]})
                    banned.update(hits)
                elif rule.type == "required_disclosure" and not hits:
                    violations.append({"rule": rule.id, "type": "required_disclosure_missing", "turn": None})
                elif rule.type == "required_disclosure":
                    disclosed.add(hits[0])
            if banned and view.is_incomplete("transcript"):
                # What was said is proved; that something was not said is not.
                violations = [violation for violation in violations if violation["turn"] is not None]
            if not violations:
                return passed(turns=sorted(disclosed), details=clean, absence_of="transcript")
            return failed(
                Code.POLICY_VIOLATED,
                lambda: _reason(violations, sorted(banned)),
                _public(violations),
                turns=sorted(banned),
                details=Clean(matched_rules=violations, pack=pack),
                absence_of=None if banned else "transcript",
            )

        return check


def _reason(violations: list[dict[str, Any]], banned: list[int]) -> str:
    said = [violation["rule"] for violation in violations if violation["turn"] is not None]
    missing = [violation["rule"] for violation in violations if violation["turn"] is None]
    parts = [f"banned and said: {', '.join(said)} ({turn_list(banned)})"] if said else []
    parts += [f"required and not said: {', '.join(missing)}"] if missing else []
    return "; ".join(parts)


def _public(violations: list[dict[str, Any]]) -> str:
    names = [
        violation["rule"]
        for violation in sorted(violations, key=lambda violation: violation["turn"] is not None)
    ]
    if all(safe(name) for name in names):
        return f"rules violated: {', '.join(names)}"
    return f"{len(names)} rules violated"
