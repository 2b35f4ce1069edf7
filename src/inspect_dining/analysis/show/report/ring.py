"""A game as an interactive ring of seats and forks, for a report.

Without JavaScript the ring stays hidden, and the strip above it remains.
"""

import json
from html import escape
from math import cos, pi, sin

from inspect_dining.table.moves import Outcome
from inspect_dining.table.narration import faults_of, messages, told
from inspect_dining.table.record import Record, replay
from inspect_dining.table.round import Round, ate
from inspect_dining.table.table import FREE

_SIZE, _SEATS, _FORKS, _HAND = 320, 118, 92, 104
"""The picture's side, and the radii of seats, free forks and held forks, in pixels."""

SCRIPT = """
document.querySelectorAll('.ring').forEach(function (ring) {
  var rounds = JSON.parse(ring.querySelector('script[type="application/json"]').textContent);
  var slider = ring.querySelector('input'), now = ring.querySelector('output'), say = ring.querySelector('.told');
  ring.hidden = false;
  function show() {
    var at = Number(slider.value), round = rounds[at], before = at ? rounds[at - 1] : null;
    now.textContent = at ? 'round ' + at + ' of ' + (rounds.length - 1) : 'the empty table';
    ring.querySelectorAll('.fork').forEach(function (fork, i) {
      var hand = round.h[i];
      fork.setAttribute('transform', fork.dataset[hand === null ? 'lie' : hand === i ? 'own' : 'other']);
      fork.classList.toggle('held', hand !== null);
    });
    ring.querySelectorAll('.seat').forEach(function (seat, i) {
      var ate = before && round.m[i] > before.m[i];
      seat.classList.toggle('ate', Boolean(ate));
      seat.classList.toggle('lost', Boolean(round.x && round.x.indexOf(i) >= 0));
      seat.querySelector('.meals').textContent = round.m[i];
    });
    ring.classList.toggle('locked', round.l);
    say.replaceChildren();
    (round.t || []).forEach(function (text, i) {
      var item = document.createElement('li'); item.textContent = 'seat ' + i + ': ' + text; say.appendChild(item);
      if (round.s && round.s[i]) {
        var words = document.createElement('q'); words.textContent = round.s[i];
        item.appendChild(document.createTextNode(', says ')); item.appendChild(words);
      }
    });
  }
  slider.addEventListener('input', show);
  var play = ring.querySelector('button'), timer = null;
  play.addEventListener('click', function () {
    if (timer) { clearInterval(timer); timer = null; play.textContent = 'Play'; return; }
    if (Number(slider.value) >= rounds.length - 1) { slider.value = 0; }
    play.textContent = 'Pause';
    timer = setInterval(function () {
      slider.value = Number(slider.value) + 1; show();
      if (Number(slider.value) >= rounds.length - 1) { clearInterval(timer); timer = null; play.textContent = 'Play'; }
    }, 700);
  });
  show();
});
"""
"""The script that runs every ring of a page; it is included once, at the end."""

STYLE = """
.ring { display: grid; grid-template-columns: minmax(16rem, 20rem) 1fr; gap: .3rem 1.2rem; align-items: start;
  margin: .4rem 0 1.2rem; }
.ring[hidden] { display: none; }
.ring svg { width: 100%; height: auto; }
.ring .controls { grid-column: 1 / -1; display: flex; gap: .8rem; align-items: center; flex-wrap: wrap; }
.ring input { flex: 1; min-width: 10rem; }
.ring .told q { color: var(--quiet); overflow-wrap: anywhere; }
.ring .told { list-style: none; margin: .6rem 0 0; padding: 0; font-size: .84rem; columns: 1; }
.ring .seat circle { fill: var(--faint); stroke: var(--ink); }
.ring .seat text { fill: var(--ink); font-size: 12px; text-anchor: middle; }
.ring .name { fill: var(--quiet); font-size: 10px; text-anchor: middle; }
.ring .seat.ate circle { fill: #009E73; } .ring .seat.ate text { fill: #fff; font-weight: 700; }
.ring .seat.lost circle { stroke-dasharray: 3 3; }
.ring .fork { stroke: var(--quiet); stroke-width: 4; stroke-linecap: round; transition: transform .25s; }
.ring .fork.held { stroke: #0072B2; }
.ring.locked .fork { stroke: #D55E00; }
@media (prefers-reduced-motion: reduce) { .ring .fork { transition: none; } }
@media (max-width: 40rem) { .ring { grid-template-columns: 1fr; } }
@media print { .ring { display: none; } }
"""
"""The style of the ring; it is hidden in print, where the strip remains."""


