"""Deterministic, evidence-bound verdicts for AI agents: what was done, not what was said.

    import averment

    document = averment.Document.load("refunds.yaml")
    evidence = averment.Evidence.load("conversation.json")
    envelope = averment.run(document, evidence)
    envelope.exit_code  # 0 the gate said yes, 1 it said no, 2 no verdict, 3 internal error

Names are imported on first use, so that `import averment` costs nothing.
"""

from averment._version import __version__

TYPE_CHECKING = False  # `typing` would be the dearest import of all
if TYPE_CHECKING:
    from averment import report, sdk
    from averment.documents import Document
    from averment.engine import Envelope, Plan, Result, compile_plan, run, run_plan
    from averment.errors import AvermentError, DocumentError, EvidenceError, ExitCode, Problem, UsageError
    from averment.evidence import Evidence

__all__ = [
    "AvermentError",
    "Document",
    "DocumentError",
    "Envelope",
    "Evidence",
    "EvidenceError",
    "ExitCode",
    "Plan",
    "Problem",
    "Result",
    "UsageError",
    "__version__",
    "compile_plan",
    "report",
    "run",
    "run_plan",
    "sdk",
]

_HOMES = {
    "averment.documents": ("Document",),
    "averment.engine": ("Envelope", "Plan", "Result", "compile_plan", "run", "run_plan"),
    "averment.errors": (
        "AvermentError",
        "DocumentError",
        "EvidenceError",
        "ExitCode",
        "Problem",
        "UsageError",
    ),
    "averment.evidence": ("Evidence",),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            import importlib

            return getattr(importlib.import_module(home), name)
    if name in ("report", "sdk"):
        import importlib

        return importlib.import_module(f"averment.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
