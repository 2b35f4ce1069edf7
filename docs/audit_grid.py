"""Audits shapings at every n from 2 to 20 and every T from 3 to 50, and puts the table of it into docs/audit.md.

python docs/audit_grid.py            # the cells that docs/data/audit-grid.csv lacks (about a second each)
python docs/audit_grid.py --table    # only puts the table of docs/data/audit-grid.csv into docs/audit.md
"""

import csv
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from inspect_dining.audit.assessment import audit
from inspect_dining.files import append, write
from inspect_dining.scorers.shaping import shaping

HERE = Path(__file__).parent
DATA = HERE / "data" / "audit-grid.csv"
NAMES = ("gini_welfare", "proportional", "paper", "meal_gated")
SEATS, ROUNDS = range(2, 21), range(3, 51)
MARGINS = (
    "silence_never_on_top", "playing_on_pays", "further_meals_pay", "further_meals_pay_in_deadlock",
    "starving_never_wins", "starving_costs", "deadlock_costs", "later_deadlock",
)  # fmt: skip
COLUMNS = ("shaping", "n", "rounds", "proved", *MARGINS, "failed")
START, END = "<!-- grid: made by docs/audit_grid.py -->", "<!-- end of grid -->"

Row = Mapping[str, str]


def audited(name: str, n: int, rounds: int) -> Row:
    """The verdict on a shaping at one size: the margin of every property that has one, and what it fails."""
    found = audit(shaping(name), n, rounds)
    margins = {one.name: one.margin for one in found.properties}
    return {
        "shaping": name,
        "n": str(n),
        "rounds": str(rounds),
        "proved": str(found.exact),
        **{one: "" if (margin := margins[one]) is None else f"{margin:.3g}" for one in MARGINS},
        "failed": " ".join(one.name for one in found.failed),
    }


def rows() -> list[Row]:
    """The rows of the data."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(data: Sequence[Row]) -> str:
    """In how many of the sizes each shaping fails what, and by how much it passes."""
    return "\n".join(_lines(data))


def _lines(data: Sequence[Row]) -> Iterator[str]:
    yield "| shaping | sizes | passes all | fails, at how many sizes | least margin |"
    yield "| --- | --- | --- | --- | --- |"
    for name in NAMES:
        own = [row for row in data if row["shaping"] == name]
        passed = [row for row in own if not row["failed"]]
        failed: dict[str, int] = {}
        for row in own:
            for one in row["failed"].split():
                failed[one] = failed.get(one, 0) + 1
        told = ", ".join(f"{one} {count}" for one, count in sorted(failed.items(), key=lambda item: -item[1]))
        margins = [
            (float(row[one]), one, row)
            for row in passed
            for one in MARGINS
            if row[one] and one not in {"later_deadlock", "playing_on_pays"}
        ]
        margin = "-"
        if margins:
            least, one, row = min(margins, key=lambda margin: margin[0])
            margin = f"{least:.4f} ({one}, n = {row['n']}, T = {row['rounds']})"
        yield f"| `{name}` | {len(own)} | {len(passed)} | {told or 'nothing'} | {margin} |"


def with_table(page: str, data: Sequence[Row]) -> str:
    """A page with the table between its marks as the data say."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{table(data)}\n\n{END}{after}"


def cells() -> list[tuple[str, int, int]]:
    """All cells in an order by chance, so that what is there after a while stands for the rest."""
    every = [(name, n, rounds) for name in NAMES for n in SEATS for rounds in ROUNDS]
    random.Random(0).shuffle(every)
    return every


def main(table_only: bool) -> None:
    """Audits what is missing, and writes the table."""
    if not DATA.is_file():
        append(DATA, ",".join(COLUMNS))
    known = {(row["shaping"], int(row["n"]), int(row["rounds"])): row for row in rows()}
    for cell in () if table_only else cells():
        if cell not in known:
            known[cell] = audited(*cell)
            append(DATA, ",".join(known[cell][column] for column in COLUMNS))
    ordered = sorted(known.items(), key=lambda item: (NAMES.index(item[0][0]), *item[0][1:]))
    write(DATA, "\n".join([",".join(COLUMNS), *(",".join(row[one] for one in COLUMNS) for _, row in ordered)]) + "\n")
    page = HERE / "audit.md"
    page.write_text(with_table(page.read_text(encoding="utf-8"), rows()), encoding="utf-8")


if __name__ == "__main__":
    main("--table" in sys.argv)
