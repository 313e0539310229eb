"""From a mistake in a template to the failure that a check reports, with its place in the file."""

from __future__ import annotations

from typing import Any

from averment.oracle.findings import Failure
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.text.structs import Mistake

__all__ = ["template_failure"]


def template_failure(pack: Pack, template: Template, mistake: Mistake, **facts: Any) -> Failure:
    """The failure that a mistake in a template is; its path is relative to the template, its code is the reason."""
    problem = mistake.at(pack.sources["templates"], (template.index,))
    mends = [f"Did you mean `{problem.nearest}`?"] if problem.nearest else []
    mends += [problem.mend] if problem.mend else []
    return Failure(
        reason=problem.code,
        message=f"{problem.message}; expected {problem.expected}" if problem.expected else problem.message,
        file=pack.files["templates"],
        line=problem.line,
        column=problem.column,
        path=problem.path,
        mend=" ".join(mends) or None,
        facts={"template_id": template.template_id, **facts},
    )
