"""Files are written whole or not at all, and a folder, a link, a line of a table too.

What is written lies beside its place under a hidden name until all of it is on the disk; then it is moved there, which
happens at once or not at all. A kill, a full disk or a fault of ours leaves what stood there before.
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
        BadInput: It cannot be written, in a sentence; what stood there before still does.
    """
    with writing(path) as beside:
        beside.write_bytes(data if isinstance(data, bytes) else data.encode())


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Gives the path of an empty file to be filled, with the same ending, and moves it to its place at the end.

    Raises:
        BadInput: It cannot be written, in a sentence; what stood there before still does.
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
    """Writes a folder whole or not at all, in place of any that was there.

    Args:
        path: Its place; the folders above it are made.
        fill: Fills an empty folder.

    Raises:
        BadInput: It cannot be written, in a sentence; what stood there before still does.
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
    """Makes a link to a folder, or turns it to another one, in one move.

    Raises:
        BadInput: It cannot be written, in a sentence.
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
    """Adds a line to a file; a kill leaves at most a last line without its end.

    Raises:
        BadInput: It cannot be written, in a sentence.
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
    """Waits until a file, or the names in a folder, are on the disk; some systems cannot do that for a folder."""
    with suppress(PermissionError, IsADirectoryError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
