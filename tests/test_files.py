"""A file, a folder and a link are written whole or not at all, and whoever writes is told why not."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspect_dining.errors import BadInput
from inspect_dining.files import append, point, write, write_folder, writing


def fill(folder: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "a").write_text("new", encoding="utf-8")


def fill_half(folder: Path) -> None:
    fill(folder)
    raise OSError(errno.ENOSPC, "No space left on device")


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.rglob("*")}


def test_what_is_written_is_there_with_the_usual_rights(tmp_path: Path) -> None:
    write(tmp_path / "text", "a\u00e9\n")
    write(tmp_path / "data", b"\x00\xff")
    write_folder(tmp_path / "folder", fill)
    write_folder(tmp_path / "folder", fill)
    point(tmp_path / "link", tmp_path / "folder")
    point(tmp_path / "link", tmp_path / "folder")
    append(tmp_path / "rows", "1")
    append(tmp_path / "rows", "2")
    assert (tmp_path / "text").read_bytes() == b"a\xc3\xa9\n"
    assert (tmp_path / "data").read_bytes() == b"\x00\xff"
    assert (tmp_path / "link" / "inside" / "a").read_text(encoding="utf-8") == "new"
    assert (tmp_path / "rows").read_text(encoding="utf-8") == "1\n2\n"
    assert names(tmp_path) == {"text", "data", "folder", "inside", "a", "link", "rows"}
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "text").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o777 & ~mask


FULL: dict[str, Callable[[Path], None]] = {
    "a file": lambda path: write(path, "new"),
    "a folder": lambda path: write_folder(path, fill),
    "a link": lambda path: point(path, path.parent),
    "a line": lambda path: append(path, "new"),
}

NEEDED = dict(zip(FULL.values(), ("fsync replace", "fsync replace mkdir", "mkdir replace fsync", "fsync"), strict=True))
"""The calls that a writer makes."""


@pytest.mark.parametrize("writer", FULL.values(), ids=FULL.keys())
@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir"])
def test_a_full_disk_is_a_sentence_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Callable[[Path], None], call: str
) -> None:
    place = tmp_path / "place"

    def full(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if writer is FULL["a folder"]:
        write_folder(place, fill)
    elif writer is not FULL["a link"]:
        write(place, "old")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with monkeypatch.context() as patched:
        patched.setattr(os, call, full)
        if call not in NEEDED[writer]:
            return
        with pytest.raises(BadInput) as refused:
            writer(place)
        assert str(refused.value) == f"{place} cannot be written: No space left on device."
    if writer is FULL["a line"]:
        assert place.read_text(encoding="utf-8").startswith("old")
    else:
        assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_a_writer_that_dies_half_way_leaves_nothing(tmp_path: Path) -> None:
    write_folder(tmp_path / "place", fill)
    with pytest.raises(BadInput, match="No space left"):
        write_folder(tmp_path / "place", fill_half)

    def interrupted() -> None:
        with writing(tmp_path / "picture.svg") as beside:
            assert beside.suffix == ".svg"
            beside.write_text("half", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == {"place", "inside", "a"}


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    for writer in FULL.values():
        with pytest.raises(BadInput, match="cannot be written: No such file or directory"):
            writer(Path("/proc/none/place") if writer is FULL["a folder"] else tmp_path / "gone" / "place")
