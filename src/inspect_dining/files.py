"""Writing files, folders, links and lines of a table, each whole or not at all.

Data is first written next to its destination under a hidden name, until all of it is on disk. It is then moved, which
happens at once or not at all. After a kill, a full disk or a bug of ours, the previous content is still in place.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp, mkstemp

from inspect_dining.errors import BadInput


def write(path: Path, data: str | bytes) -> None:
    """Writes a file whole or not at all; text is written as UTF-8.

    Raises:
        BadInput: It cannot be written; the previous content stays in place.
    """
    with writing(path) as beside:
        beside.write_bytes(data if isinstance(data, bytes) else data.encode())


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yields the path of an empty file to fill, with the same ending, and moves it to its destination at the end.

    Raises:
        BadInput: It cannot be written; the previous content stays in place.
    """
    with _sentence(path):
        number, name = mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
        os.close(number)
        beside = Path(name)
        try:
            yield beside
            mask = os.umask(0)
            os.umask(mask)
            beside.chmod(0o666 & ~mask)
            _to_disk(beside)
            beside.replace(path)
            _to_disk(path.parent)
        finally:
            beside.unlink(missing_ok=True)


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Writes a folder whole or not at all, replacing any existing one.

    Args:
        path: Its destination; the folders above it are created.
        fill: Fills an empty folder.

    Raises:
        BadInput: It cannot be written; the previous content stays in place.
    """
    with _sentence(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            fill(beside)
            mask = os.umask(0)
            os.umask(mask)
            beside.chmod(0o777 & ~mask)
            for file in sorted(beside.rglob("*")):
                _to_disk(file)
            _to_disk(beside)
            old = beside.with_name(f"{beside.name}.old")
            if path.is_dir():
                path.replace(old)
            try:
                beside.replace(path)
            except OSError:
                if old.is_dir():
                    old.replace(path)
                raise
            _to_disk(path.parent)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def point(link: Path, target: Path) -> None:
    """Creates a link to a folder, or redirects it to another one, in one atomic step.

    Raises:
        BadInput: It cannot be written.
    """
    with _sentence(link):
        beside = Path(mkdtemp(dir=link.parent, prefix=f".{link.name}."))
        try:
            new = beside / "link"
            new.symlink_to(os.path.relpath(target, link.parent), target_is_directory=True)
            new.replace(link)
            _to_disk(link.parent)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def append(path: Path, line: str) -> None:
    """Appends a line to a file; a kill leaves at most an incomplete last line.

    Raises:
        BadInput: It cannot be written.
    """
    with _sentence(path), path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _sentence(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error


def _to_disk(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk; some systems cannot do that for a folder."""
    with suppress(PermissionError, IsADirectoryError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
