"""Produces the recording of one call, offline and always the same.

python3 produce.py --scenario refund-damaged --caller plain --environment quiet --out call.json
python3 produce.py --cases > cases.csv
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from desk.agent import Agent
from desk.callers import CALLERS, ENVIRONMENTS, Caller
from desk.defects import Defects
from desk.recording import Recording
from desk.scenarios import SCENARIOS, Scenario
from desk.shop import Shop


def call(scenario: Scenario, manner: str, environment: str, defects: Defects) -> str:
    """The recording of one call."""
    name = f"{scenario.name}.{manner}.{environment}"
    labels = {"scenario": scenario.name, "caller": manner, "environment": environment}
    shop = Shop(scenario, environment)
    recording = Recording(name, labels, shop.records)
    Agent(scenario, Caller(scenario, manner, environment), shop, recording, defects).answer_the_phone()
    return recording.to_json()


def cases() -> str:
    """The table of all cases."""
    rows = ["case,scenario,caller,environment,order_id,amount"]
    rows += [
        f"{scenario.name}.{manner}.{environment},{scenario.name},{manner},{environment},"
        f"{scenario.order_id},{scenario.details.get('amount', 0)}"
        for scenario in SCENARIOS
        for manner in CALLERS
        for environment in ENVIRONMENTS
    ]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Writes the recording that is asked for, or the table of all cases."""
    parser = argparse.ArgumentParser(description="Produces the recording of one call.")
    parser.add_argument("--cases", action="store_true", help="print the table of all cases instead")
    parser.add_argument("--scenario", choices=[each.name for each in SCENARIOS])
    parser.add_argument("--caller", choices=CALLERS)
    parser.add_argument("--environment", choices=ENVIRONMENTS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--mended", action="store_true", help="with an agent that has no defects")
    args = parser.parse_args()
    if args.cases:
        sys.stdout.write(cases())
        return
    scenario = next(each for each in SCENARIOS if each.name == args.scenario)
    defects = Defects() if args.mended else Defects.of(scenario.name, args.caller, args.environment)
    args.out.write_text(call(scenario, args.caller, args.environment, defects), encoding="utf-8")


if __name__ == "__main__":
    main()
