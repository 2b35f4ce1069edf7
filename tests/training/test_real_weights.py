"""The table of the page on real weights is that of its raw rows."""

import csv
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_of_the_page_is_made_of_its_rows() -> None:
    rows = list(csv.DictReader((DOCS / "data" / "real-weights.csv").read_text(encoding="utf-8").splitlines()))
    lines = []
    for n in ("3", "5"):
        for play in ("sampled", "greedy"):
            some = [row for row in rows if (row["n"], row["play"]) == (n, play)]
            turns, lost, locked, meals, tokens = (
                sum(int(row[key]) for row in some) for key in ("turns", "lost", "deadlocked", "meals", "tokens")
            )
            seconds = sum(float(row["cpu_seconds"]) for row in some) / len(some)
            lines.append(
                f"| {n} | {play} | {len(some)} | {turns} | {turns - lost} | {locked} | {meals} "
                f"| {tokens / turns:.1f} | {seconds:.1f} |"
            )
    page = (DOCS / "real-weights.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if "sampled |" in line or "greedy |" in line] == lines
    assert {row["rounds"] for row in rows} == {"7"}
