"""Training for strangers: mirrored views of training games, and partners in place of the policy.

**Mirror** (other-play; Hu et al. 2020). Two symmetries of the game concern left and right: leave the ring as it is, or
reflect it (`table.reflection`). Other-play draws one of them by a coin and lets the policy play with its own image
under it. Reflecting all seats would change nothing, since one policy plays them all; so the seats are split between the
policy and its image. In half of the groups nothing is reflected; in the others each seat, by a fair coin, sees the ring
in a mirror and acts in it. A convention about which side is taken first, or in which direction turns pass around the
ring, then breaks at its own table. The half without a mirror keeps the policy from relying on the coins, which separate
seats that would otherwise do the same.

**Partners.** In a share of the groups some seats are played by a stranger: a scripted player, or an older checkpoint of
the run. The reward is still the table's, and learning uses only the turns of the policy's seats.

Both are part of the game: all episodes of a group have the same mirrored seats and the same strangers, so that the
group's mean compares like with like.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import torch

from inspect_dining.errors import BadInput
from inspect_dining.table.players.scripted import SCRIPTED, players_under
from inspect_dining.table.rules import Coin
from inspect_dining.training.play import loading, sharding
from inspect_dining.training.play.rollouts import PAST, Dinner
from inspect_dining.training.recipe import Recipe


def check(recipe: Recipe) -> None:
    """Checks a recipe's options for strangers, before anything is created.

    Raises:
        BadInput: Options are incompatible.
    """
    share = Recipe.model_fields["partner_share"].default
    if not recipe.partners and recipe.partner_share != share:
        raise BadInput(
            f"partner_share={recipe.partner_share} is the share of groups with partners, but there are none; name some "
            "by partners, or leave it out."
        )
    if not recipe.mirror and not recipe.partners:
        return
    if recipe.learner == "art":
        raise BadInput(
            "OpenPipe ART is given whole tables as their records show them, so learner=art goes with mirror=false and "
            "no partners; take learner=torch."
        )
    if recipe.mirror and (recipe.order != "simultaneous" or recipe.ties != "random"):
        given = f"order={recipe.order}" if recipe.order != "simultaneous" else f"ties={recipe.ties}"
        raise BadInput(
            f"mirror=true needs rules that are the same in the mirror, and under {given} they go by seat numbers; take "
            "order=simultaneous and ties=random, or leave mirror out."
        )
    for name in recipe.partners:
        _check_partner(name, recipe)
    if len(set(recipe.partners)) < len(recipe.partners):
        raise BadInput(f"partners={','.join(recipe.partners)} names a partner twice; name each once.")
    if PAST in recipe.partners and (recipe.rollouts != "local" or sharding.wanted()):
        raise BadInput(
            "The partner past is an older checkpoint beside the model in this process; with --rollouts vllm or sharded "
            "weights (FSDP) name scripted players only."
        )


def _check_partner(name: str, recipe: Recipe) -> None:
    accepted = (*players_under(recipe.rules(2, 3)), PAST)
    if name in accepted:
        return
    if name in SCRIPTED:
        raise BadInput(
            f"The partner {name} needs talk, which training does not offer; accepted: {', '.join(accepted)}."
        )
    near = get_close_matches(name, accepted, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise BadInput(f"There is no partner {name!r}.{meant} Accepted: {', '.join(accepted)}.")


def mirrored(recipe: Recipe, step: int, group: int, n: int) -> frozenset[int]:
    """The mirrored seats of a group's games: none, or by fair coins some but not all."""
    coin = Coin("mirror", recipe.seed, step, group)
    if not recipe.mirror or coin.random() < 0.5:
        return frozenset()
    return split_seats(coin, n)


def partners(recipe: Recipe, step: int, group: int, n: int) -> tuple[str | None, ...]:
    """The partner at each seat of a group's games; empty if the policy plays all seats.

    One of the recipe's partners, drawn at random, sits at some seats drawn by fair coins.
    """
    coin = Coin("partners", recipe.seed, step, group)
    if not recipe.partners or coin.random() >= recipe.partner_share:
        return ()
    partner = coin.choice(recipe.partners)
    theirs = split_seats(coin, n)
    return tuple(partner if seat in theirs else None for seat in range(n))


def split_seats(coin: Coin, n: int) -> frozenset[int]:
    """Some seats but not all, each by a fair coin."""
    while True:
        seats = frozenset(seat for seat in range(n) if coin.random() < 0.5)
        if 0 < len(seats) < n:
            return seats


class Past:
    """The older checkpoint of a run that plays as a partner: one per step, drawn from all existing ones."""

    def __init__(self, recipe: Recipe, checkpoints: Path) -> None:
        """Takes the recipe, and the folder of the run's checkpoints."""
        self._recipe, self._checkpoints = recipe, checkpoints
        self._loaded: tuple[int, Dinner] | None = None

    def at(self, step: int, device: torch.device) -> Dinner:
        """The checkpoint that plays in a step.

        Args:
            step: The step, from 0.
            device: The policy's device.
        """
        drawn = Coin("past", self._recipe.seed, step).choice(older(self._recipe, step))
        if self._loaded is None or self._loaded[0] != drawn:
            model, tokenizer = loading.load(str(self._checkpoints / f"step-{drawn:04d}"), self._recipe.dtype)
            model.to(device)  # type: ignore[arg-type]  # transformers' wrapper hides torch's own signature
            self._loaded = drawn, loading.dinner(model, tokenizer, self._recipe)
        return self._loaded[1]


def older(recipe: Recipe, step: int) -> Sequence[int]:
    """The steps of the checkpoints that exist before a step."""
    return range(0, step + 1, recipe.checkpoint_every)
