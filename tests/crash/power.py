"""Power cuts: what a disk may contain when the power fails between any two calls that change files.

`Log` records the calls of `Disk` and of SQLite in one order. `Drive` replays them by the rules of POSIX. Synced data is
on the disk. Any part of the data written since may be there, down to single sectors. A name that was created, changed
or removed is durable only after its folder was synced. After a failed sync the data stays in doubt, because the system
may take it for written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from crash.vfs import (
    CANTOPEN,
    FULL,
    IOERR_DELETE,
    IOERR_FSYNC,
    IOERR_TRUNCATE,
    IOERR_WRITE,
    OK,
)
from ragstone.storage.disk import Disk

SECTOR = 512
Kind = Literal[
    "create", "mkdir", "write", "cut", "sync", "sync folder", "failed sync", "rename", "unlink", "others", "ack"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One call. ``others`` has the current files of writers that bypass the log."""

    kind: Kind
    path: Path = Path()
    to: Path = Path()
    offset: int = 0
    data: bytes = b""
    value: Any = None


class Log(Disk):
    """Records the calls that change a folder; it is both a `Disk` and a `crash.vfs.Watcher`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base: dict[Path, bytes | None] = {
            path: path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")
            if not path.name.endswith(("-shm", ".lock"))
        }
        self.events: list[Event] = []

    def ack(self, value: Any) -> None:
        """Record that the state ``value`` is acknowledged and must not be lost from now on."""
        self._look_at_others()
        self.events.append(Event(kind="ack", value=value))

    def acknowledged(self) -> list[Any]:
        return [event.value for event in self.events if event.kind == "ack"]

    def allows(self, event: Event) -> int:
        """Return 0, or the number of the error with which a call fails. Nothing fails here."""
        self.events.append(event)
        return OK

    # -- SQLite's calls

    def created(self, path: Path) -> int:
        return self._sqlite(CANTOPEN, Event(kind="create", path=path))

    def written(self, path: Path, offset: int, data: bytes) -> int:
        return self._sqlite(IOERR_WRITE, Event(kind="write", path=path, offset=offset, data=data))

    def cut(self, path: Path, size: int) -> int:
        return self._sqlite(IOERR_TRUNCATE, Event(kind="cut", path=path, offset=size))

    def synced(self, path: Path, *, folder: bool) -> int:
        code = self._sqlite(IOERR_FSYNC, Event(kind="sync", path=path))
        return self._sqlite(OK, Event(kind="sync folder", path=path.parent)) if folder and not code else code

    def deleted(self, path: Path, *, synced: bool) -> int:
        code = self._sqlite(IOERR_DELETE, Event(kind="unlink", path=path))
        return self._sqlite(OK, Event(kind="sync folder", path=path.parent)) if synced and not code else code

    def _sqlite(self, code: int, event: Event) -> int:
        if not self._inside(event.path):
            return OK
        error = self.allows(event)
        return FULL if error == errno.ENOSPC and code else code if error else OK

    # -- our own

    def create(self, path: Path) -> int:
        self._look_at_others()
        self._ours(Event(kind="create", path=path))
        self._position = 0
        return super().create(path)

    def write(self, descriptor: int, path: Path, data: bytes | memoryview) -> None:
        content = bytes(data)
        self._ours(Event(kind="write", path=path, offset=self._position, data=content))
        self._position += len(content)
        super().write(descriptor, path, data)

    def sync(self, descriptor: int, path: Path) -> None:
        self._ours(Event(kind="sync folder" if path.is_dir() else "sync", path=path))
        super().sync(descriptor, path)

    def rename(self, old: Path, new: Path) -> None:
        self._ours(Event(kind="rename", path=old, to=new))
        super().rename(old, new)

    def unlink(self, path: Path) -> None:
        self._ours(Event(kind="unlink", path=path))
        super().unlink(path)

    def mkdir(self, folder: Path) -> None:
        self._ours(Event(kind="mkdir", path=folder))
        super().mkdir(folder)

    def rmdir(self, folder: Path) -> None:
        self._ours(Event(kind="unlink", path=folder))
        super().rmdir(folder)

    def _ours(self, event: Event) -> None:
        if self._inside(event.path) and (error := self.allows(event)):
            raise OSError(error, os.strerror(error), str(event.path))

    def _inside(self, path: Path) -> bool:
        return path == self.folder or self.folder in path.parents

    def _look_at_others(self) -> None:
        """Record the files of the keyword index, which tantivy writes."""
        found = {}
        for file in self.folder.rglob("terms/*"):
            if file.is_file() and file.name != "manifest.json" and not file.name.endswith(".lock"):
                found[file] = file.read_bytes()
        self.events.append(Event(kind="others", value=found))


CHANGES = ("create", "mkdir", "write", "cut", "sync", "sync folder", "rename", "unlink")


class Failing(Log):
    """Makes one call fail, or every call from one on."""

    def __init__(self, folder: Path, at: int, error: int, *, lasting: bool) -> None:
        """Fail a call.

        Args:
            folder: the folder whose calls are counted.
            at: the number of the call, from 1.
            error: as in `errno`.
            lasting: whether later calls fail too.
        """
        super().__init__(folder)
        self._at, self._error, self._lasting = at, error, lasting
        self.calls = self.failed = 0

    def heal(self) -> None:
        """Let every call succeed from now on."""
        self._at, self._lasting = 0, False

    def allows(self, event: Event) -> int:
        self.calls += 1
        fails = self.calls == self._at or (self._lasting and self.calls > self._at)
        if self._error == errno.ENOSPC and event.kind not in ("create", "mkdir", "write", "rename"):
            fails = False
        if not fails:
            return super().allows(event)
        self.failed += 1
        if event.kind == "sync":
            self.events.append(Event(kind="failed sync", path=event.path))
        return self._error


@dataclass(slots=True)
class _Inode:
    """The durable content of a file, and the later writes and truncations in order."""

    content: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)
    doubtful: list[Event] = field(default_factory=list)

    def synced(self) -> None:
        for event in self.pending:
            _apply(self.content, event)
        if self.doubtful:  # later writes are certain; the data below them stays in doubt
            self.doubtful.append(Event(kind="others", value=self.pending[:]))
        self.pending.clear()

    def failed(self) -> None:
        """Apply the pending writes to what is read, but keep the old content as a possibility on the disk."""
        for event in self.pending:
            if event.kind == "write":
                end = event.offset + len(event.data)
                before = bytes(self.content[event.offset : end]).ljust(len(event.data), b"\0")
                self.doubtful.append(Event(kind="write", offset=event.offset, data=before))
            _apply(self.content, event)
        self.pending.clear()

    def possible(self, chance: random.Random, share: float) -> bytes:
        """Return one of the contents that a power cut may leave; a share of 0 or 1 applies nothing or everything."""
        content = bytearray(self.content)
        for event in self.doubtful:
            if event.kind == "others":
                for after in event.value:
                    _apply(content, after)
            elif chance.random() < 0.5:
                _put(content, event.offset, event.data[: max(0, len(content) - event.offset)])
        for event in self.pending:
            drawn = chance.random()
            if share == 1 or drawn < share * 0.7:
                _apply(content, event)
            elif share and drawn < share and event.kind == "write":
                _tear(content, event, chance)
        return bytes(content)


@dataclass(slots=True)
class _Name:
    """A change of a folder that is not durable yet: a name given (to an inode, or None for a folder) or removed."""

    given: Path | None
    inode: int | None = None
    taken: Path | None = None


class Drive:
    """Replays a log. After each event it can return what a power cut would leave."""

    def __init__(self, base: Mapping[Path, bytes | None]) -> None:
        """Start with what is durable before the log begins."""
        self._inodes: list[_Inode] = []
        self._now: dict[Path, int | None] = {}
        for path, content in base.items():
            if "terms" in path.parts and content is not None and path.name != "manifest.json":
                continue  # the log records them as others
            if content is not None:
                self._inodes.append(_Inode(content=bytearray(content)))
            self._now[path] = None if content is None else len(self._inodes) - 1
        self._durable = dict(self._now)
        self._pending: dict[Path, list[_Name]] = {}
        self._others: list[dict[Path, bytes]] = [{}, {}]

    def play(self, event: Event) -> None:
        path = event.path
        match event.kind:
            case "create":
                self._inodes.append(_Inode())
                self._name(path.parent, _Name(given=path, inode=len(self._inodes) - 1))
            case "mkdir":
                self._name(path.parent, _Name(given=path))
            case "unlink" if path in self._now:
                self._name(path.parent, _Name(given=None, taken=path))
            case "rename":
                self._name(path.parent, _Name(given=event.to, inode=self._now[path], taken=path))
            case "write" | "cut":
                self._inode(path).pending.append(event)
            case "sync":
                self._inode(path).synced()
            case "failed sync" if path in self._now:
                self._inode(path).failed()
            case "sync folder":
                for change in self._pending.pop(path, []):
                    _change(self._durable, change)
            case "others":
                self._others = [self._others[1], event.value]
            case _:
                pass

    def image(self, chance: random.Random, share: float) -> dict[Path, bytes | None]:
        """Return what may be left: the content of every file, and None for every folder."""
        names = dict(self._durable)
        for changes in self._pending.values():
            for change in changes:
                if share == 1 or chance.random() < share:
                    _change(names, change)
        here = {path for path in names if all(up in names or up not in self._now for up in path.parents)}
        left: dict[Path, bytes | None] = {}
        for path in sorted(here):
            inode = names[path]
            left[path] = None if inode is None else self._inodes[inode].possible(chance, share)
        for path, content in self._others[chance.randrange(2)].items():
            if path.parent in left and chance.random() < 0.9:
                left[path] = content if chance.random() < 0.8 else content[: chance.randrange(len(content) + 1)]
        for path in [path for path in left if path.name == "catalog.db" and chance.random() < 0.3]:
            left[path.with_name("catalog.db-shm")] = chance.randbytes(32768)  # memory of an earlier process
        return left

    def _name(self, folder: Path, change: _Name) -> None:
        self._pending.setdefault(folder, []).append(change)
        _change(self._now, change)

    def _inode(self, path: Path) -> _Inode:
        number = self._now[path]
        assert number is not None
        return self._inodes[number]


def images(log: Log, chance: random.Random, each: int) -> Iterator[tuple[dict[Path, bytes | None], Any, Any]]:
    """Yield distinct images with the last and the next acknowledged state, from ``each`` tries at every event."""
    drive, last, seen = Drive(log.base), None, set[bytes]()
    following = _following(log)
    for number, event in enumerate(log.events):
        drive.play(event)
        if event.kind == "ack":
            last = event.value
        for _ in range(each):
            image = drive.image(chance, chance.choice([0.0, 0.2, 0.5, 0.8, 1.0]))
            print_of_it = digest(image)
            if print_of_it not in seen:
                seen.add(print_of_it)
                yield image, last, following[number]


def lay_out(image: Mapping[Path, bytes | None], home: Path, folder: Path) -> None:
    """Write an image of ``home`` to another folder, emptied first.

    For half a second after it was closed, an index of tantivy looks for a newer commit and locks the folder to read it,
    so a file may appear in a folder while it is emptied.
    """
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, content in image.items():
        place = folder / path.relative_to(home)
        place.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            place.mkdir(exist_ok=True)
        else:
            place.write_bytes(content)


def digest(image: Mapping[Path, bytes | None]) -> bytes:
    hashed = hashlib.sha256()
    for path, content in sorted(image.items()):
        hashed.update(f"{path}\0{content is None}\0{len(content or b'')}\0".encode())
        hashed.update(content or b"")
    return hashed.digest()


def _following(log: Log) -> list[Any]:
    """Return for each event the state that is acknowledged next."""
    out, following = [], None
    for event in reversed(log.events):
        out.append(following)
        if event.kind == "ack":
            following = event.value
    return out[::-1]


def _change(names: dict[Path, int | None], change: _Name) -> None:
    if change.taken is not None:
        names.pop(change.taken, None)
    if change.given is not None:
        names[change.given] = change.inode


def _apply(content: bytearray, event: Event) -> None:
    if event.kind == "cut":
        del content[event.offset :]
        content.extend(bytes(max(0, event.offset - len(content))))
        return
    _put(content, event.offset, event.data)


def _put(content: bytearray, offset: int, data: bytes) -> None:
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def _tear(content: bytearray, event: Event, chance: random.Random) -> None:
    """Apply some sectors of a write."""
    start, end = event.offset, event.offset + len(event.data)
    first = start - start % SECTOR
    for sector in range(first, end, SECTOR):
        a, b = max(sector, start), min(sector + SECTOR, end)
        if chance.random() < 0.5:
            _put(content, a, event.data[a - start : b - start])
