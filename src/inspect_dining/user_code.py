"""Importing a user's own philosopher or shaping by its name `package.module:name`."""

import importlib
import sys
from pathlib import Path

from inspect_dining.errors import BadInput


def load_attribute(name: str, what: str) -> object:
    """Imports what a user named, also from the current folder, which the `inspect` script omits from its path.

    Only names given by the user may be passed here, never one from a log or another file.

    Args:
        name: `package.module:name`.
        what: The kind of object, for the message: `shaping` or `philosopher`.

    Raises:
        BadInput: It cannot be imported; the message quotes whatever the module raises.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise BadInput(f"The {what} {name!r} is not accepted: give package.module:name.")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that no file in the folder shadows an installed package
        importlib.invalidate_caches()
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        where = f" in {here} or among the installed packages" if error.name == module.partition(".")[0] else ""
        raise BadInput(f"The {what} {name!r} cannot be imported: there is no module {error.name}{where}.") from error
    except (Exception, SystemExit) as error:  # a user's module may raise anything on import
        raise BadInput(f"The {what} {name!r} cannot be imported: {type(error).__name__}: {error}.") from error
