"""`make failures`: every client in every case; writes docs/results/clients.md, and fails if Mooring falls short."""

import sys

from bench import ground
from bench.failures import page
from bench.failures.cases import CASES, RIVALS
from bench.failures.trial import Seen, try_case


def main() -> int:
    try:
        for rival in RIVALS:
            if rival.environment:
                ground.build_python(rival.environment)
    except ground.Missing as error:
        sys.stderr.write(f"failures: {error}\n")
        return 1
    trials: dict[tuple[str, str], Seen] = {}
    for case in CASES:
        for rival in RIVALS:
            seen = trials[rival.name, case.key] = try_case(rival, case)
            print(f"{case.key}: {rival.name}: {list(seen.steps.values())[-2:]} left {seen.left}", flush=True)
    page.PAGE.write_text(page.write(trials))
    short = [case.key for case in CASES if not _is_good(trials["Mooring", case.key])]
    print(f"mooring fell short: {', '.join(short)}" if short else "mooring answered in every case, and left nothing")
    return 1 if short else 0


def _is_good(seen: Seen) -> bool:
    answered = [step for step in ("call", "again") if "answer" in seen.steps.get(step, {})]
    return seen.ended and bool(answered) and seen.left == 0


if __name__ == "__main__":
    sys.exit(main())
