"""What a power cut leaves, between any two calls that change a file: all that was acknowledged, whole."""

import random
from pathlib import Path

from crash import power
from crash.amounts import Amount
from crash.power import Drive, Event, Log
from crash.story import check, recorded, small_steps
from crash.vfs import Shim


def test_acknowledged_writes_survive_power_cuts(tmp_path: Path, shim: Shim, amount: Amount) -> None:
    chance = random.Random(4)
    log = recorded(tmp_path / "life", shim)
    left = list(power.images(log, chance, 3 if amount.power_cuts > 500 else 1))
    kinds = {event.kind for event in log.events}
    assert {"create", "write", "sync", "sync folder", "rename", "unlink", "mkdir", "cut", "ack"} <= kinds
    assert len(left) > 500
    with small_steps():
        for image, acknowledged, following in chance.sample(left, min(amount.power_cuts, len(left))):
            power.lay_out(image, log.folder, tmp_path / "image")
            check(tmp_path / "image" / "kb", acknowledged, following)


# ---------------------------------------------------------------- the drive itself


def drive(*events: Event) -> Drive:
    drive = Drive({Path("/"): None, Path("/d"): None})
    for event in events:
        drive.play(event)
    return drive


def write(path: str, data: bytes, offset: int = 0) -> Event:
    return Event(kind="write", path=Path(path), data=data, offset=offset)


def possible(drive: Drive, share: float = 0.5) -> set[tuple[tuple[str, bytes | None], ...]]:
    chance = random.Random(1)
    images = [drive.image(chance, share) for _ in range(300)]
    return {tuple((path.name, content) for path, content in image.items() if content is not None) for image in images}


CREATE = Event(kind="create", path=Path("/d/f"))
SYNC, SYNC_FOLDER = Event(kind="sync", path=Path("/d/f")), Event(kind="sync folder", path=Path("/d"))


def test_what_was_synced_is_there_and_nothing_else_is_certain():
    assert possible(drive(CREATE, write("/d/f", b"abc"))) == {(), (("f", b""),), (("f", b"abc"),)}
    assert possible(drive(CREATE, write("/d/f", b"abc"), SYNC)) == {(), (("f", b"abc"),)}
    assert possible(drive(CREATE, write("/d/f", b"abc"), SYNC, SYNC_FOLDER)) == {(("f", b"abc"),)}


def test_writes_reach_the_disk_in_any_order_and_in_part():
    torn = drive(CREATE, SYNC, SYNC_FOLDER, write("/d/f", b"a" * 1024), write("/d/f", b"b", 1024))
    contents = {files[0][1] for files in possible(torn)}
    assert bytes(1024) + b"b" in contents
    assert b"a" * 512 + bytes(512) + b"b" in contents


def test_a_rename_is_done_or_not():
    renamed = Event(kind="rename", path=Path("/d/f"), to=Path("/d/g"))
    assert possible(drive(CREATE, SYNC, SYNC_FOLDER, renamed)) == {(("f", b""),), (("g", b""),)}


def test_after_a_failed_sync_another_one_makes_nothing_certain():
    failed = Event(kind="failed sync", path=Path("/d/f"))
    history = (CREATE, SYNC, SYNC_FOLDER, write("/d/f", b"abc"), failed, SYNC)
    assert possible(drive(*history)) == {(("f", bytes(3)),), (("f", b"abc"),)}
    assert possible(drive(*history, write("/d/f", b"xyz"), SYNC)) == {(("f", b"xyz"),)}


def test_a_log_has_what_lay_there_before(tmp_path: Path):
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "CURRENT").write_bytes(b"v1\n")
    image = Drive(Log(tmp_path).base).image(random.Random(1), 0.0)
    assert image == {tmp_path / "kb": None, tmp_path / "kb" / "CURRENT": b"v1\n"}