def ring(record: Record, name: str) -> str:
    """The ring of a game, as HTML that becomes visible once `SCRIPT` has run.

    Args:
        record: The record of the game.
        name: The name of the game, for screen readers.
    """
    n = record.rules.n
    wide = 2 * pi / n
    middle = _SIZE / 2

    def at(angle: float, radius: float) -> tuple[float, float]:
        return middle + radius * sin(angle), middle - radius * cos(angle)

    size = max(9.0, min(20.0, 0.42 * wide * _SEATS))
    seats, forks = [], []
    for seat in range(n):
        x, y = at(seat * wide, _SEATS)
        seats.append(
            f'<g class="seat"><circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
            f'<text class="meals" x="{x:.1f}" y="{y + 4:.1f}">0</text></g>'
        )
        lx, ly = at(seat * wide, _SEATS + size + 10)
        seats.append(f'<text class="name" x="{lx:.1f}" y="{ly + 4:.1f}">{seat}</text>')
        # fork i is left of seat i, between it and seat i - 1
        places = {}
        for key, angle, radius in (
            ("lie", (seat - 0.5) * wide, _FORKS),
            ("own", (seat - 0.24) * wide, _HAND),
            ("other", (seat - 0.76) * wide, _HAND),
        ):
            px, py = at(angle, radius)
            places[key] = f"translate({px:.1f} {py:.1f}) rotate({angle * 180 / pi:.1f})"
        data = "".join(f' data-{key}="{value}"' for key, value in places.items())
        forks.append(f'<line class="fork" y1="-9" y2="9" transform="{places["lie"]}"{data}/>')
    empty: dict[str, object] = {"h": [None] * n, "m": [0] * n, "l": False}
    rounds = [empty, *(_plain(record, round) for round in replay(record))]
    data = json.dumps(rounds, separators=(",", ":")).replace("<", "\\u003c")
    label = escape(f"The table of {name}, round by round")
    return (
        f'<div class="ring" hidden role="group" aria-label="{label}">'
        f'<svg viewBox="0 0 {_SIZE} {_SIZE}" role="img" aria-label="{label}">{"".join(forks)}{"".join(seats)}</svg>'
        '<ol class="told" aria-live="polite"></ol>'
        '<div class="controls"><button type="button">Play</button>'
        f'<input type="range" min="0" max="{len(rounds) - 1}" value="0" aria-label="round"><output></output></div>'
        f'<script type="application/json">{data}</script></div>'
    )


def _plain(record: Record, round: Round) -> dict[str, object]:
    """The data of a round for the ring: holders of forks, meals, whether it locked, lost turns, turns and messages."""
    faults = faults_of(record.rules, round.faulty)
    said = {"s": [messages(round, seat) for seat in range(record.rules.n)]} if record.rules.talk else {}
    return {
        "h": [None if holder == FREE else holder for holder in round.after.held],
        "m": list(round.after.meals),
        "l": round.locked,
        "x": [seat for seat, turn in enumerate(round.turns) if turn.outcome is Outcome.LOST],
        "t": ["EATS" if ate(turn) else told(turn, faults.get(seat)) for seat, turn in enumerate(round.turns)],
        **said,
    }
