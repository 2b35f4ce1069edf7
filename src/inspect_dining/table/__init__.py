"""The game: rules, table, views, records, scripted players and the proven optimum; pure, without Inspect."""

from inspect_dining.table.game import Game
from inspect_dining.table.moves import Action, Kind, Outcome, Reading, Turn, Why
from inspect_dining.table.optimum.ring import Best, best_meals
from inspect_dining.table.players.playing import Player, play
from inspect_dining.table.players.scripted import SCRIPTED, Scripted, scripted
from inspect_dining.table.record import Record, replay
from inspect_dining.table.round import Round
from inspect_dining.table.rules import Coin, Rules, episode_seed, sample_id
from inspect_dining.table.table import Table
from inspect_dining.table.view import Fork, View, parse, render, see

__all__ = [
    "SCRIPTED",
    "Action",
    "Best",
    "Coin",
    "Fork",
    "Game",
    "Kind",
    "Outcome",
    "Player",
    "Reading",
    "Record",
    "Round",
    "Rules",
    "Scripted",
    "Table",
    "Turn",
    "View",
    "Why",
    "best_meals",
    "episode_seed",
    "parse",
    "play",
    "render",
    "replay",
    "sample_id",
    "scripted",
    "see",
]
