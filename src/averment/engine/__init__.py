"""The engine: a document compiles to a plan, a plan runs over evidence and gives an envelope."""

from averment.engine.envelope import Envelope, Result
from averment.engine.plan import Plan, compile_plan
from averment.engine.run import run, run_plan, unproduced

__all__ = ["Envelope", "Plan", "Result", "compile_plan", "run", "run_plan", "unproduced"]
