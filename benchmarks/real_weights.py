"""A language model's games at a table, sampled and greedy, a row a game: the numbers of docs/real-weights.md.

    python benchmarks/real_weights.py --model PATH --out rows.csv

The games are the test games of `-T seed=1`. A game that has a row is not played again, so the script can be stopped and
started at will.
"""

import argparse
import csv
import io
import time
from pathlib import Path

from inspect_dining.files import write
from inspect_dining.scorers.terms import terms
from inspect_dining.table.rules import episode_seed, sample_id
from inspect_dining.training.play.loading import dinner, load
from inspect_dining.training.play.rollouts import Play
from inspect_dining.training.recipe import Recipe

COLUMNS = ("n", "rounds", "play", "game", "turns", "lost", "deadlocked", "meals", "reward", "tokens", "cpu_seconds")
AT_ONCE = 5
"""Games played side by side; CPU seconds are their mean."""


def main() -> None:
    """Plays what has no row yet, and writes the rows after every few games."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 3])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--games", type=int, default=60, help="sampled games of a size; one is played greedily")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    recipe = Recipe(max_tokens=32)
    table = dinner(*load(given.model, given.dtype), recipe)
    rows = list(csv.DictReader(given.out.read_text(encoding="utf-8").splitlines())) if given.out.exists() else []
    done = {(int(row["n"]), int(row["rounds"]), row["play"], int(row["game"])) for row in rows}
    for first in range(0, given.games, AT_ONCE):
        for n in given.sizes:
            for play, end in (("sampled", first + AT_ONCE), ("greedy", 1)):
                games = [e for e in range(first, min(end, given.games)) if (n, given.rounds, play, e) not in done]
                if not games:
                    continue
                started = time.process_time()
                played = table.play([
                    Play(
                        recipe.rules(n, given.rounds),
                        episode_seed("test", sample_id(n, 1, e)),
                        f"1/0/test/{n}/{e}" if play == "sampled" else None,
                    )
                    for e in games
                ])
                seconds = (time.process_time() - started) / len(games)
                for e, game in zip(games, played, strict=True):
                    t = terms(game.record)
                    tokens = sum(len(turn.reply.ids) for turn in game.turns)
                    values = (n, given.rounds, play, e, t.turns, t.lost_count, int(t.deadlocked), t.eaten)
                    more = (f"{recipe.reward()(t):.4f}", tokens, f"{seconds:.2f}")
                    rows.append(dict(zip(COLUMNS, map(str, (*values, *more)), strict=True)))
                text = io.StringIO()
                writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
                write(given.out, text.getvalue())


if __name__ == "__main__":
    main()
