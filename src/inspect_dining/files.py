"""Files are written whole or not at all."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from inspect_dining.errors import BadInput


def write(path: Path, text: str) -> None:
    """Writes a file beside its place and moves it there, so that no half of it is ever seen.

    Raises:
        BadInput: It cannot be written, in a sentence; what stood there before still does.
    """
    try:
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = Path(file.name)
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                mask = os.umask(0)
                os.umask(mask)
                temporary.chmod(0o666 & ~mask)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error
