"""Playing a whole game without a model: by scripted players or by your own functions."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from inspect_dining.table.game import Game
from inspect_dining.table.moves import ACTS, NO_CALL, Action, Reading
from inspect_dining.table.players.scripted import scripted
from inspect_dining.table.record import Record
from inspect_dining.table.rules import Coin, Rules, check_seed
from inspect_dining.table.talk import Heard, Messages, donor_seed
from inspect_dining.table.view import View

Player = Callable[[View], Action | str | None]
"""A custom player: takes a `View` and returns an action, its name, or None for no call at all."""
Talker = Callable[[View, Heard], str | None]
"""A custom talker: takes a `View` and the last messages of the left and right neighbour; returns a text, or None."""


def play(
    rules: Rules,
    players: str | Player | Sequence[str | Player],
    seed: int = 0,
    epoch: int = 1,
    talkers: Talker | Sequence[Talker | None] | None = None,
) -> Record:
    """Plays one game without a model.

    Under `talk_control="shuffled"` the same players first play another game, whose messages are heard instead.

    Args:
        rules: The rules of the game.
        players: One player for all seats, or one per seat: the name of a scripted player, or a callable that takes a
            `View` and returns an `Action` (or its name), or None for no call at all.
        seed: The episode's seed, which keys ties and scripted coins.
        epoch: Keys scripted coins only, so that the same game can be played again with fresh coins.
        talkers: With talk, the source of messages: one callable for all seats, or one per seat. It takes a `View`
            and the last messages of the two neighbours (`view.talk.heard`), and returns a text, or None for silence. A
            seat without one uses the messages of its scripted player; a callable player stays silent.

    Returns:
        The record of the game.

    Raises:
        ValueError: An unknown player, the wrong number of players or talkers, talkers without talk, a seed that is not
            a whole number from 0 to 2**64 - 1, or an answer of a player that is not an action or not a text.
    """
    if not isinstance(rules, Rules):
        raise ValueError(f"play({rules!r}, ...) is not accepted: give the rules of the game, such as Rules(n=5).")
    seed = check_seed(seed)
    if talkers is not None and not rules.talk:
        raise ValueError("Talkers were given, but the rules have no talk: use rules with talk=1 or more.")
    seated = _one_each(players, rules.n)
    spoken = list(talkers) if isinstance(talkers, Sequence) else [talkers] * rules.n
    if len(spoken) != rules.n:
        raise ValueError(f"{len(spoken)} talkers were given for {rules.n} seats; give one for all, or one for each.")
    donor: Messages = ()
    if rules.talk_control == "shuffled":
        donor = play(replace(rules, talk_control="none"), seated, donor_seed(seed), epoch, spoken).messages
    deciders = [_decider(seat, player, rules, seed, epoch) for seat, player in enumerate(seated)]
    sayers = [
        _sayer(seat, player, talker, seed, epoch)
        for seat, (player, talker) in enumerate(zip(seated, spoken, strict=True))
    ]
    game = Game(rules, seed, donor)
    while game.ended is None:
        if game.to_speak:
            game.speak([sayers[seat](game.view(seat)) for seat in game.to_speak])
        else:
            game.move([deciders[seat](game.view(seat)) for seat in game.to_move])
    return game.record()


def _one_each(players: str | Player | Sequence[str | Player], n: int) -> list[str | Player]:
    if isinstance(players, str) or callable(players):
        return [players] * n
    given: object = players
    if not isinstance(given, Sequence) or not all(isinstance(one, str) or callable(one) for one in given):
        raise ValueError(
            f"players={players!r} is not accepted: give the name of a scripted player or a callable, or a list of them."
        )
    if len(players) != n:
        raise ValueError(f"{len(players)} players were given for {n} seats; give one for all, or one for each seat.")
    return list(players)


def _decider(seat: int, player: str | Player, rules: Rules, seed: int, epoch: int) -> Callable[[View], Reading]:
    if isinstance(player, str):
        known, unused = scripted(player), Coin()
        known.check(rules)
        decide = known.decide

        def by_rote(view: View) -> Reading:
            action = decide(view, unused)
            return NO_CALL if action is None else ACTS[action]

        def by_coin(view: View) -> Reading:
            action = decide(view, Coin(seed, epoch, view.round, seat))
            return NO_CALL if action is None else ACTS[action]

        return by_coin if known.tosses else by_rote

    def by_callable(view: View) -> Reading:
        answer = player(view)
        if answer is None:
            return NO_CALL
        try:
            return ACTS[Action(answer)]
        except ValueError:
            raise ValueError(
                f"The player of seat {seat} answered {answer!r}; accepted: {', '.join(Action)}, or None for no call."
            ) from None

    return by_callable


def _sayer(
    seat: int, player: str | Player, talker: Talker | None, seed: int, epoch: int
) -> Callable[[View], str | None]:
    own = scripted(player).say if isinstance(player, str) and talker is None else None

    def say(view: View) -> str | None:
        assert view.talk is not None, "messages are wanted only with talk"
        if own is not None:
            return own(view, Coin(seed, epoch, view.round, seat))
        text: object = None if talker is None else talker(view, view.talk.heard)
        if text is not None and not isinstance(text, str):
            raise ValueError(f"The talker of seat {seat} answered {text!r}; accepted: a text, or None for silence.")
        return text

    return say
