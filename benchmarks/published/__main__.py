"""Play every published measurement; print measured, ours and verdict; write the page."""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

from benchmarks.published import page
from benchmarks.published.lab_plays import lab_verdict
from benchmarks.published.plays import PLAYS
from benchmarks.published.verdicts import DIFFERS, NEAR, experiments, judge, near


def play(data, seeds):
    """Play one experiment; return verdicts over seeds, by request and in the lab, and the time."""
    began = time.perf_counter()
    plays = PLAYS[data["id"]]
    once = judge(data, [plays.requests()])
    verdict = once
    if plays.seeds is not None:
        verdict = judge(data, [plays.seeds(seed) for seed in range(seeds)])
    return verdict, once, lab_verdict(data, seeds), time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.published", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2, help="processes to play in")
    parser.add_argument("--only", help="ids, separated by commas; writes no page")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else None
    chosen = [data for data in experiments() if not wanted or data["id"] in wanted]
    verdicts, onces, in_lab = [], [], []
    with ProcessPoolExecutor(options.jobs) as pool:
        played = pool.map(play, chosen, repeat(options.seeds))
        for data, (verdict, once, lab, seconds) in zip(chosen, played, strict=True):
            verdicts.append(verdict)
            onces.append(once)
            in_lab += [] if lab is None else [lab]
            show(verdict, once, PLAYS[data["id"]], seconds)
    close, of = near(verdicts)
    print(f"\n{close} of {of} published figures within {NEAR} %")
    if not wanted:
        page.write(verdicts, onces, in_lab, options.seeds)
    return any(verdict.word == DIFFERS for verdict in (*verdicts, *in_lab))


def show(verdict, once, play, seconds):
    print(f"\n{verdict.id:7} {verdict.word} {verdict.reason}  [{seconds:.1f} s]")
    for _, what, measured, ours, criterion, _ in page.rows([verdict]):
        print(f"   {what:48.48} {measured:>14} {ours:>34}   {criterion}")
    if once is not verdict:
        print(f"   request by request ({play.scaled}): {once.word} {once.reason}")
        for _, what, _, ours, _, _ in page.rows([once]):
            print(f"   {what:48.48} {'':>14} {ours:>34}")


if __name__ == "__main__":
    raise SystemExit(main())
