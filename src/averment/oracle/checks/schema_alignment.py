"""Check 3: the catalog is legal, and the oracle has what it says and nothing else.

Each tool is declared in the contract's subset of JSON Schema, every reason by its own code. A `backend.py` has
the four functions `list_tools`, `reset`, `call_tool` and `get_state`, which take what they will be given; and the names
that `list_tools` gives are those of the catalog, both ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from averment.errors import nearest
from averment.oracle.catalog.definitions import REASONS as SCHEMA_REASONS
from averment.oracle.catalog.definitions import definition_failures
from averment.oracle.checks.base import Check
from averment.oracle.checks.places import oracle_failure, placed, tool_failure
from averment.oracle.findings import Failure, Reason
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError
from averment.text.jsonvalue import show

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    **SCHEMA_REASONS,
    "backend_import_failed": Reason(
        "The backend can't be imported.",
        "Mend what the traceback shows; an import must need nothing but the pack and the standard library.",
    ),
    "missing_backend_symbol": Reason(
        "`backend.py` has no such function.", "Define it: `list_tools`, `reset`, `call_tool` and `get_state`."
    ),
    "backend_signature_mismatch": Reason(
        "A function of `backend.py` can't be called as it will be.",
        "Declare `reset(*, ctx, fixtures=None)`, `call_tool(name, arguments, *, ctx)`, `list_tools()`, `get_state()`.",
    ),
    "list_tools_failed": Reason(
        "The oracle can't say which tools it has.", "Mend what raised; `list_tools` gives a list of names."
    ),
    "schema_without_implementation": Reason(
        "The catalog declares a tool that the oracle does not list.",
        "Implement it, or remove it from the catalog.",
    ),
    "implementation_without_schema": Reason(
        "The oracle lists a tool that the catalog does not declare.",
        "Declare it, or remove it from `list_tools`.",
    ),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures: of the catalog in its order, then of the oracle."""
    pack = bench.pack
    entries = pack.sources["tools"].value
    for index, entry in enumerate(entries):
        for each in definition_failures(entry):
            name = _name(entry)
            more = [
                f"expected {each.expected}" if each.expected else "",
                f"found {each.found}" if each.found else "",
            ]
            message = "; ".join([each.message, *filter(None, more)])
            mend = f"Did you mean `{each.nearest}`?" if each.nearest else None
            yield placed(
                pack, "tools", (index, *each.path), each.reason, message, mend=mend, facts={"tool": name}
            )
    if bench.oracle.kind == "backend":
        try:
            symbols = bench.inspection.symbols
        except OracleError as error:
            yield _unanswered(bench, "backend_import_failed", error)
            return
        failures = list(_symbols(bench, symbols))
        yield from failures
        if failures:
            return
    yield from _names(bench)


def _name(entry: Any) -> Any:
    function = entry.get("function") if isinstance(entry, dict) else None
    return function.get("name") if isinstance(function, dict) else None


def _symbols(bench: Bench, symbols: dict[str, Any]) -> Iterator[Failure]:
    file = bench.pack.files["backend"]
    for name, found in symbols.items():
        if not found["callable"]:
            message = f"`{name}` is missing, or is no function"
            yield Failure(reason="missing_backend_symbol", message=message, file=file, facts={"symbol": name})
        elif found["mismatch"]:
            yield Failure(
                reason="backend_signature_mismatch",
                message=f"`{name}` can't be called as it will be: {found['mismatch']}",
                file=file,
                line=found["line"],
                facts={"symbol": name},
            )


def _names(bench: Bench) -> Iterator[Failure]:
    pack = bench.pack
    try:
        with bench.oracle.episode(bench.context) as episode:
            listed = episode.list_tools()
    except OracleError as error:
        yield _unanswered(bench, "list_tools_failed", error)
        return
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        message = f"`list_tools` gave {show(listed)}, and must give a list of names"
        yield Failure(reason="list_tools_failed", message=message, file=_oracle_file(pack))
        return
    declared = [tool.name for tool in pack.tools]
    for tool in pack.tools:
        if tool.name not in listed:
            message = f"the oracle does not list `{tool.name}`"
            yield tool_failure(pack, tool, "schema_without_implementation", message)
    for name in dict.fromkeys(listed):
        if name not in declared:
            close = nearest(name, declared)
            message = f"the oracle lists `{name}`, and the catalog does not declare it"
            yield Failure(
                reason="implementation_without_schema",
                message=f"{message}; did you mean `{close}`?" if close else message,
                file=_oracle_file(pack),
                facts={"tool": name},
            )


def _oracle_file(pack: Pack) -> str:
    return pack.files["backend" if pack.endpoint is None else "endpoint"]


def _unanswered(bench: Bench, reason: str, error: OracleError) -> Failure:
    return oracle_failure(reason, error, Failure(reason="", message="", file=_oracle_file(bench.pack)))


CHECK = Check(id="3", name="backend_schema_alignment", reasons=REASONS, run=run)
