r"""The border: what was written elsewhere is checked for size, type and characters before anything here believes it.

Logs, records, recipes, run directories, checkpoints and the names in them come from others. Nothing here imports, runs
or unpickles what they name, and whatever of them is shown has passed `plain`: no terminal, table or page ever gets a
control character of somebody else's. All refusals are `ValueError`s of one sentence.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

MOST_NAME = 200
"""Letters of a name that are kept."""
MOST_SEATS = 200
"""Seats of a game that is read from elsewhere."""
MOST_ROUNDS = 20_000
"""Rounds of one, and turns of a whole game divided by 10."""
MOST_NUMBER = 1e15
"""The largest number that is believed; above it floats no longer tell whole numbers apart."""
MOST_BYTES = 64 * 2**20
"""Bytes of one file that is read as a whole."""
WEIGHTS = "inspect_dining:weights"
"""The key under which an output's metadata names the weights that it came from."""
_NESTING = 32
_FORMULA = frozenset("=+-@|")
"""What a formula begins with, in some spreadsheet."""
_BLANKS = "\u00a0\u3000"
"""Blanks besides the usual one that names are written with; all others are shown by their code."""
_SECRET = re.compile(
    r"(?i)(?:^|[_-])(?:token|key|secret|passw(?:or)?d|auth(?:orization)?|headers?|cookies?|credentials?|cert(?:ificate)?)s?$"
)
_LOOKS_SECRET = re.compile(r"(?i)(?:sk-|hf_|ghp_|xox[a-z]-|bearer |AIza)[\w.-]{8,}|//[^/@\s]+:[^/@\s]+@")


def plain(text: object, most: int | None = MOST_NAME) -> str:
    r"""A text that can be shown anywhere: control, bidirectional and other invisible characters as `\x1b`, in one line.

    Args:
        text: The text, or anything that becomes one.
        most: After how many letters it is cut; None keeps all.

    Returns:
        Printable characters and blanks. The text is the same where it holds nothing else.
    """
    whole = text if isinstance(text, str) else repr(text) if isinstance(text, (bytes, bytearray)) else _written(text)
    if most is not None and len(whole) > most:
        whole = f"{whole[:most]}..."
    if whole.isascii() and whole.isprintable():
        return whole
    return "".join(char if char.isprintable() or char in _BLANKS else _escaped(char) for char in whole)


def cell(value: object) -> object:
    """A value for a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.lstrip()[:1] in _FORMULA else value


def _written(value: object) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):  # a number of too many digits, or something nested without end
        return f"({type(value).__name__})"


def _escaped(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    code = ord(char)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def finite(value: object) -> float | None:
    """A number that can be believed, as a float, or None: no NaN, nothing beyond 1e15 and no truth value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if -MOST_NUMBER <= value <= MOST_NUMBER else None


def count(value: object) -> int:
    """A count that can be believed: a whole number from 0 to 1e15; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_NUMBER else 0


def public(name: str, value: object) -> str:
    """A setting as it may be printed: a secret, by its name or its look, is `***`; what is within is masked too."""
    if isinstance(value, Mapping):
        shown = ", ".join(f"{key}: {public(str(key), held)}" for key, held in list(value.items())[:20])
        return "***" if _SECRET.search(name) else plain(f"{{{shown}}}")
    if _SECRET.search(name) and not isinstance(value, (int, float, bool)):
        return "***"
    written = _written(value) if not isinstance(value, str) else value
    return plain(_LOOKS_SECRET.sub("***", written))


def check_size(n: object, rounds: object) -> None:
    """Refuses a game too large to be read.

    Raises:
        ValueError: It has more seats, rounds or turns than any game here, in a sentence.
    """
    if isinstance(n, int) and n > MOST_SEATS:
        raise ValueError(f"It has n={plain(n, 20)} seats; at most {MOST_SEATS:,} are read.")
    if isinstance(rounds, int) and rounds > MOST_ROUNDS:
        raise ValueError(f"It has rounds={plain(rounds, 20)}; at most {MOST_ROUNDS:,} are read.")
    if isinstance(n, int) and isinstance(rounds, int) and n * rounds > 10 * MOST_ROUNDS:
        raise ValueError(f"It has up to {n * rounds:,} turns; at most {10 * MOST_ROUNDS:,} are read.")


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """The text of a file of bounded size.

    Raises:
        ValueError: It is larger, no UTF-8 text, or cannot be read, in a sentence.
    """
    try:
        size = path.stat().st_size
        if size > most:
            raise ValueError(f"{plain(path)} has {size:,} bytes; at most {most:,} are read.")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{plain(path)} is no UTF-8 text.") from None
    except OSError as error:
        raise ValueError(f"{plain(path)} cannot be read: {error.strerror or error}.") from None


def read_json(path: Path, most: int = MOST_BYTES, nesting: int = _NESTING) -> object:
    """The plain values of a JSON file of bounded size, nested no deeper than so many objects and lists.

    Raises:
        ValueError: It is too large, no JSON, or nested too deeply, in a sentence.
    """
    text = read_text(path, most)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{plain(path)} is no JSON: {plain(error)}.") from None
    check_nesting(value, path, nesting)
    return value


def read_yaml(path: Path, most: int = 2**20) -> object:
    """The plain values of a YAML file, without tags and aliases: a few of those can stand for a billion values.

    Raises:
        ValueError: It is too large, no YAML, nested too deeply, or has an alias, in a sentence.
    """
    import yaml

    text = read_text(path, most)
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            raise ValueError(f"{plain(path)} has aliases (*name), which are not read; write the values out.")
        value: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{plain(path)} is no YAML: {plain(' '.join(str(error).split()))}.") from None
    check_nesting(value, path)
    return value


def check_nesting(value: object, path: Path, most: int = _NESTING) -> None:
    """Refuses values that are nested too deeply.

    Raises:
        ValueError: They are, in a sentence.
    """
    if most == 0 and isinstance(value, (dict, list)):
        raise ValueError(f"{plain(path)} is nested too deeply.")
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inside:
        if isinstance(one, (dict, list)):
            check_nesting(one, path, most - 1)
