"""Reading task arguments as they come from a command line or from Python, before any model is called."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from inspect_dining.errors import BadInput
from inspect_dining.limits import LIMITS
from inspect_dining.table.faults import SYNTAX
from inspect_dining.table.rules import is_whole, plain_int

NO_MODEL = "none/none"
"""Inspect's name for the model of a run without one."""


def refuse_unknown(given: Iterable[str], accepted: Sequence[str], task: str = "philosophers") -> None:
    """Refuses arguments that the task does not have; Inspect itself only warns.

    Raises:
        BadInput: There is one; the message suggests the nearest name and lists all names.
    """
    for name in given:
        hint = nearest(name, accepted)
        raise BadInput(f"The task {task} has no argument {name!r}.{hint} Accepted: {', '.join(accepted)}.")


def nearest(name: str, accepted: Sequence[str]) -> str:
    """A question that names the nearest accepted name, or nothing."""
    near = get_close_matches(name, accepted, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def items(value: object) -> list[object]:
    """A list of values from a list, a comma-separated string or a single value."""
    if isinstance(value, str):
        return [item.strip() for item in value.split(",")]
    if isinstance(value, Sequence):
        return list(value)
    return [value]


def whole_numbers(name: str, value: object) -> list[int]:
    """Distinct whole numbers from a list, a comma-separated string or a single value.

    Raises:
        BadInput: A value is not a whole number within the `LIMITS` of its name, or occurs twice.
    """
    least, most = LIMITS[name]
    numbers = [int(v) if isinstance(v, str) and re.fullmatch(r"[0-9]{1,20}", v) else plain_int(v) for v in items(value)]
    whole = [number for number in numbers if is_whole(number) and least <= number <= most]
    if not numbers or len(whole) < len(numbers):
        raise BadInput(
            f"{name}={shorten(value)} is not accepted: {name} must be a whole number from {least:,} to {most:,}, or "
            f"several of them such as {name}=5,10,15."
        )
    if len(set(whole)) < len(whole):
        raise BadInput(f"{name}={shorten(value)} names a number twice; give each one once.")
    return whole


def whole_number(name: str, value: object) -> int:
    """One whole number within the `LIMITS` of its name.

    Raises:
        BadInput: The value is not one.
    """
    least, most = LIMITS[name]
    number = plain_int(value)
    if isinstance(number, str) and re.fullmatch(r"[0-9]{1,20}", number):
        number = int(number)
    if not is_whole(number) or not least <= number <= most:
        raise BadInput(
            f"{name}={shorten(value)} is not accepted: {name} must be a whole number from {least:,} to {most:,}."
        )
    return number


def shorten(value: object) -> str:
    """A value as shown in a message, cut to its first letters."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


def fault_text(value: object) -> str:
    """Faults as one string, from a list or a comma-separated string; empty for none.

    Raises:
        BadInput: It is neither.
    """
    found = [] if value is None else items(value)
    if not all(isinstance(item, str) for item in found):
        raise BadInput(f"faults={value!r} is not accepted: a fault is written {SYNTAX}.")
    return ",".join(map(str, found))


def truth(name: str, value: object) -> bool:
    """True or false.

    Raises:
        BadInput: It is neither.
    """
    if not isinstance(value, bool):
        raise BadInput(f"{name}={value!r} is not accepted: give true or false.")
    return value


def numbers(name: str, value: object) -> list[float] | None:
    """Numbers from a list or a comma-separated string; None stays None.

    Raises:
        BadInput: A value is not a number.
    """
    if value is None:
        return None
    try:
        return [float(str(item)) for item in items(value)]
    except ValueError:
        raise BadInput(f"{name}={value!r} is not accepted: give numbers such as {name}=1,0.5,0.3,0.1.") from None


def player_names(value: object, roles: Mapping[str, object], smallest: int) -> tuple[str, ...]:
    """The players of a mixed table: names of model roles, one of which may be left to the run's model.

    Args:
        value: The names as a list or a comma-separated string, or None for a table of the run's own model.
        roles: The model roles of the evaluation.
        smallest: The smallest table's n.

    Raises:
        BadInput: There are fewer than two names, more names than seats, a repeated or invalid name, or two names
            without a model.
    """
    if value is None:
        return ()
    names = [str(item) for item in items(value)]
    odd = next((name for name in names if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or is_seat(name)), None)
    if odd is not None or len(set(names)) < len(names) or not 2 <= len(names) <= smallest:
        raise BadInput(
            f"players={value!r} is not accepted: name two players or more (at most {smallest}, the seats of the "
            "smallest table), each once, such as players=a,b, and give each a model with --model-role a=MODEL."
        )
    without = [name for name in names if name not in roles]
    if len(without) > 1:
        raise BadInput(
            f"players={value!r}: {' and '.join(without)} have no model; give --model-role {without[0]}=MODEL (one "
            "player may be left to --model)."
        )
    return tuple(names)


def is_seat(role: str) -> bool:
    """Whether a model role names a seat: `seat_0`, `seat_1` and so on."""
    return re.fullmatch(r"seat_(0|[1-9]\d*)", role) is not None


def refuse_odd_roles(roles: Mapping[str, object], smallest: int, players: Sequence[str] = ()) -> None:
    """Refuses model roles that match no seat at some table.

    Args:
        roles: The model roles of the evaluation.
        smallest: The smallest table's n.
        players: The players of a mixed table, whose seats have no roles.

    Raises:
        BadInput: A role is not a seat, or is bound to several models.
    """
    for role, bound in roles.items():
        if players and role not in players:
            raise BadInput(
                f"There is no player for the model role {role!r}; the players are {', '.join(players)}, who share the "
                "seats in every arrangement."
            )
        if not players and not (is_seat(role) and int(role.removeprefix("seat_")) < smallest):
            raise BadInput(
                f"There is no seat for the model role {role!r}; at a table of {smallest} the roles are seat_0 to "
                f"seat_{smallest - 1}."
            )
        if isinstance(bound, list):
            raise BadInput(f"The role {role} is bound to {len(bound)} models; a seat takes one.")


def refuse_missing_model(
    model: str | None, roles: Mapping[str, object], largest: int, players: Sequence[str] = ()
) -> None:
    """Refuses a run in which a seat has no model.

    Args:
        model: The model of the run, `none/none` if there is none, None if it is not known yet.
        roles: The model roles of the evaluation.
        largest: The largest table's n.
        players: The players of a mixed table.

    Raises:
        BadInput: There is no model, and a seat without a role would need one.
    """
    needed = players or [f"seat_{seat}" for seat in range(largest)]
    if model == NO_MODEL and not all(role in roles for role in needed):
        raise BadInput(
            "No model was given: add --model, such as --model openai/gpt-5, or --model dining/odd_even for a scripted "
            "player that needs no key."
        )
