"""The curves of a run as one picture."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from inspect_dining.files import writing
from inspect_dining.training.keep.run_directory import MetricsRow
from inspect_dining.training.show.display import SHOWN


def curves(rows: Sequence[MetricsRow], path: Path, title: str) -> None:
    """Draws the curves of a run's training games, with the steps at which stages begin and restarts happen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = [*SHOWN, ("entropy", "entropy (nats a reply)", "")]
    figure = Figure(figsize=(14, 6), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    steps = [row["step"] for row in rows]
    changes = [now["step"] for then, now in pairwise(rows) if now["stage"] != then["stage"]]
    restarts = [now["step"] for then, now in pairwise(rows) if now["restarts"] != then["restarts"]]
    for axes, (key, label, _) in zip(figure.subplots(2, 4).flat, panels, strict=True):
        axes.plot(steps, [row[key] for row in rows], linewidth=1)
        axes.set_title(label)
        axes.set_xlabel("step")
        for step in changes:
            axes.axvline(step, color="0.6", linestyle=":")
        for step in restarts:
            axes.axvline(step, color="tab:red", linestyle="--")
        if key not in ("reward", "meals", "entropy"):
            axes.set_ylim(-0.02, 1.02)
    with writing(path) as beside:
        figure.savefig(beside, dpi=110)
