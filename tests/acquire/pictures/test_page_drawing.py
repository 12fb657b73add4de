"""Pages and pictures as images: upright, on white, bounded, and drawn in a process with limits."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from pdf_file import pdf, text

from ragstone.acquire import PageDrawer, is_drawn
from ragstone.acquire.readers.pictures.png import png
from ragstone.core.errors import SourceError
from ragstone.settings import AcquireSettings

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def drawer() -> Iterator[PageDrawer]:
    made = PageDrawer(AcquireSettings(parse_seconds=20, parse_mb=600, max_file_mb=5))
    yield made
    made.close()


def shown(drawn: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(drawn)).convert("RGB"))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (40, 700)])
@pytest.mark.parametrize("grey", [False, True])
def test_images_hold_the_pixels_given(shape: tuple[int, int], grey: bool) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (*shape, 3), dtype=np.uint8)
    if grey:
        pixels[:] = pixels[:, :, :1]
    encoded = png(pixels)
    assert Image.open(BytesIO(encoded)).mode == ("L" if grey else "RGB")
    assert (shown(encoded) == pixels).all()


def test_turned_pages_are_drawn_upright(drawer: PageDrawer, tmp_path: Path) -> None:
    path = tmp_path / "turned.pdf"
    path.write_bytes(pdf([text(20, 20, "low and left")], drawn=True, page="/Rotate 90"))
    page = shown(drawer.draw(path, 0, 792))
    rows, columns = np.nonzero(page.min(axis=2) < 128)
    assert page.shape[:2] == (612, 792)
    assert (columns.max() < 60, rows.max() < 130) == (True, True), "turned clockwise, it stands at the upper left"


def test_pictures_are_upright_and_on_white(drawer: PageDrawer, tmp_path: Path) -> None:
    photo, clear = tmp_path / "photo.jpg", tmp_path / "clear.png"
    dark_left = Image.new("RGB", (300, 200), "white")
    dark_left.paste((200, 0, 0), (0, 0, 60, 200))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    dark_left.save(photo, exif=exif)
    Image.new("RGBA", (50, 40), (0, 0, 0, 0)).save(clear)
    upright = shown(drawer.draw(photo, 0, 2000))
    assert upright.shape[:2] == (300, 200)
    assert upright[20, 100].tolist() == pytest.approx([200, 0, 0], abs=12)
    assert upright[200, 100].tolist() == pytest.approx([255, 255, 255], abs=12)
    assert (shown(drawer.draw(clear, 0, 100)) == 255).all()


def test_frames_are_pages(drawer: PageDrawer, tmp_path: Path) -> None:
    path = tmp_path / "fax.tiff"
    frames = [Image.new("L", (80, 60), shade) for shade in (0, 120, 255)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert [int(shown(drawer.draw(path, number, 80))[30, 40, 0]) for number in range(3)] == [0, 120, 255]
    with pytest.raises(SourceError, match="cannot be drawn"):
        drawer.draw(path, 3, 80)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"no pdf"),
        ("a.png", b"\x89PNG\r\n\x1a\n and nothing"),
        ("a.jpg", b"<svg onload=alert(1)>"),
        ("a.pdf", b""),
    ],
)
def test_damaged_files_are_refused(drawer: PageDrawer, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match="cannot be drawn"):
        drawer.draw(tmp_path / name, 0, 300)


def test_bombs_and_large_files_are_refused(drawer: PageDrawer, tmp_path: Path) -> None:
    bomb, large = tmp_path / "bomb.png", tmp_path / "large.pdf"
    Image.new("1", (30_000, 30_000)).save(bomb)
    large.write_bytes(pdf(["words"]) + bytes(6_000_000))
    for path in (bomb, large):
        with pytest.raises(SourceError, match=r"million pixels|above acquire.max_file_mb"):
            drawer.draw(path, 0, 300)


def test_only_pdf_and_pictures_are_drawn() -> None:
    drawn = {name: is_drawn(Path(name)) for name in ("a.pdf", "a.JPG", "a.html", "a.svg", "a.docx", "a")}
    assert drawn == {"a.pdf": True, "a.JPG": True, "a.html": False, "a.svg": False, "a.docx": False, "a": False}
