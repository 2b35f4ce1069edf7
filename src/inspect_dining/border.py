r"""The border: foreign data is checked for size, type and characters before anything here uses it.

Logs, records, recipes, run directories, checkpoints and the names in them come from others. Nothing here imports, runs
or unpickles what they name. Anything shown from them has passed `plain`, so no terminal, table or page gets a foreign
control character. All refusals are `ValueError`s of one sentence.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

MOST_NAME = 200
"""The maximum characters of a name that are kept."""
MOST_SEATS = 200
"""The maximum seats of a game read from elsewhere."""
MOST_ROUNDS = 20_000
"""The maximum rounds of such a game; its maximum turns are 10 times as many."""
MOST_NUMBER = 1e15
"""The largest number that is accepted; beyond it, floats cannot represent all whole numbers."""
MOST_BYTES = 64 * 2**20
"""The maximum bytes of a file that is read as a whole."""
WEIGHTS = "inspect_dining:weights"
"""The key under which an output's metadata names the weights that produced it."""
_NESTING = 32
_FORMULA = frozenset("=+-@|")
"""The characters with which a formula begins in some spreadsheet."""
_BLANKS = "\u00a0\u3000"
"""Spaces, other than the usual one, that occur in names; all others are shown by their code."""
_SECRET = re.compile(
    r"(?i)(?:^|[_-])(?:token|key|secret|passw(?:or)?d|auth(?:orization)?|headers?|cookies?|credentials?|cert(?:ificate)?)s?$"
)
_LOOKS_SECRET = re.compile(r"(?i)(?:sk-|hf_|ghp_|xox[a-z]-|bearer |AIza)[\w.-]{8,}|//[^/@\s]+:[^/@\s]+@")


def plain(text: object, most: int | None = MOST_NAME) -> str:
    r"""A text that can be shown anywhere: control, bidirectional and other invisible characters as `\x1b`, in one line.

    Args:
        text: The text, or anything that becomes one.
        most: The number of characters after which it is cut; None keeps all.

    Returns:
        Printable characters and spaces. A text of only these is unchanged.
    """
    whole = text if isinstance(text, str) else repr(text) if isinstance(text, (bytes, bytearray)) else _written(text)
    if most is not None and len(whole) > most:
        whole = f"{whole[:most]}..."
    if whole.isascii() and whole.isprintable():
        return whole
    return "".join(char if char.isprintable() or char in _BLANKS else _escaped(char) for char in whole)


def cell(value: object) -> object:
    """A value for a CSV file: a text that a spreadsheet would read as a formula gets a leading apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.lstrip()[:1] in _FORMULA else value


def _written(value: object) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):  # a number with too many digits, or endless nesting
        return f"({type(value).__name__})"


def _escaped(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    code = ord(char)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def finite(value: object) -> float | None:
    """A plausible number as a float, or None for NaN, for numbers beyond 1e15 and for truth values."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if -MOST_NUMBER <= value <= MOST_NUMBER else None


def count(value: object) -> int:
    """A plausible count: a whole number from 0 to 1e15; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_NUMBER else 0


def public(name: str, value: object) -> str:
    """A setting in printable form: a secret, by its name or its look, becomes `***`, also within nested values."""
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
        ValueError: It has more seats, rounds or turns than any game here.
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
        ValueError: The file is too large, not UTF-8 text, or cannot be read.
    """
    try:
        size = path.stat().st_size
        if size > most:
            raise ValueError(f"{plain(path)} has {size:,} bytes; at most {most:,} are read.")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{plain(path)} is not UTF-8 text.") from None
    except OSError as error:
        raise ValueError(f"{plain(path)} cannot be read: {error.strerror or error}.") from None


def read_json(path: Path, most: int = MOST_BYTES, nesting: int = _NESTING) -> object:
    """The plain values of a JSON file of bounded size, with bounded nesting.

    Raises:
        ValueError: The file is too large, not JSON, or nested too deeply.
    """
    text = read_text(path, most)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{plain(path)} is not JSON: {plain(error)}.") from None
    check_nesting(value, path, nesting)
    return value


def read_yaml(path: Path, most: int = 2**20) -> object:
    """The plain values of a YAML file, without tags and aliases: a few aliases can expand to a billion values.

    Raises:
        ValueError: The file is too large, not YAML, nested too deeply, or has an alias.
    """
    import yaml

    text = read_text(path, most)
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            raise ValueError(f"{plain(path)} has aliases (*name), which are not read; write the values out.")
        value: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{plain(path)} is not YAML: {plain(' '.join(str(error).split()))}.") from None
    check_nesting(value, path)
    return value


def check_nesting(value: object, path: Path, most: int = _NESTING) -> None:
    """Refuses values that are nested too deeply.

    Raises:
        ValueError: They are nested too deeply.
    """
    if most == 0 and isinstance(value, (dict, list)):
        raise ValueError(f"{plain(path)} is nested too deeply.")
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inside:
        if isinstance(one, (dict, list)):
            check_nesting(one, path, most - 1)
