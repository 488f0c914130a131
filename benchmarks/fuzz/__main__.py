"""The command; the page of the package says what it looks for."""

import argparse
import sys
from pathlib import Path

from benchmarks.fuzz.run import PARTS, run, seldom_served, served_counts

_FEWEST_SHOWN = 5


def _line(tally):
    served = sum(count for outcome, count in tally.outcomes.items() if outcome in ("ok", "200"))
    return (
        f"{tally.part:<22}{tally.requests:>10,}{served:>10,}{len(tally.outcomes):>10}"
        f"{1000 * tally.slowest_seconds:>12.0f}{len(tally.findings):>10}"
    )


def main():
    """Run and print; exit with 1 if something was found."""
    parser = argparse.ArgumentParser(
        description="Send damaged requests, files and routes, and look for what breaks."
    )
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--findings", type=Path, help="a file to write what was found to, whole")
    arguments = parser.parse_args()
    write = sys.stdout.write
    write(f"{'part':<22}{'requests':>10}{'served':>10}{'outcomes':>10}")
    write(f"{'slowest ms':>12}{'findings':>10}\n")

    def told(tally):
        write(_line(tally) + "\n")
        for finding in tally.findings.values():
            write(f"  {str(finding)[:600]}\n")
        sys.stdout.flush()

    tallies = run(arguments.requests, arguments.seed, arguments.part, told)
    findings = [finding for tally in tallies for finding in tally.findings.values()]
    if arguments.findings is not None:
        arguments.findings.write_text(
            "\n\n".join(
                f"{finding.part}: {finding.kind}: {finding.reason}\n{finding.request}"
                for finding in findings
            )
        )
    write(f"{sum(tally.requests for tally in tallies):,} requests, {len(findings)} findings\n")
    fewest = list(served_counts(tallies).items())[:_FEWEST_SHOWN]
    write("served most seldom: " + ", ".join(f"{name} {count}" for name, count in fewest) + "\n")
    seldom = {} if arguments.part else seldom_served(tallies, arguments.requests)
    for name, count in seldom.items():
        write(f"served too seldom: {name}, {count} times\n")
    return 1 if findings or seldom else 0


if __name__ == "__main__":
    sys.exit(main())
