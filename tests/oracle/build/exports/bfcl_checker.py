"""BFCL's own checker over cases on standard input, a JSON line each; a script for the Python that has `bfcl-eval`.

A case has `function`, `calls` as `[{name: arguments}]`, `ground_truth` and `category`; the answer to it is a line, `true`
or what the checker says is wrong.

The checker looks its models up in a table that imports a client of every vendor. It takes one fact from there: whether
names with dots are written with `_`. So a table of one such model stands in for it, and the package does without
everything that it depends on: `pip install --no-deps bfcl-eval`.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

MODEL = "a-model"


def main() -> None:
    """Answer each case."""
    table: Any = ModuleType("bfcl_eval.constants.model_config")
    table.MODEL_CONFIG_MAPPING = {MODEL: SimpleNamespace(underscore_to_dot=True)}
    sys.modules[table.__name__] = table
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    for line in sys.stdin:
        case = json.loads(line)
        calls = [{name.replace(".", "_"): given for name, given in call.items()} for call in case["calls"]]
        found = ast_checker(
            case["function"], calls, case["ground_truth"], Language.PYTHON, case["category"], MODEL
        )
        print(json.dumps(True if found["valid"] else str(found["error"])))  # noqa: T201 - its only output


if __name__ == "__main__":
    main()
