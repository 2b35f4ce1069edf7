"""A philosopher or a shaping that a user wrote, by its name `package.module:name`."""

import importlib
import sys
from pathlib import Path

from inspect_dining.errors import BadInput


def load_attribute(name: str, what: str) -> object:
    """Imports what a user named, also from the current folder, which the script `inspect` leaves out of its path.

    Only a name that the user gave may come here, never one that a log or another file holds.

    Args:
        name: `package.module:name`.
        what: What it is to be, for the message: `shaping` or `philosopher`.

    Raises:
        BadInput: It cannot be imported, in a sentence; whatever the module raises is told there.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise BadInput(f"The {what} {name!r} is not accepted: give package.module:name.")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that no file of the folder hides an installed package
        importlib.invalidate_caches()
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        where = f" in {here} or among the installed packages" if error.name == module.partition(".")[0] else ""
        raise BadInput(f"The {what} {name!r} cannot be imported: there is no module {error.name}{where}.") from error
    except (Exception, SystemExit) as error:  # a module of the user's own may raise anything while it is imported
        raise BadInput(f"The {what} {name!r} cannot be imported: {type(error).__name__}: {error}.") from error
