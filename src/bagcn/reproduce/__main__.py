"""Run studies where only the core dependencies are: ``python -m bagcn.reproduce STUDY ...``.

The records are lines of JSON, a file for each study, which ``bagcn reproduce STUDY --merge DIR``
adds to the store; that command also draws.
"""

from __future__ import annotations

import argparse
import logging
import time
from pathlib import Path

from bagcn.reproduce.definition import NAMES, Study, load_study
from bagcn.reproduce.kinds import missing, run_missing
from bagcn.reproduce.running import Plan
from bagcn.study.runner import Machine
from bagcn.study.seeds import parse_seeds
from bagcn.study.values import parse_bytes, parse_settings

logger = logging.getLogger(__name__)


class TimeUpError(Exception):
    """Nothing more is to be begun."""


def main() -> None:
    """Run the studies one after another; begin nothing after the time is up."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args = _arguments()
    deadline = time.monotonic() + args.seconds
    try:
        for name in NAMES if "all" in args.studies else args.studies:
            study = load_study(name)
            _run(study, _plan(study, args, deadline))
    except TimeUpError:
        logger.warning("time is up: the same command goes on")


def _run(study: Study, plan: Plan) -> None:
    logger.info("%s: %d runs are missing", study.name, missing(study, plan))
    began = time.monotonic()
    made = sum(1 for _ in run_missing(study, plan))
    logger.info("%s: %d runs in %.0f s", study.name, made, time.monotonic() - began)


def _plan(study: Study, args: argparse.Namespace, deadline: float) -> Plan:
    def on_start(words: str, runs: int) -> None:
        if time.monotonic() > deadline:
            raise TimeUpError
        logger.info("  %s: %d runs", words, runs)

    memory = parse_bytes(args.max_memory) if args.max_memory else None
    return Plan(
        args.store,
        parse_seeds(args.seeds) if args.seeds else list(range(study.seeds)),
        Machine(args.device, args.data_dir, max_memory=memory),
        parse_settings(args.set),
        args.out,
        on_start,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bagcn.reproduce", description=__doc__)
    parser.add_argument("studies", nargs="+", choices=[*NAMES, "all"], metavar="STUDY")
    parser.add_argument("--out", type=Path, required=True, help="folder for the new runs")
    parser.add_argument("--store", type=Path, default=Path("results"), help="runs that are known")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--max-memory", help="what the runs together may take, like 4GiB")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seeds", help="20 or 0..19; the study's own if not given")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing later")
    return parser.parse_args()


if __name__ == "__main__":
    main()
