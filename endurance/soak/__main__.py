"""Runs the soak and saves its result: `make soak`, or `python -m endurance.soak --help`."""

import argparse
import secrets
import signal
import sys

from benchmarks import result_files
from endurance.soak import report
from endurance.soak.trial import Plan, run


def main() -> int:
    arguments = _arguments()
    # Like Ctrl-C: everything that was started is stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed
    # Before the run: the code may be changed while it runs.
    commit = result_files.commit()
    try:
        outcome = run(Plan(arguments.minutes * 60, arguments.kill_every, seed))
    except KeyboardInterrupt:
        print("\nStopped. Nothing was saved.")
        return 130
    print("\n".join(report.document(outcome, commit)))
    if not arguments.no_save:
        print(f"Saved in {report.save(outcome, commit)}")
    return 1 if outcome.findings.total else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m endurance.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long clients send load")
    parser.add_argument("--seed", type=int, help="repeats the choices of an earlier run")
    parser.add_argument(
        "--kill-every", type=float, default=8.0, help="mean seconds between two ended processes"
    )
    parser.add_argument("--no-save", action="store_true", help="print the result only")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
